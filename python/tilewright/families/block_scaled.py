"""matmul_block_scaled: products of MXFP8, MXFP6, MXFP4 and NVFP4."""
from .._arrays import shape_of, type_name
from .._call import call
from .._library import PACKED_BITS, Invalid, integer
from .._packed import check_scales, is_packed, new_elements, told_packed
from .._problem import Extents, checked_epilogue

__all__ = ['matmul_block_scaled']


def _elements(name, array, type, along):
    """The shape, and the most of k; `along`: which extent counts packed bytes."""
    shape = shape_of(name, array, 's8' if is_packed(type) else type)
    if len(shape) < 2:
        raise Invalid(f'{name} has shape {shape}, but must be a matrix, or a batch of them.')
    return shape, shape[along] * 8 // PACKED_BITS[type] if is_packed(type) else shape[along]


def matmul_block_scaled(a, b, a_scales, b_scales, out=None, *, epilogue=None, out_dtype='bf16', scale_type='ue8m0',
                        k=None, stream=None, batch_invariant=False, instance=None, target=None, a_type=None,
                        b_type=None):
    """epilogue(a @ b) of elements with block scales, as block_quantise makes them: a is [m, k] or [batch, m, k], b is
    [k, n] or [batch, k, n] (a weight [n, k] is given as its transpose), the result [.., m, n] in bf16 or fp32.

    a_type, b_type: e2m1, e2m3 or e3m2 of packed bytes; other arrays tell their types, torch.float4_e2m1fn_x2 too.
    k: where the last byte of a line holds elements that are not meant.
    a_scales, b_scales: bytes, in blocks of 128 rows (of b: columns) by four. scale_type: ue8m0, or ue4m3 of NVFP4,
        whose scales of whole tensors go into the epilogue's alpha. All else is as for matmul.
    """
    epilogue = checked_epilogue(epilogue)
    a_type, b_type = told_packed(a, a_type), told_packed(b, b_type)
    (a_shape, k_of_a), (b_shape, k_of_b) = _elements('a', a, a_type, -1), _elements('b', b, b_type, -2)
    most = min(k_of_a, k_of_b)  # where they contradict each other, call says so
    elements = most if k is None else integer('k', k, 0, most)
    extents = Extents((*a_shape[:-1], elements), (*b_shape[:-2], elements, b_shape[-1]), epilogue.scalars()[-1])
    check_scales('a_scales', a_scales, extents.num_matrices, extents.m, elements, scale_type)
    check_scales('b_scales', b_scales, extents.num_matrices, extents.n, elements, scale_type)
    if out is None:
        out = new_elements(a, extents.output, type_name(out_dtype))
    call('block_scaled', a=a, b=b, a_scales=a_scales, b_scales=b_scales, d=out, a_type=a_type, b_type=b_type, k=k,
         n=extents.n, batch=extents.num_matrices, scale=scale_type, epilogue=epilogue, stream=stream,
         batch_invariant=batch_invariant, instance=instance, target=target)
    return out
