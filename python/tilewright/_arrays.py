"""Memory on the host, whoever owns it: Buffer, and what else is taken as an operand."""
import ctypes
import re
import struct
import sys

from ._library import BYTES, CODES, TYPES, Invalid, integer
from ._numbers import FORMATS, decode, encode
from ._typed import BITS, told_type, typed_array

ALIASES = {'bfloat16': 'bf16', 'float16': 'fp16', 'half': 'fp16', 'float32': 'fp32',
           'float': 'fp32', 'float8_e4m3fn': 'e4m3', 'float8_e5m2': 'e5m2', 'int8': 's8',
           'int32': 's32'}
NUMPY_NAMES = {'fp16': 'float16', 'fp32': 'float32', 's8': 'int8', 's32': 'int32'}
ALIGNMENT = 128  # of the memory that Buffer makes: TMA asks for 16 bytes


class View:
    """A matrix, a vector or a batch of matrices somewhere in memory. Strides count elements."""
    __slots__ = ('address', 'shape', 'strides', 'type', 'writable', 'owner')

    def __init__(self, address, shape, strides, type, writable, owner):
        self.address = integer('An address', address, 0, (1 << 64) - 1)
        self.shape = tuple(integer('An extent', extent, 0) for extent in shape)
        self.strides = tuple(integer('A stride', stride) for stride in strides)
        self.type, self.writable, self.owner = type, writable, owner


def type_name(given):
    """The name of a type: ours, or that of a torch or numpy dtype."""
    name = given if isinstance(given, str) else getattr(given, 'name', None)
    name = name if name is not None else str(getattr(given, '__name__', given))
    name = name.rsplit('.', 1)[-1]
    name = ALIASES.get(name, name)
    if name not in CODES:
        raise Invalid(f'{given!r} is no type of a matrix; there are {", ".join(CODES)}.')
    return name


def dense_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return tuple(strides)


def count(shape):
    elements = 1
    for extent in shape:
        elements *= extent
    return elements


def _bytes(memory):
    # Python casts no view that has a zero in its shape.
    return memory.cast('B') if memory.nbytes else memoryview(bytearray())


class Buffer:
    """Numbers in host memory with a shape and a type, without numpy.

    `data` is anything with the buffer protocol (array, bytearray, bytes, memoryview, mmap), or None
    for new memory. Strides count elements; None: rows lie one after the other.
    """

    def __init__(self, data, shape, type, strides=None, offset=0):
        self.shape = tuple(integer('An extent', extent, 0) for extent in shape)
        self.type = type_name(type)
        self.strides = (dense_strides(self.shape) if strides is None
                        else tuple(integer('A stride', stride) for stride in strides))
        self.offset = integer('offset', offset)
        if len(self.strides) != len(self.shape):
            raise Invalid(f'The shape {self.shape} has {len(self.shape)} extents, but there are '
                          f'{len(self.strides)} strides.')
        width = BYTES[self.type]
        if data is None:
            data = bytearray(count(self.shape) * width + ALIGNMENT)
            self.offset = -ctypes.addressof(ctypes.c_char.from_buffer(data)) % ALIGNMENT // width
        view = memoryview(data)
        if not view.c_contiguous:
            raise Invalid('The memory of a Buffer must be contiguous.')
        self.data = _bytes(view)
        reach = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        last = self.offset + sum(step for step in reach if step > 0)
        first = self.offset + sum(step for step in reach if step < 0)
        if count(self.shape) and (first < 0 or (last + 1) * width > self.data.nbytes):
            raise Invalid(f'The shape {self.shape} with strides {self.strides} and offset '
                          f'{self.offset} covers elements {first} to {last}, but the memory has '
                          f'{self.data.nbytes // width} of {width} bytes.')

    @classmethod
    def zeros(cls, shape, type):
        return cls(None, shape, type)

    @classmethod
    def of(cls, values, shape, type):
        """Numbers in the order of rows, rounded to the type."""
        self = cls(None, shape, type)
        values = list(values)
        if len(values) != count(self.shape):
            raise Invalid(f'The shape {self.shape} has {count(self.shape)} elements, but '
                          f'{len(values)} values were given.')
        struct.pack_into(f'={len(values)}{FORMATS[self.type]}', self.data,
                         self.offset * BYTES[self.type],
                         *(encode(value, self.type) for value in values))
        return self

    @property
    def T(self):
        """The same memory with rows and columns exchanged."""
        if len(self.shape) < 2:
            return self
        shape = self.shape[:-2] + (self.shape[-1], self.shape[-2])
        strides = self.strides[:-2] + (self.strides[-1], self.strides[-2])
        return Buffer(self.data, shape, self.type, strides, self.offset)

    def values(self):
        """The numbers, in the order of rows, in one list."""
        places = [self.offset]
        for extent, stride in zip(self.shape, self.strides):
            places = [place + i * stride for place in places for i in range(extent)]
        width, form = BYTES[self.type], '=' + FORMATS[self.type]
        return [decode(struct.unpack_from(form, self.data, place * width)[0], self.type)
                for place in places]

    def __repr__(self):
        return f'Buffer(shape={self.shape}, type={self.type!r}, strides={self.strides})'


def _address(memory):
    """Of a contiguous memoryview's first byte, whether it may be written, and who keeps it."""
    if memory.nbytes == 0:
        return 0, not memory.readonly, memory
    if memory.readonly:
        copy = ctypes.create_string_buffer(memory.tobytes(), memory.nbytes)
        return ctypes.addressof(copy), False, copy
    held = (ctypes.c_char * memory.nbytes).from_buffer(memory)
    return ctypes.addressof(held), True, held


def _of_buffer(buffer):
    address, writable, owner = _address(buffer.data)
    return View(address + buffer.offset * BYTES[buffer.type], buffer.shape, buffer.strides,
                buffer.type, writable, owner)


# By the name of an argument: the type it must have, or the argument that tells its type.
MUST_BE = {'rows': 'int32', 'row_index': 'int32', 'a_scales': 'float32', 'b_scales': 'float32',
           'scales': 'float32', 'row_scale': 'float32', 'column_scale': 'float32',
           'amax': 'float32', 'query_ends': 'int32', 'key_ends': 'int32', 'key_lengths': 'int32',
           'page_table': 'int32', 'sinks': 'float32', 'q_scales': 'float32', 'k_scales': 'float32',
           'v_scales': 'float32'}
TOLD_BY = {'a': 'a_type', 'b': 'b_type', 'x': 'x_type', 'w': 'w_type', 'out': 'out_dtype',
           'elements': 'out_dtype'}


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
    if any(stride % width for stride in strides):
        raise Invalid(f'The strides of {name} are {tuple(strides)} bytes, but must be multiples of '
                      f'{width}, its element\'s size.')
    return tuple(stride // width for stride in strides)


def _of_array_interface(name, array, asked):
    interface = array.__array_interface__
    try:
        order, kind, size = re.fullmatch(r'([<>|])(\w)(\d+)', interface['typestr']).groups()
        shape = tuple(interface['shape'])
    except (AttributeError, KeyError, TypeError):
        raise Invalid(f'The __array_interface__ of {name} tells no shape of numbers, but '
                      f'{interface!r}.') from None
    width = int(size)
    if order == '>':
        raise Invalid(f'{name} has the other order of bytes ({interface["typestr"]}).')
    found = {'f2': 'fp16', 'f4': 'fp32', 'i1': 's8', 'i4': 's32'}.get(f'{kind}{width}')
    # ml_dtypes calls its bf16 and fp8 void.
    found = found or ALIASES.get(getattr(getattr(array, 'dtype', None), 'name', None))
    told = told_type(array)
    if told is not None and asked is not None and type_name(asked) != told:
        raise Invalid(f'{name} is an array of {told}, not of {type_name(asked)}.')
    if interface.get('data') is None:
        raise Invalid(f'{name} does not tell its address.')
    address, readonly = interface['data']
    strides = interface.get('strides')
    strides = (dense_strides(shape) if strides is None
               else _element_strides(name, strides, width))
    return View(address, shape, strides, _stated(name, width, told or found, asked), not readonly, array)


class _DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32),
                ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


# (code, bits) of DLPack 1.1.
DLPACK_TYPES = {(2, 16): 'fp16', (2, 32): 'fp32', (4, 16): 'bf16', (10, 8): 'e4m3',
                (12, 8): 'e5m2', (0, 8): 's8', (0, 32): 's32'}


def _of_dlpack(name, array, asked):
    device = array.__dlpack_device__()
    if int(device[0]) != 1:
        raise Invalid(f'{name} lies on a device of DLPack\'s kind {int(device[0])}; of those only '
                      'host memory (1) is taken. On a GPU give torch tensors.')
    # The capsule is looked into and not taken over: it gives the memory back when it dies.
    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    try:
        tensor = _DLTensor.from_address(get(capsule, b'dltensor'))
    except ValueError:
        raise Invalid(f'The __dlpack__ of {name} gives {capsule!r}, but must give a capsule '
                      '"dltensor".') from None
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = (tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides
               else dense_strides(shape))
    width = tensor.bits * tensor.lanes // 8
    found = DLPACK_TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return View((tensor.data or 0) + tensor.byte_offset, shape, strides,
                _stated(name, width, found, asked), True, capsule)


def view_of(name, array, asked=None):
    """A View of host memory; `asked` is the type where the memory does not tell it."""
    if isinstance(array, Buffer):
        if asked is not None and type_name(asked) != array.type:
            raise Invalid(f'{name} is a Buffer of {array.type}, not of {type_name(asked)}.')
        return _of_buffer(array)
    if hasattr(array, '__array_interface__'):
        return _of_array_interface(name, array, asked)
    if hasattr(array, '__dlpack__'):
        return _of_dlpack(name, array, asked)
    try:
        memory = memoryview(array)
    except TypeError:
        raise Invalid(f'{name} is a {type(array).__name__}: neither a torch tensor nor a '
                      'tilewright.Buffer, a numpy array, or any object with __dlpack__ or the '
                      'buffer protocol.') from None
    if not memory.c_contiguous:
        raise Invalid(f'The memory of {name} must be contiguous.')
    found = {'f': 'fp32', 'e': 'fp16', 'b': 's8', 'i': 's32'}.get(memory.format.lstrip('@='))
    address, writable, owner = _address(_bytes(memory))
    return View(address, memory.shape, dense_strides(memory.shape),
                _stated(name, memory.itemsize, found, asked), writable, owner)


def is_torch(array):
    # torch.compile follows isinstance; other libraries' tensors that act as torch's have the function.
    torch = sys.modules.get('torch')
    return (torch is not None and isinstance(array, torch.Tensor)) or hasattr(array, '__torch_function__')


def is_numpy(array):
    numpy = sys.modules.get('numpy')
    return numpy is not None and isinstance(array, numpy.ndarray)


def empty_like_kind(example, shape, type):
    """New memory for a result: a numpy array where the example is one, otherwise a Buffer."""
    if is_numpy(example):
        import numpy
        if type in BITS:
            return typed_array(numpy.empty(shape, dtype=BITS[type]), type)
        return numpy.empty(shape, dtype=NUMPY_NAMES[type])
    return Buffer.zeros(shape, type)


def rows_of(name, array):
    """The array as a matrix: all but the last extent of a torch tensor count rows."""
    if is_torch(array) and len(array.shape) > 2:
        return array.view(-1, array.shape[-1])
    if len(array.shape) != 2:
        raise Invalid(f'{name} has shape {tuple(array.shape)}, but must be a matrix.')
    return array


def new_like(array, shape):
    """Of the array's kind, type and device."""
    return array.new_empty(shape) if is_torch(array) else empty_like_kind(array, shape, view_of('x', array).type)
