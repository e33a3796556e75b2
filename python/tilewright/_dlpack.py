"""Arrays of other libraries, by DLPack."""
import ctypes

from ._buffer import dense_strides
from ._errors import Invalid
from ._values import integer, several, shown


class _DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32),
                ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


# (code, bits) of DLPack 1.1.
DLPACK_TYPES = {(2, 16): 'fp16', (2, 32): 'fp32', (4, 16): 'bf16', (10, 8): 'e4m3',
                (12, 8): 'e5m2', (0, 8): 's8', (0, 32): 's32'}
MOST_EXTENTS = 64  # numpy's


def tensor_of(name, array):
    """Address, shape, strides, bytes of an element, its type where it is one of ours, and the capsule, which keeps the
    memory."""
    device = several(f'The __dlpack_device__ of {name}', array.__dlpack_device__())
    kind = integer(f'DLPack\'s kind of the device of {name}', device[0] if device else None)
    if kind != 1:
        raise Invalid(f'{name} lies on a device of DLPack\'s kind {kind}; of those only '
                      'host memory (1) is taken. On a GPU give torch tensors.')
    # The capsule is looked into and not taken over: it gives the memory back when it dies.
    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    try:
        tensor = _DLTensor.from_address(get(capsule, b'dltensor'))
    except ValueError:
        raise Invalid(f'The __dlpack__ of {name} gives {shown(capsule)}, but must give a capsule '
                      '"dltensor".') from None
    if tensor.device_type != 1:
        raise Invalid(f'The __dlpack__ of {name} gives memory of DLPack\'s kind {tensor.device_type}, but said 1.')
    if not 0 <= tensor.ndim <= MOST_EXTENTS or tensor.ndim > 0 and not tensor.shape:
        raise Invalid(f'The __dlpack__ of {name} tells {tensor.ndim} extents, but must tell from 0 to {MOST_EXTENTS}, and '
                      'where they are.')
    shape = tuple(integer(f'An extent of {name}', tensor.shape[i], 0) for i in range(tensor.ndim))
    strides = (tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides
               else dense_strides(shape))
    width = tensor.bits * tensor.lanes // 8
    found = DLPACK_TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return (tensor.data or 0) + tensor.byte_offset, shape, strides, width, found, capsule
