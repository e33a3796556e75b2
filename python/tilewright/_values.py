"""What callers give beside arrays: numbers, flags, words. What is none of them is refused with a sentence."""
import operator

from ._errors import Invalid


def integer(name, value, lowest=-1 << 63, highest=(1 << 63) - 1):
    """Of 64 bits, with a sign: ctypes cuts what does not fit a field without a word."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Invalid(f'{name} is {shown(value)}, but must be an integer.') from None
    if not lowest <= number <= highest:
        # Python writes no integer of more than 4300 digits.
        given = number if number.bit_length() <= 256 else f'an integer of {number.bit_length()} bits'
        raise Invalid(f'{name} is {given}, but must be from {lowest} to {highest}.')
    return number


FLOAT32_LIMIT = 3.4028235677973366e38  # what is as large rounds to infinity


def real(name, value):
    """A number as float32 holds it: what is finite stays so."""
    try:
        number = float(None if isinstance(value, (str, bytes)) else value)
    except (TypeError, ValueError, OverflowError):
        raise Invalid(f'{name} is {shown(value)}, but must be a number.') from None
    if FLOAT32_LIMIT <= abs(number) < float('inf'):
        raise Invalid(f'{name} is {number}, but must be a number of float32: below 3.4e38.')
    return number


def flag(name, value):
    try:
        return bool(value)
    except (TypeError, ValueError, RuntimeError):
        raise Invalid(f'{name} is {shown(value)}, but must be true or false.') from None


def word(name, value, words):
    if not isinstance(value, str) or value not in words:
        raise Invalid(f'{name} is {shown(value)}, but must be one of {", ".join(words)}.')
    return value


def several(name, given):
    """The parts of a sequence, as shapes, strides and pairs are."""
    if hasattr(given, '__len__') and hasattr(given, '__getitem__'):
        try:
            return tuple(given)
        except Exception:  # raised by a caller's class
            pass
    raise Invalid(f'{name} is {shown(given)}, but must be a sequence.')


def shown(value):
    """A value in a sentence; its own text may be anything, and of any length."""
    try:
        text = repr(value)
    except Exception:  # raised by a caller's class
        text = f'a {type(value).__name__}'
    return text if len(text) <= 200 else f'{text[:200]}...'
