"""Memory on the host, whoever owns it: what is taken as an operand."""
import copy
import ctypes
import re
import sys

from ._buffer import ALIASES, Buffer, bytes_of, count, dense_strides, type_name
from ._dlpack import tensor_of
from ._errors import Error, Invalid
from ._library import BYTES, TYPES
from ._typed import BITS, told_type, typed_array
from ._values import integer, shown

NUMPY_NAMES = {'fp16': 'float16', 'fp32': 'float32', 's8': 'int8', 's32': 'int32'}


class View:
    """A matrix, a vector or a batch of matrices somewhere in memory. Strides count elements."""
    __slots__ = ('address', 'shape', 'strides', 'type', 'writable', 'owner')

    def __init__(self, address, shape, strides, type, writable, owner):
        self.address = integer('An address', address, 0, (1 << 64) - 1)
        self.shape = tuple(integer('An extent', extent, 0) for extent in shape)
        self.strides = tuple(integer('A stride', stride) for stride in strides)
        if len(self.strides) != len(self.shape):
            raise Invalid(f'The shape {self.shape} has {len(self.shape)} extents, but there are {len(self.strides)} strides.')
        self.type, self.writable, self.owner = type, writable, owner


def _address(memory):
    """Of a contiguous memoryview's first byte, whether it may be written, and who keeps it."""
    if memory.nbytes == 0:
        return 0, not memory.readonly, memory
    if memory.readonly:
        same = ctypes.create_string_buffer(memory.tobytes(), memory.nbytes)
        return ctypes.addressof(same), False, same
    held = (ctypes.c_char * memory.nbytes).from_buffer(memory)
    return ctypes.addressof(held), True, held


def _of_buffer(buffer):
    buffer = copy.copy(buffer)  # which checks again: its attributes are the caller's
    address, writable, owner = _address(buffer.data)
    return View(address + buffer.offset * BYTES[buffer.type], buffer.shape, buffer.strides,
                buffer.type, writable, owner)


# By the name of an argument: the type it must have, or the argument that tells its type. Families add their own.
MUST_BE = {'a_scales': 'float32', 'b_scales': 'float32', 'scales': 'float32', 'row_scale': 'float32',
           'column_scale': 'float32', 'amax': 'float32'}
TOLD_BY = {'a': 'a_type', 'b': 'b_type', 'out': 'out_dtype', 'elements': 'out_dtype'}


def _untold(name, width):
    """Why elements of `width` bytes, of which nobody says what they are, are refused."""
    size = f'{name} has elements of {width} byte{"s" * (width != 1)}'
    if name in MUST_BE:
        return f'{size} that are no {MUST_BE[name]}, but must be {MUST_BE[name]}.'
    possible = [type for type in TYPES if BYTES[type] == width]
    if not possible:
        sizes = ', '.join(f'{type} ({BYTES[type]})' for type in TYPES)
        return f'{size}, but no type has so many; there are {sizes}.'
    wrapped = f'tilewright.Buffer({name}, {name}.shape, {possible[0]!r})'
    told = f'{TOLD_BY[name]}={possible[0]!r}, or ' if name in TOLD_BY else ''
    return (f'{size}, but which type they are must be said ({" or ".join(possible)}): '
            f'{told}{wrapped}.')


def _stated(name, width, found, asked):
    """The type of memory whose elements have `width` bytes and say that they are `found`."""
    if asked is None:
        if found is None:
            raise Invalid(_untold(name, width))
        return found
    asked = type_name(asked)
    if BYTES[asked] != width:
        raise Invalid(f'{name} has elements of {width} bytes, but {asked} has {BYTES[asked]}.')
    return asked


def _element_strides(name, strides, width):
    if width == 0 or any(stride % width for stride in strides):
        raise Invalid(f'The strides of {name} are {tuple(strides)} bytes, but must be multiples of '
                      f'{width}, its element\'s size.')
    return tuple(stride // width for stride in strides)


def _of_array_interface(name, array, asked):
    interface = array.__array_interface__
    try:
        order, kind, size = re.fullmatch(r'([<>|])(\w)(\d{1,9})', interface['typestr']).groups()
        shape = tuple(interface['shape'])
        address, readonly = interface['data']
        strides = interface.get('strides')
        strides = strides if strides is None else tuple(integer('A stride', step, -1 << 80, 1 << 80) for step in strides)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, Invalid):
            raise
        raise Invalid(f'The __array_interface__ of {name} tells no shape of numbers and their address, but '
                      f'{shown(interface)}.') from None
    width = int(size)
    if order == '>':
        raise Invalid(f'{name} has the other order of bytes ({interface["typestr"]}).')
    found = {'f2': 'fp16', 'f4': 'fp32', 'i1': 's8', 'i4': 's32'}.get(f'{kind}{width}')
    # ml_dtypes calls its bf16 and fp8 void.
    dtype = getattr(getattr(array, 'dtype', None), 'name', None)
    found = found or ALIASES.get(dtype if isinstance(dtype, str) else None)
    told = told_type(array)
    if told is not None and asked is not None and type_name(asked) != told:
        raise Invalid(f'{name} is an array of {told}, not of {type_name(asked)}.')
    type = _stated(name, width, told or found, asked)
    shape = tuple(integer('An extent', extent, 0) for extent in shape)
    strides = dense_strides(shape) if strides is None else _element_strides(name, strides, width)
    return View(address, shape, strides, type, not readonly, array)


def _of_memory(name, array, asked):
    memory, as_bytes = bytes_of(name, array)
    found = {'f': 'fp32', 'e': 'fp16', 'b': 's8', 'i': 's32'}.get(memory.format.lstrip('@='))
    address, writable, owner = _address(as_bytes)
    return View(address, memory.shape, dense_strides(memory.shape),
                _stated(name, memory.itemsize, found, asked), writable, owner)


def view_of(name, array, asked=None):
    """A View of host memory; `asked` is the type where the memory does not tell it."""
    if isinstance(array, View):
        return array
    if isinstance(array, Buffer):
        if asked is not None and type_name(asked) != array.type:
            raise Invalid(f'{name} is a Buffer of {array.type}, not of {type_name(asked)}.')
        return _of_buffer(array)
    try:
        if hasattr(array, '__array_interface__'):
            return _of_array_interface(name, array, asked)
        if hasattr(array, '__dlpack__') and hasattr(array, '__dlpack_device__'):
            address, shape, strides, width, found, capsule = tensor_of(name, array)
            return View(address, shape, strides, _stated(name, width, found, asked), True, capsule)
    except Error:
        raise
    except Exception as error:  # raised by the array's own code
        raise Invalid(f'{name} is a {type(array).__name__} that does not tell its memory: {shown(error)}.') from error
    return _of_memory(name, array, asked)


def shape_of(name, array, asked=None):
    if not is_torch(array):
        return view_of(name, array, asked).shape
    if not hasattr(array, 'shape'):
        raise Invalid(f'{name} is a {type(array).__name__}, which has no shape.')
    return tuple(array.shape)


def is_torch(array):
    # torch.compile follows isinstance; other libraries' tensors that act as torch's have the function.
    torch = sys.modules.get('torch')
    return torch is not None and (isinstance(array, torch.Tensor) or hasattr(array, '__torch_function__'))


def is_numpy(array):
    numpy = sys.modules.get('numpy')
    return numpy is not None and isinstance(array, numpy.ndarray)


def empty_like_kind(example, shape, type):
    """New memory for a result: a numpy array where the example is one, otherwise a Buffer."""
    if not is_numpy(example):
        return Buffer.zeros(shape, type)
    import numpy
    try:
        new = numpy.empty(shape, dtype=BITS.get(type) or NUMPY_NAMES[type])
    except (MemoryError, OverflowError, ValueError):
        raise Invalid(f'A result of shape {tuple(shape)} and type {type} cannot be had: it is too large.') from None
    except KeyError:
        raise Invalid(f'numpy has no {type} and no bits of it.') from None
    return typed_array(new, type) if type in BITS else new


def rows_of(name, array):
    """The array as a matrix: all but the last extent of a torch tensor count rows."""
    shape = shape_of(name, array)
    if is_torch(array) and len(shape) > 2:
        try:
            return array.view(count(shape[:-1]), shape[-1])
        except RuntimeError:
            raise Invalid(f'{name} has shape {shape} and strides {tuple(array.stride())}, of which no matrix can be made without '
                          'a copy.') from None
    if len(shape) != 2:
        raise Invalid(f'{name} has shape {shape}, but must be a matrix.')
    return array


def new_like(name, array, shape, type=None):
    """Of the array's kind and device, and of its type where none is told."""
    if not is_torch(array):
        return empty_like_kind(array, shape, type or view_of(name, array).type)
    if type is None:
        return array.new_empty(shape)
    from ._torch import dtype_of
    return array.new_empty(shape, dtype=dtype_of(type))
