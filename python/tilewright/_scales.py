"""Scales of blocks of 128 as new memory."""
from ._arrays import Buffer, count, dense_strides, empty_like_kind, is_numpy
from ._library import Invalid

BLOCK = 128


def blocks_of(extent):
    return -(-extent // BLOCK)


def scales_of(shape, scale_rows, column_major):
    """Shape and strides of the scales of x's shape. Columns are those of all rows of the batch, and begin at 16 bytes."""
    if len(shape) < 2:
        raise Invalid(f'x has shape {tuple(shape)}, but must be a matrix, or a batch of them.')
    if scale_rows not in (1, BLOCK):
        raise Invalid(f'scale_rows is {scale_rows}, but must be 1 or {BLOCK}.')
    *batch, m, k = shape
    rows, blocks = (*batch, -(-m // scale_rows)), blocks_of(k)
    if not column_major:
        return (*rows, blocks), dense_strides((*rows, blocks))
    return (*rows, blocks), (*dense_strides(rows), -(-count(rows) // 4) * 4)


def pair_of(out, parts='elements and scales'):
    """(elements, scales), or (None, None)."""
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise Invalid(f'out is a {type(out).__name__}, but must be a pair: {parts}.')
    return out


def strided(example, shape, strides):
    """New float32 memory of the example's kind."""
    needed = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides)) if count(shape) else 0
    flat = empty_like_kind(example, (needed,), 'fp32')
    if is_numpy(flat):
        import numpy
        return numpy.lib.stride_tricks.as_strided(flat, shape, [4 * stride for stride in strides])
    return Buffer(flat.data, shape, 'fp32', strides, flat.offset)
