"""matmul_block_scaled: products of MXFP8, MXFP6, MXFP4 and NVFP4."""
from ._arrays import type_name
from ._call import call
from ._library import PACKED_BITS
from ._packed import check_scales, new_elements, told_packed
from ._problem import Extents, checked_epilogue


def _elements_shape(array, type, along):
    """`along`: which extent counts packed bytes."""
    shape = list(array.shape)
    if type in PACKED_BITS:
        shape[along] = shape[along] * 8 // PACKED_BITS[type]
    return tuple(shape)


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
    extents = Extents(_elements_shape(a, a_type, -1), _elements_shape(b, b_type, -2), epilogue.gated)
    elements = extents.k if k is None else k
    check_scales('a_scales', a_scales, extents.num_matrices, extents.m, elements, scale_type)
    check_scales('b_scales', b_scales, extents.num_matrices, extents.n, elements, scale_type)
    if out is None:
        out = new_elements(a, extents.output, type_name(out_dtype))
    call('block_scaled', a=a, b=b, a_scales=a_scales, b_scales=b_scales, d=out, a_type=a_type, b_type=b_type, k=k,
         n=extents.n, batch=extents.num_matrices, scale=scale_type, epilogue=epilogue, stream=stream,
         batch_invariant=batch_invariant, instance=instance, target=target)
    return out
