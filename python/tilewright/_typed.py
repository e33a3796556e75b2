"""numpy arrays that tell their type where numpy has no name for it."""
import functools
import sys

# What numpy calls the bits.
BITS = {'bf16': 'uint16', 'e4m3': 'uint8', 'e5m2': 'uint8'}


@functools.cache
def _class():
    import numpy

    class TypedArray(numpy.ndarray):
        """Bits of numbers whose `type` is "bf16", "e4m3" or "e5m2". Views and copies keep the type; what is computed
        from the bits, or seen as other bits, has none."""

        def __array_finalize__(self, source):
            self._type = getattr(source, '_type', None)

        @property
        def type(self):
            return self._type if self.dtype == BITS.get(self._type) else None

        @property
        def mT(self):  # which numpy has from 2.0 on
            return self.swapaxes(-1, -2)

        def __reduce__(self):
            return typed_array, (self.view(numpy.ndarray), self._type)

        def __deepcopy__(self, memo):
            return typed_array(self.view(numpy.ndarray).copy('K'), self._type)

        def __array_ufunc__(self, function, method, *inputs, out=None, **others):
            def plain(array):
                return array.view(numpy.ndarray) if isinstance(array, TypedArray) else array
            if out is not None:
                others['out'] = tuple(map(plain, out))
            return getattr(function, method)(*map(plain, inputs), **others)

    return TypedArray


def typed_array(bits, type):
    """A numpy array of bits, as one that tells its type."""
    result = bits.view(_class())
    result._type = type
    return result


def told_type(array):
    """The type that an array tells in this way, or None."""
    return array.type if 'numpy' in sys.modules and isinstance(array, _class()) else None
