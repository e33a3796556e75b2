"""route: the experts of tokens, and rows sorted by experts. Of torch tensors it is the operator tilewright::call_route."""
from typing import Any, NamedTuple

from .._arrays import new_like, rows_of, shape_of
from .._call import call
from .._library import Invalid, integer
from .._values import real, word

__all__ = ['route']

MOST_CHOSEN, MOST_GROUPS, SCORINGS = 16, 32, ('softmax', 'sigmoid')


class Routed(NamedTuple):
    """Experts of tokens: a token has a row for each, and rows lie sorted by experts, then by tokens."""
    weights: Any  # float32 [tokens, k]
    chosen: Any  # int32 [tokens, k]: experts, the best first
    places: Any  # int32 [tokens, k]: rows, for combine
    index: Any  # int32 [tokens * k]: the token of each row, matmul_grouped's row_index
    ends: Any  # int32 [experts]: the row behind each expert's last, matmul_grouped's rows


def route(logits, k, *, scoring='softmax', bias=None, groups=1, top_groups=None, group_scores=None, normalise=True, scale=1.0,
          stream=None, instance=None, target=None):
    """Routed: the k experts with the largest scores of each token, the lower of two that are equal. A NaN counts as minus infinity.

    logits: [tokens, experts], bf16, fp16 or float32.
    scoring: 'softmax' over all experts, or 'sigmoid' of each.
    bias: float32 [experts], on the device: is added to sigmoids where experts are chosen, not to weights.
    groups: experts in so many groups, one behind the other, of which the best top_groups (None: all) have experts chosen, by the
        sum of their group_scores best scores (None: 1, of sigmoids 2).
    normalise: weights are divided by their sum. scale: they are multiplied by it.
    """
    logits = rows_of('logits', logits)
    tokens, experts = shape_of('logits', logits)
    k, groups = integer('k', k, 1, MOST_CHOSEN), integer('groups', groups, 1, MOST_GROUPS)
    scoring = word('scoring', scoring, SCORINGS)
    top_groups = groups if top_groups is None else integer('top_groups', top_groups, 1, MOST_GROUPS)
    if group_scores is None:
        group_scores = 2 if scoring == 'sigmoid' and experts >= 2 * groups else 1
    if not isinstance(normalise, bool):
        raise Invalid(f'normalise is {normalise!r}, but must be True or False.')
    new = lambda shape, type: new_like('logits', logits, shape, type)  # noqa: E731
    made = Routed(new((tokens, k), 'fp32'), *(new(shape, 's32') for shape in ((tokens, k), (tokens, k), (tokens * k,), (experts,))))
    call('route', logits=logits, bias=bias, **dict(zip(Routed._fields, made)), experts=experts, k=k, groups=groups, top_groups=top_groups,
         group_scores=integer('group_scores', group_scores, 1, 2), scoring=scoring, normalise=int(normalise), scale=real('scale', scale),
         stream=stream, instance=instance, target=target)
    return made
