"""Elements below a byte, and scales of blocks: both are bytes in arrays."""
import sys

from ._arrays import View, count, empty_like_kind, is_numpy, is_torch, shape_of
from ._library import PACKED_BITS, Invalid
from ._values import word

SCALED_BLOCK = {'ue8m0': 32, 'ue4m3': 16}  # elements of k, by the type of a scale


def packed_view(name, view, type, along):
    """Elements below a byte, of a View of the bytes that hold them. `along`: -1 or -2, the extent that is meant to count
    bytes; it is the other one where only that is contiguous."""
    bits, rank = PACKED_BITS[type], len(view.shape)
    if rank < 2:
        raise Invalid(f'{name} has shape {view.shape}, but must be a matrix, or a batch of them.')
    if view.shape[along] > 1 and view.strides[along] != 1:
        along = -3 - along
    along += rank
    # The stride of an extent of 1 says nothing.
    steps = [step * 8 for axis, (extent, step) in enumerate(zip(view.shape, view.strides)) if axis != along and extent > 1]
    if view.shape[along] > 1 and view.strides[along] != 1 or any(step % bits for step in steps):
        raise Invalid(f'{name} has shape {view.shape} and strides {view.strides} of bytes, but lines of '
                      f'{type} must be contiguous and begin at whole elements of {bits} bits.')
    shape = [extent * 8 // bits if axis == along else extent for axis, extent in enumerate(view.shape)]
    strides = [1 if axis == along else step * 8 // bits if view.shape[axis] > 1 else shape[along]
               for axis, step in enumerate(view.strides)]
    return View(view.address, shape, strides, type, view.writable, view.owner), along - rank


def is_packed(type):
    return isinstance(type, str) and type in PACKED_BITS


def told_packed(array, type):
    """Of torch's float4_e2m1fn_x2 an element is a byte that holds two e2m1."""
    holds_two = str(getattr(array, 'dtype', None)) == 'torch.float4_e2m1fn_x2'
    return 'e2m1' if type is None and holds_two else type


def packed_bytes(columns, type):
    """Of a line that ends with a whole byte and a whole element."""
    return -(-columns // 4) * 3 if PACKED_BITS[type] == 6 else -(-columns // 2)


def scale_shape(rows, k, scale_type, scale_order='blocks'):
    """Of all scales of a matrix: the bytes of blocks of 128 rows by four, or rows."""
    of_a_row = -(-k // SCALED_BLOCK[word('scale_type', scale_type, SCALED_BLOCK)])
    by_rows = word('scale_order', scale_order, ('blocks', 'rows')) == 'rows'
    return (rows, of_a_row) if by_rows else (-(-rows // 128) * -(-of_a_row // 4) * 512,)


def new_bytes(example, shape):
    """New memory of the example's kind and device."""
    if is_torch(example):
        return example.new_empty(shape, dtype=sys.modules['torch'].uint8)
    new = empty_like_kind(example, shape, 's8')
    return new.view('uint8') if is_numpy(new) else new


def new_elements(example, shape, type):
    """New memory of the example's kind and device: of the type, or of the bytes of a type below one."""
    if type in PACKED_BITS:
        return new_bytes(example, (*shape[:-1], packed_bytes(shape[-1], type)))
    if is_torch(example):
        from ._torch import DTYPES
        return example.new_empty(shape, dtype=DTYPES[type])
    return empty_like_kind(example, shape, type)


def check_scales(name, scales, matrices, rows, k, scale_type, scale_order='blocks'):
    """Kernels take scales to their ends, which no stride tells."""
    needed = matrices * count(scale_shape(rows, k, scale_type, scale_order))
    given = count(shape_of(name, scales, 's8'))
    if given < needed:
        raise Invalid(f'{name} has {given} bytes, but scales of {matrices} x {rows} x {k} elements have {needed}.')
