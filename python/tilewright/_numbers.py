"""Numbers as bits: bf16, fp16, fp8 and integers, without and with numpy."""
import bisect
import math
import struct

from ._errors import Invalid
from ._typed import typed_array
from ._values import shown

FORMATS = {'fp32': 'f', 'tf32': 'f', 's8': 'b', 's32': 'i', 'fp16': 'e', 'bf16': 'H', 'e4m3': 'B',
           'e5m2': 'B'}
# Exponent bits, fraction bits, and the largest finite number's bits.
FP8 = {'e4m3': (4, 3, 0x7e), 'e5m2': (5, 2, 0x7b)}


def _fp8_value(bits, name):
    exponent_bits, fraction_bits, largest = FP8[name]
    magnitude = bits & 0x7f
    sign = -1.0 if bits & 0x80 else 1.0
    if magnitude > largest:
        return sign * math.inf if name == 'e5m2' and magnitude == 0x7c else math.nan
    bias = (1 << (exponent_bits - 1)) - 1
    exponent, fraction = magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1)
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)


FP8_VALUES = {name: [_fp8_value(bits, name) for bits in range(256)] for name in FP8}


def _fp8_bits(value, name):
    largest = FP8[name][2]
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return 0x7f | sign
    magnitudes = FP8_VALUES[name]
    above = bisect.bisect_left(magnitudes, abs(value), 0, largest + 1)
    if above > largest:
        return largest | sign
    below = max(above - 1, 0)
    to_below, to_above = abs(value) - magnitudes[below], magnitudes[above] - abs(value)
    if to_below < to_above or (to_below == to_above and below % 2 == 0):
        return below | sign
    return above | sign


def _bf16_bits(value):
    try:
        bits, = struct.unpack('<I', struct.pack('<f', value))
    except OverflowError:
        bits = 0xff800000 if value < 0 else 0x7f800000
    if bits & 0x7fffffff > 0x7f800000:
        return (bits >> 16) | 0x40
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16


def encode(value, name):
    """What `struct` packs by FORMATS[name]: rounded to nearest even; fp8 stops at its largest."""
    if name in FP8:
        return _fp8_bits(float(value), name)
    if name == 'bf16':
        return _bf16_bits(float(value))
    return int(value) if name in ('s8', 's32') else float(value)


def decode(packed, name):
    if name in FP8:
        return FP8_VALUES[name][packed]
    if name == 'bf16':
        return struct.unpack('<f', struct.pack('<I', packed << 16))[0]
    return packed


def _array(name, given, dtype):
    import numpy
    try:
        return numpy.ascontiguousarray(given, dtype=dtype).view(numpy.ndarray).reshape(numpy.shape(given))
    except Exception as error:  # raised by a caller's class, too
        raise Invalid(f'{name} is no array of {dtype}: {shown(error)}.') from None


def to_bf16(array):
    """The bits (uint16) of a numpy array's numbers, rounded to nearest even, as an array that tells that it is bf16."""
    bits = _array('array', array, 'float32').view('uint32')
    import numpy
    rounded = (bits + (0x7fff + ((bits >> 16) & 1))) >> 16
    is_nan = (bits & 0x7fffffff) > 0x7f800000
    bits = numpy.where(is_nan, (bits >> 16) | 0x40, rounded).astype(numpy.uint16)
    return typed_array(bits, 'bf16')


def from_bf16(bits):
    """The numbers (float32) of a numpy array of bf16 bits (uint16)."""
    import numpy
    # numpy 1 makes an int64 of an array without axes that is shifted by one of Python's numbers.
    return numpy.left_shift(_array('bits', bits, 'uint16').astype('uint32'), numpy.uint32(16)).view('float32')
