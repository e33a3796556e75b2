"""block_dequantise: what elements and scales of MXFP8, MXFP6, MXFP4 and NVFP4 stand for."""
from .._arrays import shape_of, type_name
from .._call import call
from .._library import PACKED_BITS, Invalid, integer
from .._packed import check_scales, is_packed, new_elements, told_packed
from .._values import real

__all__ = ['block_dequantise']


def block_dequantise(elements, scales, out=None, *, out_dtype='bf16', elements_type=None, scale_type='ue8m0',
                     scale_order='blocks', tensor_scale=1.0, k=None, stream=None, instance=None, target=None):
    """Elements [m, k] times their scales, in bf16, fp16 or fp32: block_quantise's way back (docs/block_scales.md).

    elements_type: e2m1, e2m3 or e3m2 of packed bytes; other arrays tell their types, torch.float4_e2m1fn_x2 too.
    k: where the last byte of a line holds elements that are not meant.
    scale_type, scale_order, tensor_scale: as for block_quantise.
    """
    elements_type = told_packed(elements, elements_type)
    packed = is_packed(elements_type)
    shape = shape_of('elements', elements, 's8' if packed else elements_type)
    if len(shape) != 2:
        raise Invalid(f'elements has shape {shape}, but must be a matrix.')
    m, columns = shape
    most = columns * 8 // PACKED_BITS[elements_type] if packed else columns
    k = most if k is None else integer('k', k, 0, most)
    check_scales('scales', scales, 1, m, k, scale_type, scale_order)
    if out is None:
        out = new_elements(elements, (m, k), type_name(out_dtype))
    call('block_dequantise', elements=elements, scales=scales, values=out, elements_type=elements_type, k=k,
         scale=scale_type, scale_order=scale_order, tensor_scale=real('tensor_scale', tensor_scale), stream=stream,
         instance=instance, target=target)
    return out
