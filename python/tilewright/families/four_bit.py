"""matmul_four_bit: activations by four-bit weights."""
import dataclasses

from .._arrays import is_torch, new_like, rows_of, shape_of, view_of
from .._call import call
from .._library import Invalid
from .._packed_weights import PackedWeights
from .._problem import checked_epilogue
from .._values import flag

__all__ = ['matmul_four_bit']


def _told_type(a):
    if is_torch(a):
        from .._torch import type_of
        return type_of('a', a)
    return view_of('a', a).type


def _check_shape(shape, weights, in_groups, index_shape):
    *experts, n, k = weights.shape
    if in_groups and len(experts) != 1:
        raise Invalid(f'rows are given, but weights of {tuple(weights.shape)} are not [experts, n, k].')
    if index_shape is not None and not in_groups:
        raise Invalid('row_index is given, but no rows: rows are gathered for groups of them.')
    if index_shape is not None and len(index_shape) != 1:
        raise Invalid(f'row_index has shape {tuple(index_shape)}, but must be [m].')
    leading = [] if in_groups else experts
    fits = len(shape) == 2 if in_groups else len(shape) >= 2 and (not experts or list(shape[:-2]) == experts)
    if not fits or shape[-1] != k:
        wanted = ', '.join(map(str, (*leading, 'm', k)))
        raise Invalid(f'a has shape {tuple(shape)}, but weights of {tuple(weights.shape)} need [{"" if experts else ".., "}{wanted}].')


def matmul_four_bit(a, weights, out=None, *, rows=None, capacity=0, row_index=None, a_scales=None, epilogue=None,
                    weights_are_constant=False, stream=None, batch_invariant=False, instance=None, target=None):
    """epilogue(a @ w.T) of weights [n, k] that pack_weights packed: a is [.., m, k] in the type that they were packed for, the result
    [.., m, n] in that type, or for e4m3 in bf16. Of experts, weights [experts, n, k], a is [experts, m, k].

    rows: int32 [experts], on the device: a is then [m, k], rows of one expert behind those of the other, and rows[e] is the row behind
        expert e's last. No host reads it; an expert may have no row, and rows of none are left alone in the result.

    capacity: with rows, each expert has room for so many rows, and rows[e] says how many of them are there; 0: they lie one behind the other.

    row_index: with rows, int32 [m], on the device: row i of the result is made of row row_index[i] of a [any, k], or of zeros where a has
        none. MXFP4 by bf16 alone.

    a_scales: of e4m3, float32 [.., m, ceil(k / 128)], by which 128 of k of a row are multiplied; without rows. Scales of whole rows or of a
        tensor are the epilogue's row_scale and alpha.

    weights_are_constant: they were complete before the kernel before this one on the stream began. All else is as for matmul.
    """
    epilogue = checked_epilogue(epilogue)
    if not isinstance(weights, PackedWeights):
        raise Invalid(f'weights is a {type(weights).__name__}, but must be tilewright.PackedWeights, which pack_weights makes.')
    *experts, n, k = weights.shape
    shape = shape_of('a', a)
    index_shape = None if row_index is None else shape_of('row_index', row_index)
    _check_shape(shape, weights, rows is not None, index_shape)
    if _told_type(a) != weights.activation:
        raise Invalid(f'a has type {_told_type(a)}, but the weights were packed for {weights.activation}.')
    if weights.tensor_scale != 1.0:
        epilogue = dataclasses.replace(epilogue, alpha=epilogue.alpha * weights.tensor_scale)
    columns = n // 2 if epilogue.gated else n
    if out is None:
        leading = shape[:-1] if index_shape is None else index_shape
        out = new_like('a', a, (*leading, columns), 'bf16' if weights.activation == 'e4m3' else None)
    one = len(shape) > 2 and not experts  # a matrix of all rows
    gathered = {} if index_shape is None else dict(row_index=row_index, m=index_shape[0], a_rows=shape[0])
    call('four_bit', a=rows_of('a', a) if one else a, weights=weights.data, rows=rows,
         a_scales=rows_of('a_scales', a_scales) if one and a_scales is not None else a_scales, d=rows_of('out', out) if one else out, n=n, k=k,
         batch=None if rows is None else experts[0], capacity=capacity, format=weights.format, scale_group=weights.group, exponent=weights.exponent,
         weights_are_constant=flag('weights_are_constant', weights_are_constant), epilogue=epilogue, stream=stream,
         batch_invariant=batch_invariant, instance=instance, target=target, **gathered)
    return out
