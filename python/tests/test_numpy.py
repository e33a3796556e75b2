"""numpy arrays, and what else tells its memory, on the virtual GPU."""
import unittest

import support

support.need('numpy')

import numpy

import tilewright


class Numpy(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(7)

    def integers(self, *shape, dtype=None):
        return self.random.integers(-3, 4, shape).astype(dtype or numpy.float32)

    def test_types(self):
        for dtype, result in ((numpy.float32, numpy.float32), (numpy.float16, numpy.float16),
                              (numpy.int8, numpy.int32)):
            a, b = self.integers(5, 16, dtype=dtype), self.integers(24, 16, dtype=dtype).T
            d = tilewright.matmul(a, b)
            self.assertEqual((d.dtype, d.shape), (result, (5, 24)))
            numpy.testing.assert_array_equal(d, a.astype(int) @ b.astype(int))

    def test_bf16_is_bits(self):
        a, b = self.integers(5, 16), self.integers(16, 24)
        d = tilewright.matmul(tilewright.to_bf16(a), tilewright.to_bf16(b), a_type='bf16',
                              b_type='bf16')
        self.assertEqual(d.dtype, numpy.uint16)
        numpy.testing.assert_array_equal(tilewright.from_bf16(d), a @ b)
        out = numpy.zeros((5, 24), numpy.uint16)
        given = dict(a_type='bf16', b_type='bf16', out=out)
        with self.assertRaisesRegex(tilewright.Invalid, 'out has elements of 2 bytes, but which'):
            tilewright.matmul(tilewright.to_bf16(a), tilewright.to_bf16(b), **given)
        tilewright.matmul(tilewright.to_bf16(a), tilewright.to_bf16(b), out_dtype='bf16', **given)
        numpy.testing.assert_array_equal(out, d)

    def test_conversion_is_the_buffers(self):
        values = numpy.concatenate([self.random.standard_normal(500) * 10.0**e
                                    for e in (-38, -3, 0, 37)] + [[0.0, -0.0, numpy.inf]])
        values = values.astype(numpy.float32)
        buffer = tilewright.Buffer.of(values.tolist(), values.shape, 'bf16')
        numpy.testing.assert_array_equal(tilewright.from_bf16(tilewright.to_bf16(values)),
                                         numpy.array(buffer.values(), numpy.float32))
        self.assertTrue(numpy.isnan(tilewright.from_bf16(tilewright.to_bf16([numpy.nan]))[0]))

    def test_views(self):
        wide = tilewright.to_bf16(self.integers(12, 40))
        a, b = wide[2:7, 8:24], tilewright.to_bf16(self.integers(24, 16)).T
        d = tilewright.matmul(a, b, a_type='bf16', b_type='bf16', out_dtype='fp32')
        numpy.testing.assert_array_equal(d, tilewright.from_bf16(a) @ tilewright.from_bf16(b))
        with self.assertRaisesRegex(tilewright.Invalid, 'one of them must be 1'):
            tilewright.matmul(wide[::2, ::2][:, :16], b, a_type='bf16', b_type='bf16')
        frozen = numpy.zeros((5, 24), numpy.float32)
        frozen.flags.writeable = False
        with self.assertRaisesRegex(tilewright.Invalid, 'read-only'):
            tilewright.matmul(a, b, frozen, a_type='bf16', b_type='bf16')

    def test_batch_and_bias(self):
        a, b = self.integers(3, 5, 16), self.integers(24, 16).T
        bias = self.integers(24)
        d = tilewright.matmul(a, b, epilogue=tilewright.Epilogue(bias=bias, activation='relu'))
        numpy.testing.assert_array_equal(d, numpy.maximum(a @ b + bias, 0))

    def test_results_keep_their_type(self):
        """The example of docs/python.md: what quantise_blocks makes, matmul_blockwise takes."""
        x, w = self.integers(20, 256), self.integers(24, 256)
        x[:, ::128] = w[:, ::128] = 3.5  # the largest of every block: scales are 2^-7, elements exact
        right = tilewright.to_bf16(x @ w.T)
        x, x_scales = tilewright.quantise_blocks(x, column_major=True)
        w, w_scales = tilewright.quantise_blocks(w, scale_rows=128)
        self.assertEqual((x.type, x.dtype, w.mT.type), ('e4m3', numpy.uint8, 'e4m3'))
        d = tilewright.matmul_blockwise(x, w.mT, x_scales, w_scales.T)
        self.assertEqual((d.type, d[2:, ::3].copy().type), ('bf16', 'bf16'))
        numpy.testing.assert_array_equal(d, right)

    def test_types_are_of_bits_only(self):
        bits = tilewright.to_bf16(self.integers(5, 16))
        self.assertEqual((bits.type, bits.T.type), ('bf16', 'bf16'))
        for other in (bits + 1, bits.view(numpy.int16), bits.astype(numpy.float32), bits.sum(0)):
            self.assertIsNone(getattr(other, 'type', None))
        with self.assertRaisesRegex(tilewright.Invalid, 'b is an array of bf16, not of fp16'):
            tilewright.matmul(bits, bits.T, b_type='fp16')

    def test_dlpack(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **arguments):
                return self.array.__dlpack__(**arguments)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        a, b = self.integers(5, 16), self.integers(24, 16).T
        d = tilewright.matmul(Foreign(a), Foreign(b))
        self.assertEqual(d.values(), (a @ b).ravel().tolist())


if __name__ == '__main__':
    unittest.main(verbosity=2)
