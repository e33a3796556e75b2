"""rotary: rotary embedding, and a cache's new rows. Of torch tensors it is the operator tilewright::call_rotary."""
from .._arrays import is_torch, new_like, rows_of, shape_of
from .._call import call
from .._library import Invalid, integer

__all__ = ['rotary']

MOST_HEADS = 65536


def _cache_rows(name, cache, columns):
    """A cache by tokens, [.., heads, columns of a head], as a matrix with a row for each token."""
    if not is_torch(cache):
        return rows_of(name, cache)
    if not cache.is_contiguous():
        raise Invalid(f'{name} has shape {tuple(cache.shape)} and strides {tuple(cache.stride())}, but a cache must be contiguous.')
    if cache.numel() == 0 or columns == 0 or cache.numel() % columns != 0:
        raise Invalid(f'{name} has shape {tuple(cache.shape)}, but must have rows of {columns}.')
    return cache.view(-1, columns)


def rotary(qkv, cosines, sines, heads, key_heads, q=None, k=None, v=None, *, positions=None, slots=None, stream=None,
           instance=None, target=None):
    """(q, k, v) of qkv, [.., (heads + 2 key_heads) columns], which has the heads of queries, then of keys, then of values:
    those of queries and keys are rotated, of which columns j and j + columns / 2 are the parts of a complex number.

    cosines, sines: float32 [positions, columns / 2].
    positions: int32 on the device, for each token its row of cosines and sines, of which those outside of the tables are taken
        for the first or the last row; None: token i has row i.
    k, v: a cache by tokens, contiguous, [.., key_heads, columns] (pages one behind the other); None: they are made, with a row
        for each token. slots: int32 on the device, for each token its row there, or a number outside of them, and nothing is
        stored; None: token i has row i.
    q: where the queries go; None: they are made.
    """
    heads, key_heads = integer('heads', heads, 0, MOST_HEADS), integer('key_heads', key_heads, 0, MOST_HEADS)
    *tokens, width = shape_of('qkv', qkv) or (0,)
    if heads + key_heads == 0 or width % (heads + 2 * key_heads) != 0:
        raise Invalid(f'qkv has {width} columns, but they are of {heads} + 2 * {key_heads} heads.')
    size = width // (heads + 2 * key_heads)
    by_head = is_torch(qkv)
    made = lambda count: new_like('qkv', qkv, (*tokens, count, size) if by_head else (*tokens, count * size))  # noqa: E731
    q, k, v = made(heads) if q is None else q, made(key_heads) if k is None else k, made(key_heads) if v is None else v
    call('rotary', qkv=rows_of('qkv', qkv), cosines=cosines, sines=sines, positions=positions, slots=slots,
         q=_cache_rows('q', q, heads * size), k=_cache_rows('k', k, key_heads * size), v=_cache_rows('v', v, key_heads * size),
         heads=heads, key_heads=key_heads, head_size=size, stream=stream, instance=instance, target=target)
    return q, k, v
