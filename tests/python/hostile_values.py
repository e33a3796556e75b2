"""What arrays mean, read without the package, and what calls should make of them: a reference of numpy."""
import numpy

import tilewright


class Meaningless(Exception):
    """Of arguments of which nobody can say what should come of them."""


def _small_float(bits, exponent_bits, fraction_bits, has_infinity=False, nan=()):
    bias, values = (1 << exponent_bits - 1) - 1, []
    for code in range(1 << bits):
        exponent, fraction = code >> fraction_bits & (1 << exponent_bits) - 1, code & (1 << fraction_bits) - 1
        value = (fraction * 2.0 ** (1 - bias - fraction_bits) if exponent == 0
                 else (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias))
        if has_infinity and exponent == (1 << exponent_bits) - 1:
            value = numpy.nan if fraction else numpy.inf
        if code & (1 << bits - 1) - 1 in nan:
            value = numpy.nan
        values.append(-value if code >> bits - 1 else value)
    return numpy.array(values)


TABLES = {'e4m3': _small_float(8, 4, 3, nan=(0x7f,)), 'e5m2': _small_float(8, 5, 2, has_infinity=True), 'e2m1': _small_float(4, 2, 1),
          'e2m3': _small_float(6, 2, 3), 'e3m2': _small_float(6, 3, 2)}
LARGEST = {'e4m3': 448.0, 'e5m2': 57344.0, 'e2m1': 6.0, 'e2m3': 7.5, 'e3m2': 28.0}
NUMPY = {'fp16': 'float16', 'fp32': 'float32', 'tf32': 'float32', 's8': 'int8', 's32': 'int32', 'bf16': 'uint16', 'e4m3': 'uint8',
         'e5m2': 'uint8', 'bytes': 'uint8'}


def told(value):
    """In a line."""
    if isinstance(value, tilewright.Epilogue):
        return f'Epilogue({", ".join(f"{name}={told(field)}" for name, field in vars(value).items() if field is not None)})'
    if isinstance(value, numpy.ndarray):
        return f'{type(value).__name__}({value.shape}, {value.dtype}, strides {value.strides}{"" if value.flags.writeable else ", read-only"})'
    if isinstance(value, (tuple, list)) and len(value) < 6:
        return f'({", ".join(map(told, value))})'
    try:
        return repr(getattr(value, '__array_interface__', value))[:200]
    except Exception:
        return f'a {type(value).__name__}'


def bits_of(given):
    """(numpy array, the type that it tells, or None)."""
    if isinstance(given, tilewright.Buffer):
        dtype = numpy.dtype(NUMPY[given.type])
        flat = numpy.frombuffer(bytes(given.data), 'uint8')
        places = given.offset + sum((numpy.arange(extent) * stride).reshape([-1 if axis == i else 1 for i in range(len(given.shape))])
                                    for axis, (extent, stride) in enumerate(zip(given.shape, given.strides)))
        places = numpy.broadcast_to(places, given.shape)
        picked = flat[places[..., None] * dtype.itemsize + numpy.arange(dtype.itemsize)]
        return numpy.ascontiguousarray(picked).view(dtype).reshape(given.shape), given.type
    array = numpy.asarray(getattr(given, 'array', given)) if hasattr(given, '__dlpack__') and not isinstance(given, numpy.ndarray) else numpy.asarray(given)
    if array.dtype == object:
        raise Meaningless('objects')
    kind = getattr(given, 'type', None)
    return array.copy(), kind if isinstance(kind, str) else None


def values_of(given, type=None):
    """As float64."""
    array, found = bits_of(given)
    type = type or found
    if type == 'bf16' and array.dtype.itemsize == 2:
        return (array.view('uint16').astype('uint32') << numpy.uint32(16)).view('float32').astype('float64')
    if type in ('e4m3', 'e5m2'):
        return TABLES[type][array.view('uint8')]
    if array.dtype.kind not in 'fi' or array.dtype.itemsize > 4:
        raise Meaningless(f'{array.dtype} is no type of ours')
    return array.astype('float64')


def unpacked(given, type, along):
    """Elements below a byte, of bytes along the last extent or the one before."""
    array = bits_of(given)[0].view('uint8')
    array = numpy.moveaxis(array, along, -1)
    bits = numpy.unpackbits(array, axis=-1, bitorder='little')
    width = {'e2m1': 4, 'e2m3': 6, 'e3m2': 6}[type]
    count = bits.shape[-1] // width
    codes = (bits[..., :count * width].reshape(*bits.shape[:-1], count, width) << numpy.arange(width)).sum(-1)
    return numpy.moveaxis(TABLES[type][codes], -1, along)


def elements_of(given, type, along=-1):
    return unpacked(given, type, along) if type in ('e2m1', 'e2m3', 'e3m2') else values_of(given, type)


def scale_of(scales, scale_type):
    """Of scales that are all the same."""
    codes = numpy.unique(bits_of(scales)[0].view('uint8'))
    if len(codes) != 1:
        raise Meaningless('scales differ')
    return 2.0 ** (int(codes[0]) - 127) if scale_type == 'ue8m0' else TABLES['e4m3'][codes[0]]


def rows_of_scales(scales, rows, groups, scale_type, order):
    """[rows, groups] as numbers, of bytes in rows, or in blocks of 128 rows by four."""
    codes = bits_of(scales)[0].view('uint8').ravel()
    row, group = numpy.mgrid[:rows, :groups]
    block = row // 128 * -(-groups // 4) + group // 4
    place = row * groups + group if order == 'rows' else block * 512 + row % 32 * 16 + row // 32 % 4 * 4 + group % 4
    return 2.0 ** (codes[place].astype('float64') - 127) if scale_type == 'ue8m0' else TABLES['e4m3'][codes[place]]


TOLERANCE = {'bf16': 2.0 ** -7, 'fp16': 2.0 ** -9, 'fp32': 1e-3, 's32': 0, 'tf32': 1e-3}


def differs(made, right, tolerance, at_least=0.02):
    """A sentence, or None."""
    if made.shape != right.shape:
        return f'the shape is {made.shape}, not {right.shape}'
    with numpy.errstate(all='ignore'):
        off = ~(numpy.abs(made - right) <= tolerance * numpy.abs(right) + at_least) & ~((made == right) | numpy.isnan(made) & numpy.isnan(right))
    if not off.any():
        return None
    place = tuple(int(i) for i in numpy.argwhere(off)[0])
    return f'{off.sum()} of {made.size}; at {place} it is {made[place]}, not {right[place]}'


def finished(sums, epilogue):
    """(value before the activation, the result) of an epilogue."""
    if epilogue is None:
        return sums, sums
    value = sums * float(epilogue.alpha)
    m, n = (*([1, 1][:2 - sums.ndim]), *sums.shape)[-2:]
    side = lambda given, shape: 0 if given is None else values_of(given).reshape(shape)  # noqa: E731
    if epilogue.row_scale is not None:
        value = value * values_of(epilogue.row_scale).reshape(m, 1)
    if epilogue.column_scale is not None:
        value = value * values_of(epilogue.column_scale).reshape(1, n)
    beta = epilogue.beta
    if beta is None:
        beta = 0.0 if epilogue.source is None else 1.0
    if epilogue.source is not None and float(beta) != 0:
        value = value + float(beta) * values_of(epilogue.source)
    value = value + side(epilogue.bias, (1, n)) + side(epilogue.row_bias, (m, 1))
    if epilogue.gated:
        raise Meaningless('a gate')
    activation, before = epilogue.activation, value
    if activation == 'relu':
        value = numpy.maximum(value, 0)
    elif isinstance(activation, (tuple, list)):
        value = numpy.clip(value, float(activation[1]), float(activation[2]))
    elif activation not in (None, 'none'):
        raise Meaningless('another activation')
    return before, value * float(epilogue.output_scale)


class Reference:
    """What a call should make: `judge` takes what it made and tells what is wrong with it."""

    def __init__(self, judge):
        self.judge = judge

    def wrong(self, made):
        return self.judge(made)

    @classmethod
    def of(cls, name, arguments):
        """None: nobody can say."""
        from hostile_references import REFERENCES
        try:
            with numpy.errstate(all='ignore'):
                return cls(REFERENCES[name](**arguments))
        except Exception:  # whatever is wrong with the arguments: the package refuses them, or the case is counted apart
            return None
