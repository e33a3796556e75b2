"""torch: tilewright::call_FAMILY, an operator for every family that the library describes. Schema, fake kernel and
registration follow from tw_describe; what a family writes are arguments, so that no shape is derived here."""
import torch
from torch import Tensor

from ._arrays import View, type_name
from ._described import problem_by_description, signature_of
from ._library import Invalid, Unsupported, families
from ._problem import ARRAYS, PLAIN
from ._torch import stream_of
from ._torch_launcher import Launcher
from ._torch_schema import OPTIONS, SCALARS, SIDES, joined, schema_kind

_launcher = Launcher('the first tensor')


class Operator:
    """`names` are its arguments but for the epilogue and the options."""

    def __init__(self, family):
        self.signature = signature = signature_of(family)
        written = [name for name, tensor in signature.tensors.items() if tensor['flow'] == 'written']
        aliases = {name: f'({chr(ord("a") + place)}!)' for place, name in enumerate(written)}
        words = [f'Tensor{aliases.get(name, "")}{"?" * tensor["optional"]} {name}'
                 for name, tensor in signature.tensors.items()]
        words += [f'str? {name}' for name in signature.types]
        # What has a sentence for a name is told by shapes alone.
        numbers = [name for name in signature.numbers if name.isidentifier()]
        words += [f'{schema_kind(signature.numbers[name])}? {name}' for name in numbers]
        self.names = (*signature.tensors, *signature.types, *numbers)
        self.has_epilogue = signature.product is not None
        if self.has_epilogue:
            words += [joined(SIDES, {'auxiliary': 'Tensor(y!)?', 'amax': 'Tensor(z!)?'}, SCALARS)]
            written += ['auxiliary', 'amax']
        self.operator = torch.library.custom_op(
            f'tilewright::call_{family}', self._compute, mutates_args=written,
            schema=f'({", ".join(words)}, {joined(OPTIONS)}) -> ()')
        self.operator.register_fake(lambda *arguments: None)

    def _compute(self, *arguments):
        given = dict(zip(self.names, arguments))
        rest, options = arguments[len(self.names):-4], arguments[-4:]
        sides, scalars = (rest[:7], rest[7:]) if self.has_epilogue else ((None,) * 7, PLAIN.scalars())
        tensors = [given[name] for name in self.signature.tensors]
        device = next(tensor for tensor in tensors if tensor is not None).device

        def view(name, tensor, type=None):
            if tensor is None:
                return None
            if type is None:
                return _launcher.view(name, tensor, device)
            _launcher.check_device(name, tensor, device)
            if tensor.element_size() != 1:
                raise Invalid(f'{name} has dtype {tensor.dtype}, but must have bytes, which hold {type}.')
            return View(tensor.data_ptr(), tensor.shape, tensor.stride(), type_name(type), True, tensor)

        problem = problem_by_description(self.signature.family, given, view, scalars,
                                         [view(name, tensor) for name, tensor in zip(ARRAYS, sides)])
        plain = [value for name, value in given.items() if name not in self.signature.tensors]
        _launcher.run(problem, (*tensors, *sides), (self.signature.family, *plain, *scalars, *options), options)


OPERATORS = {family: Operator(family) for family in families()}


def call(family, arguments, epilogue, stream, options):
    if not isinstance(family, str) or family not in OPERATORS:
        signature_of(family)  # which says that there is none
    one, arrays = OPERATORS[family], epilogue.arrays()
    one.signature.check_epilogue(epilogue)
    one.signature.check_names(arguments)
    tensors = [arguments[name] for name in one.signature.tensors if arguments.get(name) is not None]
    for tensor in (*tensors, *arrays):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise Invalid(f'One operand is a torch tensor, but another is a {type(tensor).__name__}.')
        if tensor is not None and torch.is_grad_enabled() and tensor.requires_grad:
            raise Unsupported(f'An operand requires a gradient, and none goes through tilewright.call({family!r}); '
                              'call with torch.no_grad().')
    for name, tensor in one.signature.tensors.items():
        if not tensor['optional'] and arguments.get(name) is None:
            raise Invalid(f'{family} needs {name!r}.')
    given = [arguments.get(name) for name in one.names]
    rest = (*arrays, *epilogue.scalars()) if one.has_epilogue else ()
    if stream is None:
        return one.operator(*given, *rest, *options)
    with torch.cuda.stream(stream_of(stream, tensors[0])):
        return one.operator(*given, *rest, *options)
