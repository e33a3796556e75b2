"""moe: a layer of experts, of route, combine and products in groups. No host waits for the device between them."""
from numbers import Number

from .._arrays import is_torch, rows_of
from .._library import Invalid
from .._packed_weights import PackedWeights
from .._problem import Epilogue
from .._scales import pair_of

__all__ = ['moe']


def _multiply(rows, weights, ends, **options):
    from . import FUNCTIONS
    if isinstance(weights, PackedWeights):
        return FUNCTIONS['matmul_four_bit'](rows, weights, rows=ends, **options)
    return FUNCTIONS['matmul_grouped'](rows, weights, ends, **options)


def _is_pair(weights):
    return isinstance(weights, (tuple, list))


def _multiply_fp8(rows, gate_up, down, ends, activation, options):
    """Rows are quantised once, and what the gate makes in the epilogue of its product."""
    from . import FUNCTIONS
    if not (_is_pair(gate_up) and _is_pair(down)):
        raise Invalid('One of gate_up and down is a pair of elements and scales; of FP8 weights both are.')
    (gate_up, gate_up_scales), (down, down_scales) = pair_of(gate_up), pair_of(down)
    elements, scales = FUNCTIONS['quantise_blocks'](rows, column_major=True, **options)
    elements, scales = FUNCTIONS['matmul_requantised'](elements, gate_up, scales, gate_up_scales, rows=ends, gated_blocks=True, column_major=True,
                                                       epilogue=Epilogue(activation=activation), **options)
    return FUNCTIONS['matmul_grouped'](elements, down, ends, a_scales=scales, b_scales=down_scales, **options)


def moe(x, logits, gate_up, down, k, *, activation='silu', addend=None, out=None, stream=None, target=None, **routing):
    """For each token the sum over its k experts of weight * (activation(gate) * up) down, plus the addend.

    x: [tokens, hidden], bf16 or fp16. logits: [tokens, experts].
    gate_up: [experts, hidden, 2 inner], contiguous along hidden: even columns are gates, odd ones their ups.
    down: [experts, inner, hidden], contiguous along inner.
    Either may be PackedWeights of four bits: [experts, 2 inner, hidden] whose even outputs are gates, odd ones their ups, as gpt-oss has
        them, and [experts, hidden, inner].
    Both may be pairs of FP8 elements (e4m3, of these shapes) and float32 scales of blocks of 128 by 128, [experts, ceil(hidden / 128),
        2 inner / 128] and [experts, inner / 128, ceil(hidden / 128)]; gate_up then has blocks of 128 columns of gates and of their ups
        in turns, and x is bf16.
    addend: [tokens, hidden], such as what a shared expert made.
    routing: as for route (scoring, bias, groups, top_groups, group_scores, normalise, scale).
    Five launches, six of FP8 weights, which a graph may capture; the result has the same bits whenever it is computed. Of torch tensors
    outside of torch.compile, one call of the library enqueues them all.
    """
    given = [x, logits, *_arrays(gate_up), *_arrays(down), addend, out, routing.get('bias')]
    if is_torch(x) and all(array is None or is_torch(array) for array in given):
        from .._torch_sequence import is_eager, run_together
        told = {name: value for name, value in sorted(routing.items()) if name != 'bias'}
        rest = (_told(gate_up), _told(down), k, activation, target, *told.values())
        # An instance is route's alone, and launches that go together have the same options.
        if is_eager(given) and _is_plain(rest) and 'instance' not in told:
            return run_together(lambda: _layer(x, logits, gate_up, down, k, activation, addend, out, None, target, routing), given,
                                ('moe', rest, *map(type, rest), *told), stream)
    return _layer(x, logits, gate_up, down, k, activation, addend, out, stream, target, routing)


def _arrays(weights):
    return weights if _is_pair(weights) else [weights.data if isinstance(weights, PackedWeights) else weights]


def _told(weights):
    """What their arrays do not tell."""
    if not isinstance(weights, PackedWeights):
        return _is_pair(weights)
    return tuple(weights.shape), weights.format, weights.group, weights.activation, weights.exponent, weights.tensor_scale


def _is_plain(value):
    """Whether an equal value is the same one whenever it is asked for. A tensor's number may change, and its hash does not."""
    return value is None or isinstance(value, (str, Number)) or isinstance(value, tuple) and all(map(_is_plain, value))


def _layer(x, logits, gate_up, down, k, activation, addend, out, stream, target, routing):
    from . import FUNCTIONS  # those of other families
    route, combine = (FUNCTIONS[name] for name in ('route', 'combine'))
    options = dict(stream=stream, target=target)
    routed = route(logits, k, **routing, **options)
    rows = combine(rows_of('x', x), routed.index, **options)  # each of its token
    if _is_pair(gate_up) or _is_pair(down):
        made = _multiply_fp8(rows, gate_up, down, routed.ends, activation, options)
    else:
        gated = _multiply(rows, gate_up, routed.ends, epilogue=Epilogue(activation=activation, gated=True), **options)
        made = _multiply(gated, down, routed.ends, **options)
    return combine(made, routed.places, routed.weights, addend, out, **options)
