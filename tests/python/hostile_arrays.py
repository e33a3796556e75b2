"""Arrays of every kind that the package takes, with whatever is wrong with them, and what stands in the place of one."""
import array as stdlib_array
import math

import numpy

import tilewright

WIDTH = {'bf16': 2, 'fp16': 2, 'fp32': 4, 's32': 4, 's8': 1, 'e4m3': 1, 'e5m2': 1, 'bytes': 1}
DTYPE = {'bf16': 'uint16', 'fp16': 'float16', 'fp32': 'float32', 's32': 'int32', 's8': 'int8', 'e4m3': 'uint8', 'e5m2': 'uint8',
         'bytes': 'uint8'}
ODD_INTEGERS = (-1, 0, 1, 2, 3, 7, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) + 1, -(1 << 63),
                10 ** 400, True)
ODD_REALS = (float('nan'), float('inf'), -float('inf'), 1e300, -0.0, 1e-300, 0.0, 1.5, -3)
ODD_WORDS = ('x', '', '\0', 'sm90a\0x', '\udcff', '%s%n', '{}', b'sm90a', 'a' * 5000, 'rows', 'ue4m3', 'e2m1', 'fp32', 'sm80',
             'relu')


def count(shape):
    return math.prod(extent if isinstance(extent, int) else 1 << 40 for extent in shape)


class Interface:
    """An object that tells numpy's interface and no more; `changes` are its lies."""

    def __init__(self, array, **changes):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


class Exporter:
    """An object that tells DLPack's interface and no more."""

    def __init__(self, array, device=(1, 0), capsule=None):
        self.array, self.device, self.capsule = array, device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__() if self.capsule is None else self.capsule


class Raising:
    @property
    def __array_interface__(self):
        raise RuntimeError('of a caller')


class Odd:
    """Of a class that knows nothing."""

    def __repr__(self):
        raise RuntimeError('of a caller')


def released():
    memory = memoryview(bytearray(64))
    memory.release()
    return memory


class Arrays:
    """Draws arrays. `wild` is set where one tells an address or an extent of its own that no memory stands behind."""

    def __init__(self, draw):
        self.draw, self.wild = draw, False

    def bits(self, shape, type):
        """Small integers, and of scales about 1."""
        draw = numpy.random.default_rng(self.draw.getrandbits(32))
        if type in ('s8', 's32', 'bytes'):
            return draw.integers(0, 4, shape).astype(DTYPE[type])
        if type in ('e4m3', 'e5m2'):
            one = 0x38 if type == 'e4m3' else 0x3c
            return (one + (draw.integers(0, 2, shape) << 7) + (draw.integers(-1, 2, shape) << (3 if type == 'e4m3' else 2))).astype('uint8')
        values = draw.integers(-2, 3, shape).astype('float32')
        return (values.view('uint32') >> 16).astype('uint16') if type == 'bf16' else values.astype(DTYPE[type])

    def plain(self, shape, type):
        """A numpy array that tells its type where it can."""
        bits = self.bits(shape, type)
        if type in ('bf16', 'e4m3', 'e5m2'):
            from tilewright._typed import typed_array
            return typed_array(bits, type)
        return bits

    def strided(self, shape, type):
        """The same numbers with gaps between the rows, or turned."""
        whole = self.plain(shape, type)
        if len(shape) < 2:
            return whole
        gap = self.draw.choice((1, 2, 8))
        room = numpy.zeros((*shape[:-1], shape[-1] + gap), whole.dtype)
        view = room[..., :shape[-1]]
        view[...] = whole
        if hasattr(whole, 'type'):
            from tilewright._typed import typed_array
            view = typed_array(view, whole.type)
        return view

    def turned(self, shape, type):
        if len(shape) < 2:
            return self.plain(shape, type)
        return self.plain((*shape[:-2], shape[-1], shape[-2]), type).swapaxes(-1, -2)

    def buffer(self, shape, type):
        bits = self.bits(shape, type)
        data = bits.tobytes() if self.draw.random() < 0.3 else bytearray(bits.tobytes())
        return tilewright.Buffer(data, shape, 's8' if type == 'bytes' else type)

    def sound(self, shape, type, contiguous=True):
        """Of any kind."""
        kind = self.draw.random()
        if kind < 0.55 or type == 'bytes' and kind < 0.8:
            return self.plain(shape, type)
        if kind < 0.65 and not contiguous:
            return self.strided(shape, type)
        if kind < 0.85:
            return self.buffer(shape, type)
        if kind < 0.9 and type in ('fp16', 'fp32', 's8', 's32'):
            return Interface(self.plain(shape, type))
        if kind < 0.95 and type in ('fp16', 'fp32', 's8', 's32'):
            return Exporter(self.plain(shape, type))
        if type in ('fp32', 's32') and len(shape) == 1:
            return stdlib_array.array('f' if type == 'fp32' else 'i', self.bits(shape, type).tolist())
        return self.plain(shape, type)

    # What is wrong.

    def spoilt(self, given):
        """Another in the place of an array."""
        ways = (self._no_array, self._another_shape, self._another_shape, self._another_dtype, self._another_view, self._another_view,
                self._lying_interface, self._lying_capsule, self._changed_buffer, self._wild)
        is_plain = isinstance(given, numpy.ndarray) and given.dtype.kind in 'fiu' and given.size < 1 << 16
        return self.draw.choice(ways)(numpy.asarray(given) if is_plain else self.plain(self._shape(given), 'fp16'))

    def _shape(self, given):
        return given.shape if isinstance(given, tilewright.Buffer) and isinstance(given.shape, tuple) and count(given.shape) < 1 << 16 else (4, 8)

    def _no_array(self, given):
        return self.draw.choice((None, [1.0], [[1, 2], [3, 4]], 'x', b'bytes', 5, 1.5, object(), Odd(), Raising(), released(), (), {},
                                 numpy.float32(1), given.dtype, tilewright.Buffer, range(4), given.tolist()))

    def _another_shape(self, given):
        shape = list(given.shape)
        way = self.draw.randrange(6)
        if way == 0 and shape:
            shape.pop(self.draw.randrange(len(shape)))
        elif way == 1:
            shape.insert(self.draw.randrange(len(shape) + 1), self.draw.choice((0, 1, 1, 2)))
        elif shape:
            place = self.draw.randrange(len(shape))
            shape[place] = max(0, shape[place] + self.draw.choice((-shape[place], -1, 1, 1, 8, -8, shape[place])))
        new = numpy.zeros(shape, given.dtype)
        return new.swapaxes(-1, -2) if len(shape) > 1 and self.draw.random() < 0.2 else new

    def _another_dtype(self, given):
        dtype = self.draw.choice(('float64', 'float16', 'float32', 'int8', 'uint8', 'uint16', 'int32', 'int64', 'bool', 'complex64', 'O',
                                  '>f4', '>f2', 'S3', 'U2', 'datetime64[s]', 'f4,f4', 'V6'))
        return numpy.zeros(given.shape, dtype)

    def _another_view(self, given):
        way = self.draw.randrange(9)
        if way == 0:
            return given[::-1] if given.ndim else given
        if way == 1:
            return given[..., ::-1] if given.ndim else given
        if way == 2:
            return numpy.repeat(given, 2, -1)[..., ::2] if given.ndim else given
        if way == 3:
            return numpy.repeat(given, 2, 0)[::2] if given.ndim else given
        if way == 4:
            return numpy.broadcast_to(given[:1], given.shape) if given.ndim and given.shape[0] else given
        if way == 5:
            same = given.copy()
            same.flags.writeable = False
            return same
        if way == 6:
            room = bytearray(given.nbytes + 8)
            return numpy.frombuffer(room, given.dtype, given.size, 1).reshape(given.shape)
        if way == 7:
            return given.T
        return numpy.asfortranarray(given)

    def _lying_interface(self, given):
        shape = given.shape
        changes = self.draw.choice((
            dict(data=5), dict(data=None), dict(data=(1, 2, 3)), dict(data=('x', False)), dict(data=(-1, False)), dict(data=(1 << 70, False)),
            dict(shape=5), dict(shape=None), dict(shape=(-1,) * len(shape)), dict(shape=(None,)), dict(shape=('x', 2)), dict(shape=()),
            dict(strides=5), dict(strides=(2,) * (len(shape) + 1)), dict(strides=(1,) * len(shape)), dict(strides=('x',)),
            dict(strides=(1 << 70,) * len(shape)), dict(strides=()), dict(typestr=5), dict(typestr=None), dict(typestr='<f0'),
            dict(typestr='<f' + '9' * 30), dict(typestr='?'), dict(typestr='|V2'), dict(shape=shape[:1]), dict(shape=(0,) * len(shape)),
            dict(strides=(0,) * len(shape)), dict(version=9), dict(shape=[*shape])))
        self.wild = self.wild or 'data' in changes or 'strides' in changes
        lying = Interface(given, **changes)
        if self.draw.random() < 0.1:
            lying.__array_interface__ = self.draw.choice((None, 5, {}, [], 'x'))
        return lying

    def _lying_capsule(self, given):
        return self.draw.choice((Exporter(given, device=self.draw.choice((None, (), (2, 0), 'x', (None, None), 5, (1.5, 0), (10 ** 30, 0)))),
                                 Exporter(given, capsule=self.draw.choice((5, 'x', object(), given)))))

    def _changed_buffer(self, given):
        buffer = tilewright.Buffer.zeros(tuple(min(extent, 64) for extent in given.shape), 'fp16')
        name, value = self.draw.choice((('shape', (400, 400)), ('shape', 5), ('shape', None), ('strides', (1 << 40, 1)), ('offset', -5),
                                        ('offset', 1 << 50), ('type', 'fp32'), ('type', 'x'), ('data', memoryview(b'ab')), ('data', 5),
                                        ('shape', ('x', 'y')), ('offset', 'x')))
        setattr(buffer, name, value)
        return buffer

    def _wild(self, given):
        """Addresses and extents that cannot be judged: nothing may be touched before the library is asked."""
        self.wild = True
        address = given.__array_interface__['data'][0]
        if self.draw.random() < 0.5:
            changes = dict(data=(self.draw.choice((1, 16, 1 << 40, (1 << 64) - 1, (1 << 64) - 256, address + 3)), False))
        else:
            big = tuple(self.draw.choice((extent, 1 << 20, 1 << 31, 1 << 40, 1 << 62)) for extent in given.shape)
            changes = dict(shape=big, strides=self.draw.choice((None, tuple(given.itemsize for _ in big), (0,) * len(big),
                                                                 (-given.itemsize,) * len(big), ((1 << 62) + 2,) * len(big))))
        return Interface(given, **changes)
