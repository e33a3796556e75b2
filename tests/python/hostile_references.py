"""References of numpy for the functions of the package. Each takes what the function takes and returns a judge of the result."""
import itertools

import numpy

from hostile_values import (LARGEST, TABLES, TOLERANCE, Meaningless, bits_of, differs, elements_of, finished, rows_of_scales, scale_of,
                            values_of)
from hostile_weights import unpacked_weights, weights_of

NEXT = {'bf16': 'bf16', 'fp16': 'fp16', 'fp32': 'fp32', 's8': 's32', 'e4m3': 'bf16', 'e5m2': 'bf16'}


def tolerance_of(made):
    array, type = bits_of(made)
    return TOLERANCE[type or {'float16': 'fp16', 'float32': 'fp32', 'int32': 's32'}[array.dtype.name]]


def judge_of(right):
    return lambda made: differs(values_of(made), right, tolerance_of(made))


def with_epilogue(sums, epilogue):
    before, right = finished(sums, epilogue)
    auxiliary, amax = (None, None) if epilogue is None else (epilogue.auxiliary, epilogue.amax)

    def judge(made):
        wrong = differs(values_of(made), right, tolerance_of(made))
        if wrong is None and auxiliary is not None:
            wrong = differs(values_of(auxiliary), before, tolerance_of(auxiliary))
            wrong = wrong and f'auxiliary: {wrong}'
        if wrong is None and amax is not None and right.size:
            largest = numpy.abs(right).max()
            wrong = differs(values_of(amax).ravel(), numpy.array([largest]), 1e-2)
            wrong = wrong and f'amax: {wrong}'
        return wrong
    return judge


def matmul(a, b, out=None, epilogue=None, a_type=None, b_type=None, **options):
    return with_epilogue(numpy.matmul(values_of(a, a_type), values_of(b, b_type)), epilogue)


def _scaled(a, b, a_scales, b_scales):
    a, b = values_of(a), values_of(b)
    rows = numpy.repeat(values_of(a_scales), 128, -1)[..., :a.shape[-1]]
    columns = values_of(b_scales)
    columns = numpy.repeat(columns, 128, -2)[..., :b.shape[-2], :]
    if columns.shape[-1] != b.shape[-1]:
        columns = numpy.repeat(columns, 128, -1)[..., :b.shape[-1]]
    return numpy.matmul(a * rows, b * columns)


def matmul_blockwise(a, b, a_scales, b_scales, out=None, epilogue=None, **options):
    return with_epilogue(_scaled(a, b, a_scales, b_scales), epilogue)


def _quantised(right, rows=1, type='e4m3', powers_of_two=False):
    """A judge of (elements, scales)."""
    m, k = right.shape

    def judge(made):
        elements, scales = made
        given, wide = values_of(elements), values_of(scales)
        wide = numpy.repeat(numpy.repeat(wide, rows, -2)[:m], 128, -1)[:, :k]
        blocks = [(slice(i, i + rows), slice(j, j + 128)) for i in range(0, m, rows) for j in range(0, k, 128)]
        for block in blocks:
            largest = numpy.abs(right[block]).max()
            scale = wide[block].flat[0]
            exact = largest / LARGEST[type]
            if not (exact * 0.98 <= scale <= exact * (2.02 if powers_of_two else 1.02)) and largest > 0:
                return f'the scale of block {block} is {scale}, not about {exact}'
        return differs(given * wide, right, 2.0 ** -3.9, 0.02 + float(numpy.abs(right).max(initial=0)) * 2.0 ** -9)
    return judge


def matmul_requantised(a, b, a_scales, b_scales, out=None, epilogue=None, column_major=False, powers_of_two=False, **options):
    return _quantised(finished(_scaled(a, b, a_scales, b_scales), epilogue)[1], powers_of_two=powers_of_two)


def quantise_blocks(x, out=None, scale_rows=1, powers_of_two=False, out_dtype=None, x_type=None, **options):
    right = values_of(x, x_type)
    if right.ndim != 2 or out_dtype not in (None, 'e4m3'):
        raise Meaningless('a batch')
    return _quantised(right, scale_rows, powers_of_two=powers_of_two)


def matmul_block_scaled(a, b, a_scales, b_scales, out=None, epilogue=None, scale_type='ue8m0', a_type=None, b_type=None, k=None, **options):
    a, b = elements_of(a, a_type, -1), elements_of(b, b_type, -2)
    k = min(a.shape[-1], b.shape[-2]) if k is None else int(k)
    scale = scale_of(a_scales, scale_type) * scale_of(b_scales, scale_type)
    return with_epilogue(numpy.matmul(a[..., :k], b[..., :k, :]) * scale, epilogue)


def block_quantise(x, out=None, out_dtype='e4m3', scale_type='ue8m0', scale_order='blocks', rule='floor', tensor_scale=1.0, **options):
    right = values_of(x) / float(tensor_scale)
    m, k = right.shape
    block = {'ue8m0': 32, 'ue4m3': 16}[scale_type]
    table, largest, groups = TABLES[out_dtype], LARGEST[out_dtype], -(-k // block)
    if rule != 'floor':
        raise Meaningless('another rule')

    def judge(made):
        elements, scales = made
        given = elements_of(elements, out_dtype)[:, :k]
        scale = rows_of_scales(scales, m, groups, scale_type, scale_order)
        for row, group in itertools.product(range(m), range(groups)):
            part = slice(group * block, (group + 1) * block)
            magnitude = numpy.abs(right[row, part]).max()
            if magnitude == 0:
                continue
            exact = 2.0 ** (numpy.floor(numpy.log2(magnitude)) - numpy.floor(numpy.log2(largest))) if scale_type == 'ue8m0' else magnitude / 6
            if not exact * 0.93 <= scale[row, group] <= exact * 1.07:
                return f'the scale of row {row}, block {group} is {scale[row, group]}, not about {exact}'
        wide = numpy.repeat(scale, block, 1)[:, :k]
        finite = numpy.sort(table[numpy.isfinite(table)])
        with numpy.errstate(all='ignore'):
            wanted = numpy.clip(numpy.where(wide > 0, right / wide, 0), -largest, largest)
        nearest = numpy.abs(wanted[..., None] - finite).min(-1)
        return differs(numpy.abs(given - wanted), nearest, 1e-3, 1e-3)
    return judge


def block_dequantise(elements, scales, out=None, elements_type=None, scale_type='ue8m0', scale_order='blocks', tensor_scale=1.0, k=None, **options):
    values = elements_of(elements, elements_type)
    return judge_of(values[:, :values.shape[1] if k is None else int(k)] * scale_of(scales, scale_type) * float(tensor_scale))


def pack_weights(codes, scales, zeros=None, layout=None, scales_type=None, zero_offset=None, **options):
    right = weights_of(codes, scales, zeros, layout, scales_type, zero_offset)
    return lambda made: differs(unpacked_weights(made), right, 0, 0)


def matmul_grouped(a, b, rows, out=None, row_index=None, epilogue=None, a_scales=None, a_type=None, b_type=None, **options):
    ends, a, b = values_of(rows).astype(int), values_of(a, a_type), values_of(b, b_type)
    if epilogue is not None or a_scales is not None or a.ndim != 2:
        raise Meaningless('more than a product')
    if row_index is not None:
        index = values_of(row_index).astype(int)
        a = numpy.where(((index >= 0) & (index < len(a)))[:, None], a[index.clip(0, len(a) - 1)], 0)
    if (numpy.diff(ends, prepend=0) < 0).any() or ends.max(initial=0) > len(a) or ends.shape != b.shape[:1]:
        raise Meaningless('ends that are none')
    right = numpy.zeros((len(a), b.shape[-1]))
    first = 0
    for group, end in enumerate(ends):
        right[first:end] = a[first:end] @ b[group]
        first = end
    return lambda made: differs(values_of(made)[:first], right[:first], tolerance_of(made))


def conv2d(x, w, out=None, stride=1, padding=0, dilation=1, groups=1, epilogue=None, x_type=None, w_type=None, **options):
    x, w = values_of(x, x_type), values_of(w, w_type)
    if x.ndim != 4 or not all(isinstance(number, int) for number in (stride, padding)) or dilation != 1 or groups != 1:
        raise Meaningless('another convolution')
    x = numpy.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, w.shape[1:3], (1, 2))[:, ::stride, ::stride]
    sums = numpy.einsum('npqcrs,krsc->npqk', windows, w)
    if epilogue is not None:
        raise Meaningless('an epilogue')
    return judge_of(sums)


def _attended(q, k, v, causal, scale, softcap, sink, window):
    """One head of one sequence: the rows, and the logarithms of sums."""
    scores = q @ k.T * scale
    if softcap:
        scores = softcap * numpy.tanh(scores / softcap)
    if causal:
        last = numpy.arange(len(q))[:, None] + len(k) - len(q)
        key = numpy.arange(len(k))
        hidden = (key > last) | ((key <= last - window) if window else False)
        scores = numpy.where(hidden, -numpy.inf, scores)
    extra = scores if sink is None else numpy.concatenate([scores, numpy.full((len(q), 1), sink)], 1)
    most = extra.max(1, keepdims=True)
    total = numpy.exp(extra - most).sum(1, keepdims=True)
    return numpy.exp(scores - most) / total @ v, (most + numpy.log(total))[:, 0]


def attention(q, k, v, out=None, causal=False, window=0, scale=None, softcap=0.0, sinks=None, log_sums=False, query_ends=None, q_scales=None,
              k_scales=None, v_scales=None, key_ends=None, range_begins=None, range_ends=None, **options):
    q, k, v = (values_of(one) for one in (q, k, v))
    if q.ndim != 4 or any(one is not None for one in (query_ends, key_ends, q_scales, k_scales, v_scales, range_begins, range_ends)):
        raise Meaningless('packed')
    sinks = None if sinks is None else values_of(sinks)
    scale = q.shape[-1] ** -0.5 if not scale else float(scale)
    right, sums = numpy.zeros((*q.shape[:3], v.shape[-1])), numpy.zeros((q.shape[0], q.shape[2], q.shape[1]))
    for i, h in itertools.product(range(q.shape[0]), range(q.shape[2])):
        of = h // (q.shape[2] // k.shape[2])
        right[i, :, h], sums[i, h] = _attended(q[i, :, h], k[i, :, of], v[i, :, of], causal, scale, float(softcap),
                                               None if sinks is None else sinks[h], int(window))

    def judge(made):
        result, logarithms = made if log_sums else (made, None)
        wrong = differs(values_of(result), right, 0.02, 0.03)
        return wrong or logarithms is not None and differs(values_of(logarithms), sums, 0.01, 0.05) or None
    return judge


def attention_paged(q, k, v, page_table, key_lengths, out=None, keys=None, causal=False, window=0, scale=None, softcap=0.0, sinks=None,
                    q_scales=None, k_scales=None, v_scales=None, log_sums=False, **options):
    q, k, v = (values_of(one) for one in (q, k, v))
    table, lengths = values_of(page_table).astype(int), values_of(key_lengths).astype(int)
    if any(one is not None for one in (sinks, q_scales, k_scales, v_scales)) or log_sums or keys is not None or window:
        raise Meaningless('more than pages')
    if table.min() < 0 or table.max() >= len(k) or lengths.min() < 1 or lengths.max() > table.shape[1] * k.shape[1] or causal and q.shape[1] > 1:
        raise Meaningless('pages that are none')
    right = numpy.zeros((*q.shape[:3], v.shape[-1]))
    scale = q.shape[-1] ** -0.5 if not scale else float(scale)
    for i, h in itertools.product(range(q.shape[0]), range(q.shape[2])):
        of = h // (q.shape[2] // k.shape[2])
        own = [cache[table[i]].reshape(-1, *cache.shape[2:])[:lengths[i], of] for cache in (k, v)]
        right[i, :, h] = _attended(q[i, :, h], *own, False, scale, float(softcap), None, 0)[0]
    return lambda made: differs(values_of(made), right, 0.02, 0.03)


def rms_norm(x, weight, residual=None, out=None, epsilon=1e-5, **options):
    total = values_of(x)
    if residual is not None:
        total = total + values_of(residual)
    right = values_of(weight) * total / numpy.sqrt((total ** 2).mean(-1, keepdims=True) + float(epsilon))
    if residual is None:
        return judge_of(right)
    return lambda made: differs(values_of(made[0]), right, 0.02) or differs(values_of(made[1]), total, 0.01)


def rotary(qkv, cosines, sines, heads, key_heads, q=None, k=None, v=None, positions=None, slots=None, **options):
    given, tables = values_of(qkv), (values_of(cosines), values_of(sines))
    tokens, size = len(given), given.shape[1] // (heads + 2 * key_heads)
    place = numpy.arange(tokens) if positions is None else values_of(positions).astype(int).clip(0, len(tables[0]) - 1)
    parts = given.reshape(tokens, heads + 2 * key_heads, 2, size // 2)
    cosine, sine = (table[place][:, None] for table in tables)
    turned = numpy.stack([parts[:, :, 0] * cosine - parts[:, :, 1] * sine, parts[:, :, 1] * cosine + parts[:, :, 0] * sine], 2)
    turned[:, heads + key_heads:] = parts[:, heads + key_heads:]
    turned = turned.reshape(tokens, heads + 2 * key_heads, size)
    rows = numpy.arange(tokens) if slots is None else values_of(slots).astype(int)
    stored = [values_of(one) if one is not None else numpy.zeros((tokens, key_heads * size)) for one in (k, v)]
    for cache, first in zip(stored, (heads, heads + key_heads)):
        inside = [token for token in range(tokens) if 0 <= rows[token] < len(cache)]
        if len({rows[token] for token in inside}) != len(inside):
            raise Meaningless('two tokens in one slot')
        cache[rows[inside]] = turned[inside, first:first + key_heads].reshape(len(inside), -1)

    def judge(made):
        wanted = (turned[:, :heads].reshape(tokens, -1), *stored)
        for part, right in zip(made, wanted):
            if (slots is None or right is wanted[0]) and (wrong := differs(values_of(part), right, 0.01)):
                return wrong
            if slots is not None and k is not None and v is not None and (wrong := differs(values_of(part), right, 0.01)):
                return wrong
        return None
    return judge


def call(family, **arguments):
    names = {'matmul': dict(d='out'), 'rms_norm': dict(source='x', output='out'), 'quantise': dict(source='x'), 'block_quantise': dict(source='x')}
    outputs = {'matmul': ('d',), 'rms_norm': ('output',), 'quantise': ('elements', 'scales'), 'block_quantise': ('elements', 'scales')}[family]
    # A batch of one is as good as a matrix there.
    arguments = {name: value[0] if isinstance(value, numpy.ndarray) and value.ndim == 3 and len(value) == 1 else value
                 for name, value in arguments.items()}
    made = [arguments[name] for name in outputs]
    given = {names[family].get(name, name): value for name, value in arguments.items()}
    if family == 'block_quantise':
        given['out_dtype'] = given.pop('elements_type', 'e4m3')
    judge = {'matmul': matmul, 'rms_norm': rms_norm, 'quantise': quantise_blocks, 'block_quantise': block_quantise}[family](**given)
    return lambda _: judge(made[0] if len(made) == 1 else made)


def numbers(array=None, bits=None):
    if bits is not None:
        right = (numpy.asarray(bits, 'uint16').astype('uint32') << 16).view('float32')
        return lambda made: None if numpy.array_equal(made, right, equal_nan=True) else 'other numbers'
    right = numpy.asarray(array, 'float32').astype('float64')
    return lambda made: differs(values_of(made), right, 2.0 ** -8, 0)


def buffers(shape, type, values=None, data=None, strides=None, offset=0):
    if values is None or type in ('e4m3', 'e5m2'):
        raise Meaningless('no numbers')
    right = numpy.array(list(values), 'float64').reshape(shape)
    return lambda made: differs(values_of(made), right, 2.0 ** -7, 0) or (None if made.values() == right.ravel().tolist() else 'values() differ')


REFERENCES = {name: globals()[name] for name in (
    'matmul', 'matmul_blockwise', 'matmul_requantised', 'quantise_blocks', 'matmul_block_scaled', 'block_quantise', 'block_dequantise', 'pack_weights',
    'matmul_grouped', 'conv2d', 'attention', 'attention_paged', 'rms_norm', 'rotary', 'call', 'numbers', 'buffers')}
