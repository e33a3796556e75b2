"""moe: a layer of experts, of route, combine and products in groups. No host waits for the device between them."""
from .._arrays import rows_of
from .._packed_weights import PackedWeights
from .._problem import Epilogue

__all__ = ['moe']


def _multiply(rows, weights, ends, **options):
    from . import FUNCTIONS
    if isinstance(weights, PackedWeights):
        return FUNCTIONS['matmul_four_bit'](rows, weights, rows=ends, **options)
    return FUNCTIONS['matmul_grouped'](rows, weights, ends, **options)


def moe(x, logits, gate_up, down, k, *, activation='silu', addend=None, out=None, stream=None, target=None, **routing):
    """For each token the sum over its k experts of weight * (activation(gate) * up) down, plus the addend.

    x: [tokens, hidden], bf16 or fp16. logits: [tokens, experts].
    gate_up: [experts, hidden, 2 inner], contiguous along hidden: even columns are gates, odd ones their ups.
    down: [experts, inner, hidden], contiguous along inner.
    Either may be PackedWeights of four bits: [experts, 2 inner, hidden] whose even outputs are gates, odd ones their ups, as gpt-oss has
        them, and [experts, hidden, inner].
    addend: [tokens, hidden], such as what a shared expert made.
    routing: as for route (scoring, bias, groups, top_groups, group_scores, normalise, scale).
    Five launches, which a graph may capture; the result has the same bits whenever it is computed.
    """
    from . import FUNCTIONS  # those of other families
    route, combine = (FUNCTIONS[name] for name in ('route', 'combine'))
    options = dict(stream=stream, target=target)
    routed = route(logits, k, **routing, **options)
    rows = combine(rows_of('x', x), routed.index, **options)  # each of its token
    gated = _multiply(rows, gate_up, routed.ends, epilogue=Epilogue(activation=activation, gated=True), **options)
    made = _multiply(gated, down, routed.ends, **options)
    return combine(made, routed.places, routed.weights, addend, out, **options)
