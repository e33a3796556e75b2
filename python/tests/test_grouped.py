"""Products of plain buffers in groups, on the virtual GPU, against the definition."""
import unittest

import support
import tilewright

SIZES = (3, 0, 1, 5)


class Grouped(unittest.TestCase):
    n, k = 24, 32

    def setUp(self):
        random = support.generator()
        self.a = support.integers(random, 12 * self.k)
        self.b = support.integers(random, len(SIZES) * self.n * self.k)  # [groups, n, k]
        self.b_buffer = tilewright.Buffer.of(self.b, (len(SIZES), self.n, self.k), 'bf16').T
        self.ends = tilewright.Buffer.of([3, 3, 4, 9], (4,), 's32')

    def row(self, source, group):
        weights = self.b[group * self.n * self.k:(group + 1) * self.n * self.k]
        values = self.a[source * self.k:(source + 1) * self.k]
        return [sum(x * w for x, w in zip(values, weights[column * self.k:(column + 1) * self.k]))
                for column in range(self.n)]

    def expected(self, sources):
        groups = [group for group, size in enumerate(SIZES) for _ in range(size)]
        return [value for source, group in zip(sources, groups) for value in self.row(source, group)]

    def test_one_behind_the_other(self):
        a = tilewright.Buffer.of(self.a, (12, self.k), 'bf16')
        out = tilewright.Buffer.of([7] * 12 * self.n, (12, self.n), 'bf16')
        for target in ('sm80', 'sm90a', 'sm100a'):
            self.assertIs(tilewright.matmul_grouped(a, self.b_buffer, self.ends, out, target=target), out)
            self.assertEqual(out.values(), self.expected(range(9)) + [7] * 3 * self.n)

    def test_capacity(self):
        a = tilewright.Buffer.of(self.a, (4, 3, self.k), 'bf16')
        counts = tilewright.Buffer.of([3, 0, 1, 2], (4,), 's32')
        d = tilewright.matmul_grouped(a, self.b_buffer, counts)
        self.assertEqual(d.shape, (4, 3, self.n))
        zeros = [0] * self.n
        self.assertEqual(d.values(), [value for rows in (
            self.row(0, 0), self.row(1, 0), self.row(2, 0), zeros, zeros, zeros, self.row(6, 2), zeros, zeros,
            self.row(9, 3), self.row(10, 3), zeros) for value in rows])

    def test_rows_by_an_index(self):
        a = tilewright.Buffer.of(self.a, (12, self.k), 'bf16')
        sources = [11, 2, 2, 0, 7, 7, 1, 10, 3]
        index = tilewright.Buffer.of(sources, (9,), 's32')
        d = tilewright.matmul_grouped(a, self.b_buffer, self.ends, row_index=index)
        self.assertEqual(d.values(), self.expected(sources))

    def test_scales_of_blocks(self):
        a = tilewright.Buffer.of(self.a, (12, self.k), 'e4m3')
        b = tilewright.Buffer.of(self.b, (4, self.n, self.k), 'e4m3').T
        a_scales = [1, 2, 4] * 4
        b_scales = [1, 2, 0.5, 4]
        d = tilewright.matmul_grouped(a, b, self.ends, a_scales=tilewright.Buffer.of(a_scales, (12, 1), 'fp32'),
                                      b_scales=tilewright.Buffer.of(b_scales, (4, 1, 1), 'fp32'))
        groups = [group for group, size in enumerate(SIZES) for _ in range(size)]
        self.assertEqual(d.values()[:9 * self.n], [
            value * a_scales[i] * b_scales[group] for i, group in enumerate(groups) for value in self.row(i, group)])

    def test_refusals(self):
        a = tilewright.Buffer.of(self.a, (12, self.k), 'bf16')
        new = tilewright.Buffer.zeros
        for sentence, call in (
                ('rows has shape (3,) and strides (1,), but must be 4 values',
                 lambda: tilewright.matmul_grouped(a, self.b_buffer, new((3,), 's32'))),
                ('rows has type fp32, but must be s32',
                 lambda: tilewright.matmul_grouped(a, self.b_buffer, new((4,), 'fp32'))),
                ('a must be [m, k] or [groups, capacity, k], and b [groups, k, n]',
                 lambda: tilewright.matmul_grouped(a, a.T, self.ends)),
                ('which is a capacity for each group, but b has 4 groups',
                 lambda: tilewright.matmul_grouped(new((3, 4, self.k), 'bf16'), self.b_buffer, self.ends)),
                ('out has shape (12, 12), but the product has shape (12, 24)',
                 lambda: tilewright.matmul_grouped(a, self.b_buffer, self.ends, new((12, 12), 'bf16'))),
                ('One of a_scales and b_scales is given',
                 lambda: tilewright.matmul_grouped(a, self.b_buffer, self.ends, a_scales=new((12, 1), 'fp32'))),
                ("There is no instance 'zebra' of grouped",
                 lambda: tilewright.matmul_grouped(a, self.b_buffer, self.ends, instance='zebra'))):
            with self.assertRaises(tilewright.Invalid) as caught:
                call()
            self.assertIn(sentence, str(caught.exception))

    def test_a_type_that_nobody_tells(self):
        a, b = tilewright.Buffer.zeros((8, 8), 'bf16'), tilewright.Buffer.zeros((1, 8, 8), 'bf16')
        with self.assertRaisesRegex(tilewright.Invalid, 'rows has elements of 8 bytes that are no int32, but must be int32'):
            tilewright.matmul_grouped(a, b, memoryview(bytes(8)).cast('q', (1,)))


if __name__ == '__main__':
    unittest.main(verbosity=2)
