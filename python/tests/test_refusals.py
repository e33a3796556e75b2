"""Numbers, names and objects that no problem can hold are refused with a sentence: nothing is cut, nothing else is raised."""
import ctypes
import unittest

import support
import tilewright
from tilewright import Buffer, Epilogue, Invalid, _library

BEYOND = 1 << 64  # what ctypes cuts to 0


class Integers(unittest.TestCase):
    def test_the_ends(self):
        for value in (-1 << 63, -1, 0, (1 << 63) - 1):
            self.assertEqual(_library.integer('m', value), value)
        for value in ((-1 << 63) - 1, 1 << 63, BEYOND + 1):
            with self.assertRaisesRegex(Invalid, f'm is {value}, but must be from -9223372036854775808 to '):
                _library.integer('m', value)
        for value in (1.5, '3', None):
            with self.assertRaisesRegex(Invalid, 'but must be an integer'):
                _library.integer('m', value)

    def test_no_field_is_cut(self):
        """Every integer of every struct, by the helper that all problems are filled with."""
        for struct in _library.STRUCTS.values():
            for name, kind in struct._fields_:
                if kind is not ctypes.c_int64:
                    continue
                filled = struct()
                with self.assertRaisesRegex(Invalid, f'{name} of it is {BEYOND + 8}, but must be from'):
                    _library.set_integers(filled, 'it', **{name: BEYOND + 8})
                self.assertEqual(getattr(filled, name), 0)


class Interface:
    """Memory that says of itself what it likes."""

    def __init__(self, **interface):
        self.memory = bytearray(4096)
        self.__array_interface__ = {'version': 3, 'typestr': '<f4', 'shape': (8, 8), 'strides': None,
                                    'data': (ctypes.addressof(ctypes.c_char.from_buffer(self.memory)), False),
                                    **interface}


class Memory(unittest.TestCase):
    def refused(self, sentence, array):
        with self.assertRaisesRegex(Invalid, sentence):
            tilewright.matmul(array, Buffer.zeros((8, 8), 'fp32'))

    def test_a_sound_interface(self):
        self.assertEqual(tilewright.matmul(Interface(), Buffer.zeros((8, 8), 'fp32').T).values(), [0.0] * 64)

    def test_shapes_and_strides_beyond_64_bits(self):
        self.refused(f'An extent is {BEYOND + 8}, but must be from 0 to', Interface(shape=(BEYOND + 8, 8)))
        self.refused('An extent is -8, but must be from 0 to', Interface(shape=(-8, 8)))
        self.refused(f'A stride is {BEYOND + 8}, but', Interface(strides=(4 * (BEYOND + 8), 4)))
        self.refused('An address is', Interface(data=(BEYOND + 4096, False)))

    def test_interfaces_that_tell_no_numbers(self):
        for interface in ({}, {'typestr': '|O'}, {'typestr': '|O', 'shape': (8, 8)}, {'typestr': 5, 'shape': (8, 8)},
                          {'typestr': '<f4'}):
            array = Interface()
            array.__array_interface__ = interface
            self.refused('The __array_interface__ of a tells no shape of numbers', array)

    def test_another_dlpack(self):
        class Foreign:
            def __dlpack__(self):
                new = ctypes.pythonapi.PyCapsule_New
                new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
                return new(1, b'another', None)

            def __dlpack_device__(self):
                return 1, 0

        self.refused('but must give a capsule "dltensor"', Foreign())

    def test_buffers(self):
        for shape, strides, offset in (((-1, 4), None, 0), ((1.5, 4), None, 0), ((2, 4), (BEYOND, 1), 0),
                                       ((2, 4), None, BEYOND)):
            with self.assertRaises(Invalid):
                Buffer(None, shape, 'bf16', strides, offset)


class Words(unittest.TestCase):
    def refused(self, sentence, **given):
        a = Buffer.zeros((8, 8), 'bf16')
        with self.assertRaisesRegex(Invalid, sentence):
            tilewright.matmul(a, a, **given)

    def test_names(self):
        self.refused('instance is 5, but must be a name, or None', instance=5)
        self.refused(r"instance is 'any_bf16\\x00x', but must be a name", instance='any_bf16\0x')
        self.refused('target is 90, but must be a name', target=90)

    def test_activations(self):
        for activation in (5, ('clamp',), object()):
            self.refused('is neither a word nor', epilogue=Epilogue(activation=activation))

    def test_types_that_nobody_tells(self):
        """The sentence names the argument that tells the type, and the types of that size."""
        two, one, eight = (memoryview(bytes(64 * size)).cast(code, (8, 8))
                           for code, size in (('H', 2), ('B', 1), ('d', 8)))
        sound = Buffer.zeros((8, 8), 'bf16')
        cases = [
            (r"a has elements of 2 bytes, but which type they are must be said \(bf16 or fp16\): "
             r"a_type='bf16', or tilewright.Buffer\(a, a.shape, 'bf16'\)", lambda: tilewright.matmul(two, sound)),
            (r"b has elements of 1 byte, but .* \(e4m3 or e5m2 or s8\): b_type='e4m3', or",
             lambda: tilewright.matmul(sound, one)),
            ('a has elements of 8 bytes, but no type has so many; there are bf16 \\(2\\)',
             lambda: tilewright.matmul(eight, sound)),
            (r"source has elements of 2 bytes, but .* \(bf16 or fp16\): tilewright.Buffer\(source",
             lambda: tilewright.matmul(sound, sound, epilogue=Epilogue(source=two))),
        ]
        for sentence, call in cases:
            with self.assertRaisesRegex(Invalid, sentence):
                call()


if __name__ == '__main__':
    unittest.main()
