"""All operators for torch: importing this makes them. torch.compile runs an import as it is, where it would follow a call."""
from . import _torch_described  # noqa: F401: tilewright::call_FAMILY
from ._library import describe, families
from ._with_torch import MAKERS

OPERATORS = {family: make() for family, make in MAKERS.items() if family in families()}


def operators_of(family):
    if family not in OPERATORS:
        describe(family)  # which says that there is none
    return OPERATORS[family]
