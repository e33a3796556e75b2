"""Four-bit weights by numpy: as checkpoints have them, and as they are packed (layout/packed_weights.h)."""
import numpy

from hostile_values import TABLES, Meaningless, bits_of, values_of

AWQ = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of each nibble, from the lowest bits on
BY_COLUMNS = ('gptq', 'gptq_v2', 'awq')


def nibbles(words, along):
    """Eight of each word of 32 bits, along an axis."""
    codes = words.view('uint32')[..., None] >> numpy.arange(0, 32, 4, dtype='uint32') & 15
    return numpy.moveaxis(numpy.moveaxis(codes, along - 1, -2).reshape(*numpy.delete(words.shape, along), -1), -1, along).astype('int64')


def in_order(codes, layout):
    """Columns of AWQ, which lie in eights in an order of their own."""
    if layout != 'awq':
        return codes
    result = numpy.empty_like(codes)
    for place, column in enumerate(AWQ):
        result[..., column::8] = codes[..., place::8]
    return result


def weights_of(codes, scales, zeros, layout, scales_type, zero_offset):
    """[.., n, k]."""
    codes, turned = bits_of(codes)[0], layout in BY_COLUMNS
    if layout in ('mxfp4', 'gpt_oss', 'nvfp4'):
        codes = codes.view('uint8')
        codes = codes.reshape(*codes.shape[:-2], -1) if layout == 'gpt_oss' else codes
        values = TABLES['e2m1'][numpy.stack((codes & 15, codes >> 4), -1).reshape(*codes.shape[:-1], -1)]
        stored = bits_of(scales)[0].view('uint8')
        numbers = TABLES['e4m3'][stored] if layout == 'nvfp4' else numpy.where(stored == 255, numpy.nan, 2.0 ** (stored.astype('float64') - 127))
        return values * numpy.repeat(numbers, 16 if layout == 'nvfp4' else 32, -1)
    if codes.dtype.itemsize != 4:
        raise Meaningless('no words')
    along = -1 if layout in ('awq', 'compressed_tensors') else -2
    values = in_order(nibbles(codes, along), layout)
    scales, values = values_of(scales, scales_type), values.swapaxes(-1, -2) if turned else values
    scales = scales.swapaxes(-1, -2) if turned else scales
    zero = numpy.full(scales.shape, 8)
    if zeros is not None:
        zero = in_order(nibbles(bits_of(zeros)[0], -1 if turned else -2), layout)
        zero = (zero.swapaxes(-1, -2) if turned else zero) + (int(layout == 'gptq') if zero_offset is None else zero_offset)
    group = values.shape[-1] // scales.shape[-1]
    return (values - numpy.repeat(zero, group, -1)) * numpy.repeat(scales, group, -1)


def unpacked_weights(packed):
    *experts, n, k = packed.shape
    width = {'mxfp4': 1, 'nvfp4': 1, 'int4': 2, 'int4_zeros': 4}[packed.format]
    record, rows, columns = 2 * (128 // packed.group) * width, -(-n // 64), -(-k // 128)
    blocks = bits_of(packed.data)[0].view('uint8').reshape(-1, 4096 + 32 * record)
    row, at = numpy.mgrid[:64, :128]
    byte = at // 64 * 2048 + (row // 16 * 32 + row % 8 * 4 + at % 8 // 2) * 16 + at % 64 // 16 * 4 + at % 2 * 2
    pair = row // 8 % 2 + at // 8 % 2 * 2
    two = lambda place: blocks[:, place].astype('uint16') | blocks[:, place + 1].astype('uint16') << 8  # noqa: E731
    bits = two(byte).astype('int64')
    scale = 4096 + (row // 16 * 8 + row % 8) * record + (2 * (at // packed.group) + row // 8 % 2) * width
    number = lambda place: values_of(two(place) if packed.activation == 'bf16' else two(place).view('float16'), packed.activation)  # noqa: E731
    if width > 1:
        zero = 8 if width == 2 else number(scale + 2) - (128 if packed.activation == 'bf16' else 1024)
        weights = ((bits >> 4 * pair & 15) - zero) * number(scale)
    else:
        low = numpy.array((6, 3, 0, 9) if packed.activation == 'bf16' else (9, 6, 3, 0))[pair]
        codes = bits >> low & 7 | (bits >> numpy.array((15, 12, 14, 13))[pair] & 1) << 3
        stored = blocks[:, scale].astype('float64')
        if packed.format == 'nvfp4':
            numbers = (8 + stored % 8) * 2.0 ** (stored // 8 - 24)
        else:
            exponents = stored - 253 if packed.activation == 'bf16' else stored / 8 - 29
            numbers = 2.0 ** (exponents + packed.exponent)
        weights = TABLES['e2m1'][codes] * numpy.where(stored == 255, numpy.nan, numbers)
    whole = weights.reshape(-1, rows, columns, 64, 128).swapaxes(2, 3).reshape(-1, rows * 64, columns * 128)
    return whole[:, :n, :k].reshape(*experts, n, k)
