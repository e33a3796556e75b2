"""block_quantise: elements and scales of MXFP8, MXFP6, MXFP4 and NVFP4."""
from .._arrays import shape_of, type_name
from .._call import call
from .._library import Invalid
from .._packed import check_scales, is_packed, new_bytes, new_elements, scale_shape
from .._scales import pair_of
from .._values import real

__all__ = ['block_quantise']


def block_quantise(x, out=None, *, out_dtype='e4m3', scale_type='ue8m0', rule='floor', scale_order='blocks',
                   tensor_scale=1.0, stream=None, instance=None, target=None):
    """(elements, scales) of x [m, k] in bf16, fp16 or fp32, for matmul_block_scaled (docs/block_scales.md).

    out_dtype: e4m3, e5m2, e2m3, e3m2 or e2m1. Of those below a byte the elements are packed bytes: [m, k / 2] of e2m1,
        [m, 3 k / 4] of e2m3 and e3m2.
    scale_type: ue8m0, a power of two for each 32 of k; ue4m3 (with e2m1: NVFP4), one for each 16.
    rule: of ue8m0: floor, as the OCP has it, or rceil, with which no element saturates.
    tensor_scale: of NVFP4: what x is divided by; give it to the product's alpha.
    scale_order: blocks, of 128 rows by four, as matmul_block_scaled takes the bytes of scales; rows: [m, scales of a row].
    out: a pair of elements and scales to write to.
    """
    shape = shape_of('x', x)
    if len(shape) != 2:
        raise Invalid(f'x has shape {shape}, but must be a matrix.')
    m, k = shape
    element_type = out_dtype if is_packed(out_dtype) else type_name(out_dtype)
    if out is None:
        elements = new_elements(x, (m, k), element_type)
        scales = new_bytes(x, scale_shape(m, k, scale_type, scale_order))
    else:
        elements, scales = pair_of(out)
        check_scales('scales', scales, 1, m, k, scale_type, scale_order)
    call('block_quantise', source=x, elements=elements, scales=scales, elements_type=element_type, k=k,
         scale=scale_type, rule=rule, scale_order=scale_order, tensor_scale=real('tensor_scale', tensor_scale),
         stream=stream, instance=instance, target=target)
    return elements, scales
