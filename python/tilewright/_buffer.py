"""Buffer: numbers in host memory, without numpy."""
import ctypes
import struct

from ._errors import Invalid
from ._library import BYTES, CODES
from ._numbers import FORMATS, decode, encode
from ._values import integer, several, shown

ALIASES = {'bfloat16': 'bf16', 'float16': 'fp16', 'half': 'fp16', 'float32': 'fp32',
           'float': 'fp32', 'float8_e4m3fn': 'e4m3', 'float8_e5m2': 'e5m2', 'int8': 's8',
           'int32': 's32'}
ALIGNMENT = 128  # bytes, for memory that Buffer makes: TMA asks for 16


def type_name(given):
    """The name of a type: ours, or that of a torch or numpy dtype."""
    name = given if isinstance(given, str) else getattr(given, 'name', None)
    name = name if isinstance(name, str) else getattr(given, '__name__', None)
    name = name if isinstance(name, str) else shown(given)
    name = name.rsplit('.', 1)[-1]
    name = ALIASES.get(name, name)
    if name not in CODES:
        raise Invalid(f'{shown(given)} is no type of a matrix; there are {", ".join(CODES)}.')
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


def bytes_of(name, array):
    """What the buffer protocol gives, and the same as bytes."""
    try:
        memory = memoryview(array)
    except TypeError:
        raise Invalid(f'{name} is a {type(array).__name__}: neither a torch tensor nor a '
                      'tilewright.Buffer, a numpy array, or any object with __dlpack__ or the '
                      'buffer protocol.') from None
    except (ValueError, BufferError) as error:  # it was closed or released
        raise Invalid(f'The memory of {name} cannot be had: {error}.') from None
    if not memory.c_contiguous:
        raise Invalid(f'The memory of {name} must be contiguous.')
    try:
        # Python casts no view that has a zero in its shape.
        return memory, memory.cast('B') if memory.nbytes else memoryview(bytearray())
    except (TypeError, ValueError, NotImplementedError):
        raise Invalid(f'The memory of {name} has elements of the format {memory.format!r}, but must have numbers.') from None


def _new_memory(bytes_needed):
    try:
        return bytearray(bytes_needed)
    except (MemoryError, OverflowError):
        raise Invalid(f'{shown(bytes_needed)} bytes cannot be had.') from None


class Buffer:
    """Numbers in host memory with a shape and a type, without numpy.

    `data` is anything with the buffer protocol (array, bytearray, bytes, memoryview, mmap), or None
    for new memory. Strides count elements; None: rows lie one after the other.
    """

    def __init__(self, data, shape, type, strides=None, offset=0):
        self.shape = tuple(integer('An extent', extent, 0) for extent in several('shape', shape))
        self.type = type_name(type)
        self.strides = (dense_strides(self.shape) if strides is None
                        else tuple(integer('A stride', stride) for stride in several('strides', strides)))
        self.offset = integer('offset', offset)
        if len(self.strides) != len(self.shape):
            raise Invalid(f'The shape {self.shape} has {len(self.shape)} extents, but there are '
                          f'{len(self.strides)} strides.')
        width = BYTES[self.type]
        if data is None:
            data = _new_memory(count(self.shape) * width + ALIGNMENT)
            self.offset = -ctypes.addressof(ctypes.c_char.from_buffer(data)) % ALIGNMENT // width
        self.data = bytes_of('data', data)[1]
        first, last = self._reach()
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
        try:
            values = list(values)
        except Exception:  # raised by a caller's class, or by memory that was released
            raise Invalid(f'values is {shown(values)}, but must be numbers.') from None
        if len(values) != count(self.shape):
            raise Invalid(f'The shape {self.shape} has {count(self.shape)} elements, but '
                          f'{len(values)} values were given.')
        try:
            struct.pack_into(f'={len(values)}{FORMATS[self.type]}', self.data,
                             self.offset * BYTES[self.type],
                             *(encode(value, self.type) for value in values))
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise Invalid(f'A value is no number of {self.type}: {error}.') from None
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

    def __copy__(self):
        return Buffer(self.data, self.shape, self.type, self.strides, self.offset)

    def __reduce__(self):
        """For pickle and copy.deepcopy: new memory, of what the elements cover."""
        first, last = self._reach()
        width = BYTES[self.type]
        covered = bytes(self.data[first * width:(last + 1) * width]) if count(self.shape) else b''
        return _copied, (covered, self.data.readonly, self.shape, self.type, self.strides, self.offset - first)

    def _reach(self):
        """The first element in memory, and the last."""
        reach = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        return (self.offset + sum(step for step in reach if step < 0),
                self.offset + sum(step for step in reach if step > 0))

    def __repr__(self):
        return f'Buffer(shape={self.shape}, type={self.type!r}, strides={self.strides})'


def _copied(covered, readonly, shape, type, strides, offset):
    """A Buffer like another, whose elements covered these bytes."""
    if readonly:
        return Buffer(covered, shape, type, strides, offset)
    new = Buffer.zeros((len(covered) // BYTES[type],), type)
    place = new.offset * BYTES[type]
    new.data[place:place + len(covered)] = covered
    return Buffer(new.data, shape, type, strides, new.offset + offset)
