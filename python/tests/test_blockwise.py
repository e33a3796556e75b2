"""FP8 products of plain buffers with scales of blocks, on the virtual GPU, against the definition."""
import math
import unittest

import support
import tilewright


def product(a, b, a_scales, b_scales, m, n, k, columns_of_scale):
    """All in the order of rows: a is m by k, b k by n, a_scales m by blocks, b_scales blocks by columns."""
    blocks, columns = -(-k // 128), -(-n // columns_of_scale)
    return [sum(a_scales[row * blocks + i // 128] * a[row * k + i] * b[i * n + column]
                * b_scales[i // 128 * columns + column // columns_of_scale] for i in range(k))
            for row in range(m) for column in range(n)]


def columns_first(values, rows, columns):
    """The same matrix, columns one after the other."""
    return [values[row * columns + column] for column in range(columns) for row in range(rows)]


class Blockwise(unittest.TestCase):
    m, n, k = 9, 130, 304

    def setUp(self):
        random = support.generator()
        self.a, self.b = (support.integers(random, count, 1) for count in (self.m * self.k, self.k * self.n))
        self.a_scales = [random.choice((0.5, 1, 2)) for _ in range(self.m * 3)]
        self.a_buffer = tilewright.Buffer.of(self.a, (self.m, self.k), 'e4m3')
        self.b_buffer = self.weight('e4m3')
        self.a_scale_buffer = tilewright.Buffer.of(self.a_scales, (self.m, 3), 'fp32')

    def weight(self, type):
        """b, as the transpose of a weight whose rows are contiguous."""
        return tilewright.Buffer.of(columns_first(self.b, self.k, self.n), (self.n, self.k), type).T

    def scales(self, columns):
        random = support.generator()
        values = [random.choice((0.5, 1, 2)) for _ in range(3 * columns)]
        return values, tilewright.Buffer.of(columns_first(values, 3, columns), (columns, 3), 'fp32').T

    def test_every_target(self):
        values, buffer = self.scales(2)
        expected = product(self.a, self.b, self.a_scales, values, self.m, self.n, self.k, 128)
        for target in ('sm80', 'sm90a', 'sm100a'):
            d = tilewright.matmul_blockwise(self.a_buffer, self.b_buffer, self.a_scale_buffer, buffer, target=target)
            self.assertEqual((d.shape, d.type), ((self.m, self.n), 'bf16'))
            self.assertEqual(d.values(), expected)
        d = tilewright.matmul_blockwise(self.a_buffer, self.b_buffer, self.a_scale_buffer, buffer, powers_of_two=True,
                                        target='sm100a', instance='blockwise_mx_128x128')
        self.assertEqual(d.values(), expected)

    def test_scales_of_columns_and_column_major_ones(self):
        values, buffer = self.scales(self.n)
        expected = product(self.a, self.b, self.a_scales, values, self.m, self.n, self.k, 1)
        a = tilewright.Buffer.of(self.a, (self.m, self.k), 'e5m2')
        by_columns = tilewright.Buffer.of(columns_first(self.a_scales, self.m, 3), (3, self.m), 'fp32').T
        d = tilewright.matmul_blockwise(a, self.b_buffer, by_columns, buffer, out_dtype='fp32')
        self.assertEqual(d.values(), expected)

    def test_quantised_again(self):
        """As quantise_blocks makes it of the product, bit by bit: its sums are exact."""
        values, buffer = self.scales(2)
        given = self.a_buffer, self.b_buffer, self.a_scale_buffer, buffer
        expected = product(self.a, self.b, self.a_scales, values, self.m, self.n, self.k, 128)
        d = tilewright.Buffer.of([max(value, 0) for value in expected], (self.m, self.n), 'fp32')
        for column_major in (False, True):
            right = tilewright.quantise_blocks(d, column_major=column_major)
            made = tilewright.matmul_requantised(*given, epilogue=tilewright.Epilogue(activation='relu'),
                                                 column_major=column_major)
            out = tilewright.quantise_blocks(d)  # other memory
            again = tilewright.matmul_requantised(*given, out, epilogue=tilewright.Epilogue(activation='relu'))
            self.assertIs(again[0], out[0])
            for one in (made, again):
                self.assertEqual((one[0].shape, one[0].type, one[1].shape), ((self.m, self.n), 'e4m3', (self.m, 2)))
                self.assertEqual(one[0].values(), right[0].values())
                self.assertEqual(one[1].values(), right[1].values())
        with self.assertRaisesRegex(tilewright.Invalid, 'must have shape .9, 2. and be writable'):
            tilewright.matmul_requantised(*given, (out[0], self.a_scale_buffer))
        with self.assertRaisesRegex(tilewright.Invalid, 'The epilogue has a gate'):
            tilewright.matmul_requantised(*given, epilogue=tilewright.Epilogue(gated=True))

    def test_shapes_of_groups(self):
        """Where rows come in groups, a is one matrix, b one for each group, and both refusals name what was given."""
        ends = tilewright.Buffer.of([1, 2], (2,), 's32')
        a = lambda *shape: tilewright.Buffer.zeros((*shape, 128), 'e4m3')
        b = lambda *shape: tilewright.Buffer.zeros((*shape, 256, 128), 'e4m3').T
        scales = lambda *shape: tilewright.Buffer.of([1.0] * math.prod(shape), shape, 'fp32')
        for sentence, given in ((r'a has shape \(3, 2, 128\), but where rows come in groups it must be \[m, k\]', (a(3, 2), b(2), scales(3, 2, 1), scales(2, 1, 2))),
                                (r'a has shape \(1, 2, 128\), but', (a(1, 2), b(2), scales(1, 2, 1), scales(2, 1, 2))),
                                (r'b has shape \(128, 256\), but where rows come in groups it must be \[groups, k, n\]', (a(2), b(), scales(2, 1), scales(1, 2)))):
            with self.assertRaisesRegex(tilewright.Invalid, sentence):
                tilewright.matmul_requantised(*given, rows=ends, gated_blocks=True)

    def test_epilogue_and_batch(self):
        values, buffer = self.scales(2)
        expected = product(self.a, self.b, self.a_scales, values, self.m, self.n, self.k, 128)
        bias = support.integers(support.generator(), self.n)
        twice = [tilewright.Buffer.of(numbers * 2, (2, self.m, columns), type)
                 for numbers, columns, type in ((self.a, self.k, 'e4m3'), (self.a_scales, 3, 'fp32'))]
        d = tilewright.matmul_blockwise(twice[0], self.b_buffer, twice[1], buffer, epilogue=tilewright.Epilogue(
            bias=tilewright.Buffer.of(bias, (self.n,), 'fp32'), activation='relu'))
        right = [max(0, value + bias[i % self.n]) for i, value in enumerate(expected)]
        self.assertEqual((d.shape, d.values()), ((2, self.m, self.n), right * 2))

    def test_refusals(self):
        _, buffer = self.scales(2)
        call = lambda a_scales=self.a_scale_buffer, b_scales=buffer, **rest: tilewright.matmul_blockwise(
            self.a_buffer, self.b_buffer, a_scales, b_scales, **rest)
        new = lambda shape, type='fp32': tilewright.Buffer.zeros(shape, type)
        spread = tilewright.Buffer(bytearray(4096), (self.m, 3), 'fp32', (8, 2))
        narrow = tilewright.Buffer(bytearray(4096), (self.m, 3), 'fp32', (2, 1))
        odd = tilewright.Buffer(None, (8 * self.m, 3), 'e4m3')  # bytes that begin at a multiple of 4, and one more
        view = memoryview(odd.data)[odd.offset + 1:odd.offset + 1 + 12 * self.m]
        unaligned = tilewright.Buffer(view, (self.m, 3), 'fp32')
        for sentence, attempt in (
                ('a_scales has shape (3, 9), but must end in (9, 3): one for each row of a and each 128 of k.',
                 lambda: call(new((3, 9)))),
                ('b_scales has shape (2, 3), but must end in (3, 2): one for each 128 of k and each 128 columns of b, '
                 'or (3, 130): one for each column.', lambda: call(b_scales=new((2, 3)))),
                ('The scales of A have type bf16, but must be fp32.', lambda: call(new((self.m, 3), 'bf16'))),
                ('The scales of A have a row_stride of 8 and a k_stride of 2, but one of them must be 1.',
                 lambda: call(spread)),
                ('The pitch of the scales of A is 2 elements, but its lines have 3.', lambda: call(narrow)),
                ('The address of the scales of A is not a multiple of 4 bytes', lambda: call(unaligned)),
                ("There is no instance 'zebra' of blockwise", lambda: call(instance='zebra')),
                ('out has shape (3, 9), but the product has shape (9, 130)', lambda: call(out=new((3, 9), 'bf16')))):
            with self.assertRaises(tilewright.Invalid) as caught:
                attempt()
            self.assertIn(sentence, str(caught.exception))
        with self.assertRaisesRegex(tilewright.Unsupported, 'product with scales of blocks on sm90a. The nearest, '):
            call(out_dtype='fp16')


if __name__ == '__main__':
    unittest.main(verbosity=2)
