"""matmul on the virtual GPU, with the standard library alone: buffers in, buffers out."""
import array
import math
import unittest

import support
import tilewright
from support import integers, product
from tilewright import Buffer, Epilogue, Invalid, Unsupported, matmul


class Case(unittest.TestCase):
    def setUp(self):
        self.random = support.generator()

    def operands(self, m, n, k, type, layout='tn', batch=(), b_batch=()):
        """a and b in BLAS's letters, and their numbers in the order of rows."""
        def make(shape, rows, columns, transposed):
            count = math.prod(shape) * rows * columns
            numbers = integers(self.random, count)
            if not transposed:
                return Buffer.of(numbers, (*shape, rows, columns), type), numbers
            held = Buffer.of(numbers, (*shape, columns, rows), type).T
            return held, held.values()
        a, a_numbers = make(batch, m, k, layout[0] == 'n')
        b, b_numbers = make(b_batch, k, n, layout[1] == 'n')
        return a, b, a_numbers, b_numbers


class Products(Case):
    def check(self, m, n, k, type='bf16', layout='tn', out_dtype=None, expected_type=None, **more):
        a, b, a_numbers, b_numbers = self.operands(m, n, k, type, layout)
        d = matmul(a, b, out_dtype=out_dtype, **more)
        self.assertEqual((d.shape, d.type), ((m, n), expected_type or out_dtype))
        self.assertEqual(d.values(), product(a_numbers, b_numbers, m, n, k))

    def test_types(self):
        for type, expected in (('bf16', 'bf16'), ('fp16', 'fp16'), ('fp32', 'fp32'),
                               ('e4m3', 'bf16'), ('s8', 's32')):
            with self.subTest(type):
                self.check(17, 24, 16, type, expected_type=expected)

    def test_output_types(self):
        self.check(9, 40, 24, 'bf16', out_dtype='fp32')
        self.check(9, 40, 16, 's8', out_dtype='bf16')

    def test_layouts(self):
        for layout in ('tn', 'nt', 'nn', 'tt'):
            with self.subTest(layout):
                self.check(32, 24, 16, layout=layout, expected_type='bf16')

    def test_ragged(self):
        self.check(131, 70, 24, expected_type='bf16')
        self.check(5, 7, 9, expected_type='bf16', target='sm80')  # no line begins at 16 bytes

    def test_empty(self):
        self.assertEqual(matmul(Buffer.zeros((0, 8), 'bf16'), Buffer.zeros((8, 8), 'bf16')).shape,
                         (0, 8))
        d = matmul(Buffer.zeros((4, 0), 'bf16'), Buffer.zeros((0, 8), 'bf16'))
        self.assertEqual(d.values(), [0.0] * 32)

    def test_targets(self):
        for target in ('sm80', 'sm90a', 'sm100a'):
            with self.subTest(target):
                self.check(20, 24, 16, expected_type='bf16', target=target)

    def test_options(self):
        self.check(20, 24, 16, expected_type='bf16', batch_invariant=True)
        self.check(20, 24, 16, expected_type='bf16', b_is_constant=True)

    def test_strided_rows(self):
        a, b, a_numbers, b_numbers = self.operands(6, 8, 16, 'bf16')
        wide = Buffer.of([0] * (6 * 32), (6, 32), 'bf16')
        out = Buffer(wide.data, (6, 8), 'bf16', (32, 1), wide.offset + 8)
        self.assertIs(matmul(a, b, out), out)
        self.assertEqual(out.values(), product(a_numbers, b_numbers, 6, 8, 16))
        self.assertEqual(wide.values()[:8], [0.0] * 8)
        self.assertEqual(wide.values()[16:32], [0.0] * 16)

    def test_vectors(self):
        a, b, a_numbers, b_numbers = self.operands(6, 8, 16, 'bf16')
        row = Buffer.of(a_numbers[:16], (16,), 'bf16')
        d = matmul(row, b)
        self.assertEqual((d.shape, d.values()),
                         ((8,), product(a_numbers[:16], b_numbers, 1, 8, 16)))
        d = matmul(a, row)
        self.assertEqual((d.shape, d.values()),
                         ((6,), product(a_numbers, a_numbers[:16], 6, 1, 16)))
        d = matmul(row, row)
        self.assertEqual((d.shape, d.values()), ((), [sum(x * x for x in a_numbers[:16])]))

    def test_array_and_memoryview(self):
        a = memoryview(array.array('f', integers(self.random, 3 * 8))).cast('B').cast('f', (3, 8))
        b = array.array('f', integers(self.random, 5 * 8))
        d = matmul(a, Buffer(b, (5, 8), 'fp32').T)
        self.assertEqual(d.type, 'fp32')
        columns = Buffer(b, (5, 8), 'fp32').T.values()
        self.assertEqual(d.values(), product([x for row in a.tolist() for x in row], columns, 3, 5,
                                             8))

    def test_type_of_bits(self):
        a = memoryview(bytes(64)).cast('H', (2, 16))
        with self.assertRaisesRegex(Invalid, 'a has elements of 2 bytes, but which type'):
            matmul(a, Buffer.zeros((16, 8), 'bf16'))
        d = matmul(a, Buffer.zeros((16, 8), 'bf16'), a_type='bf16')
        self.assertEqual(d.values(), [0.0] * 16)
        with self.assertRaisesRegex(Invalid, 'a has elements of 2 bytes, but fp32 has 4'):
            matmul(a, Buffer.zeros((16, 8), 'fp32'), a_type='fp32')


class Batches(Case):
    def batched(self, batch, b_batch, m=3, n=8, k=8):
        a, b, a_numbers, b_numbers = self.operands(m, n, k, 'bf16', 'tn', batch, b_batch)
        d = matmul(a, b)
        a_parts = [a_numbers[i:i + m * k] for i in range(0, len(a_numbers), m * k)]
        b_parts = [b_numbers[i:i + k * n] for i in range(0, len(b_numbers), k * n)]
        count = max(len(a_parts), len(b_parts))
        expected = []
        for i in range(count):
            expected += product(a_parts[i % len(a_parts)], b_parts[i % len(b_parts)], m, n, k)
        self.assertEqual(d.values(), expected)
        return d.shape

    def test_both(self):
        self.assertEqual(self.batched((4,), (4,)), (4, 3, 8))
        self.assertEqual(self.batched((2, 3), (2, 3)), (2, 3, 3, 8))

    def test_shared(self):
        self.assertEqual(self.batched((4,), ()), (4, 3, 8))  # stacked: one product of 12 rows
        self.assertEqual(self.batched((4,), (1,)), (4, 3, 8))
        self.assertEqual(self.batched((), (4,)), (4, 3, 8))
        self.assertEqual(self.batched((2, 3), (), m=1), (2, 3, 1, 8))

    def test_stacked(self):
        from tilewright._arrays import view_of
        from tilewright._problem import PLAIN
        from tilewright.families.matmul import problem_of
        a, b = Buffer.zeros((2, 5, 3, 8), 'bf16'), Buffer.zeros((8, 16), 'bf16')
        d = Buffer.zeros((2, 5, 3, 16), 'bf16')
        views = [view_of('x', x) for x in (a, b, d)]
        problem = problem_of(*views, PLAIN.scalars(), (None,) * 7)
        self.assertEqual((problem.m, problem.batch), (30, 1))
        row_scale = view_of('x', Buffer.zeros((3,), 'fp32'))
        problem = problem_of(*views, PLAIN.scalars(), (None, None, None, row_scale) + (None,) * 3)
        self.assertEqual((problem.m, problem.batch, problem.b.batch_stride), (3, 10, 0))

    def test_refused(self):
        with self.assertRaisesRegex(Invalid, r'b \(shape .* are not one stride apart'):
            self.batched((2, 3), (2, 1))
        with self.assertRaisesRegex(Invalid, 'cannot be broadcast: 4 is not 3'):
            self.batched((4,), (3,))


class Epilogues(Case):
    def setUp(self):
        super().setUp()
        self.m, self.n, self.k = 6, 16, 8
        self.a, self.b, a, b = self.operands(self.m, self.n, self.k, 'bf16')
        self.sums = product(a, b, self.m, self.n, self.k)

    def vector(self, length, type='fp32'):
        numbers = integers(self.random, length)
        return Buffer.of(numbers, (length,), type), numbers

    def check_epilogue(self, epilogue, value, out_dtype='fp32', places=None):
        d = matmul(self.a, self.b, epilogue=epilogue, out_dtype=out_dtype)
        expected = [value(total, i // self.n, i % self.n) for i, total in enumerate(self.sums)]
        if places is None:
            self.assertEqual(d.values(), expected)
        else:
            for x, y in zip(d.values(), expected):
                self.assertAlmostEqual(x, y, places)
        return d

    def test_alpha(self):
        self.check_epilogue(Epilogue(alpha=0.5), lambda x, i, j: x / 2)

    def test_source(self):
        numbers = integers(self.random, self.m * self.n)
        source = Buffer.of(numbers, (self.m, self.n), 'bf16')
        at = lambda i, j: numbers[i * self.n + j]
        self.check_epilogue(Epilogue(source=source), lambda x, i, j: x + at(i, j))
        self.check_epilogue(Epilogue(residual=source), lambda x, i, j: x + at(i, j))
        self.check_epilogue(Epilogue(alpha=2, beta=3, source=source),
                            lambda x, i, j: 2 * x + 3 * at(i, j))
        with self.assertRaisesRegex(Invalid, 'two words for one array'):
            Epilogue(source=source, residual=source)

    def test_vectors_of_the_epilogue(self):
        bias, bias_numbers = self.vector(self.n, 'bf16')
        row_bias, row_numbers = self.vector(self.m, 'bf16')
        row_scale, row_scales = self.vector(self.m)
        column_scale, column_scales = self.vector(self.n)
        self.check_epilogue(
            Epilogue(bias=bias, row_bias=row_bias, row_scale=row_scale, column_scale=column_scale),
            lambda x, i, j: row_scales[i] * column_scales[j] * x + bias_numbers[j] + row_numbers[i])

    def test_activations(self):
        self.check_epilogue(Epilogue(activation='relu'), lambda x, i, j: max(x, 0))
        self.check_epilogue(Epilogue(activation=('clamp', -2, 3)),
                            lambda x, i, j: min(max(x, -2), 3))
        self.check_epilogue(Epilogue(activation='tanh', alpha=0.125),
                            lambda x, i, j: math.tanh(x / 8), places=5)
        self.check_epilogue(Epilogue(activation='silu', alpha=0.125),
                            lambda x, i, j: x / 8 / (1 + math.exp(-x / 8)), places=5)
        self.check_epilogue(Epilogue(activation='gelu', alpha=0.125),
                            lambda x, i, j: x / 16 * (1 + math.erf(x / 8 / math.sqrt(2))), places=5)

    def test_gate(self):
        d = matmul(self.a, self.b, epilogue=Epilogue(gated=True, activation='relu'),
                   out_dtype='fp32')
        self.assertEqual(d.shape, (self.m, self.n // 2))
        self.assertEqual(d.values(), [max(x, 0) * y for x, y in
                                      zip(self.sums[::2], self.sums[1::2])])

    def test_outputs_beside(self):
        auxiliary, amax = Buffer.zeros((self.m, self.n), 'fp32'), Buffer.zeros((1,), 'fp32')
        self.check_epilogue(Epilogue(activation='relu', auxiliary=auxiliary, amax=amax,
                                     output_scale=0.25), lambda x, i, j: max(x, 0) / 4)
        self.assertEqual(auxiliary.values(), self.sums)
        self.assertEqual(amax.values(), [max(0, *self.sums)])

    def test_refused(self):
        def refuses(text, **parts):
            with self.assertRaisesRegex(Invalid, text):
                matmul(self.a, self.b, epilogue=Epilogue(**parts))
        short = Buffer.zeros((5,), 'fp32')
        refuses('bias has shape .* must be 16 values', bias=short)
        refuses('row_scale has type bf16, but must be fp32',
                row_scale=Buffer.zeros((6,), 'bf16'))
        refuses('both must have one type', bias=Buffer.zeros((16,), 'fp32'),
                row_bias=Buffer.zeros((6,), 'bf16'))
        refuses('There is no activation \'mish\'', activation='mish')
        refuses('needs its bounds', activation='clamp')
        refuses('neither a word nor', activation=('clamp', 1))
        refuses('source has shape', source=Buffer.zeros((6, 15), 'bf16'))
        refuses('beta is 2', beta=2)
        refuses('auxiliary is written to', auxiliary=Buffer(bytes(6 * 16 * 4), (6, 16), 'fp32'))
        with self.assertRaisesRegex(Invalid, 'epilogue is a str'):
            matmul(self.a, self.b, epilogue='relu')


class Refusals(unittest.TestCase):
    def test_sentences(self):
        a, b = Buffer.zeros((4, 8), 'bf16'), Buffer.zeros((8, 16), 'bf16')
        cases = [
            (dict(a=a, b=a), 'columns \\(8\\) are not as many as b\'s rows \\(4\\)'),
            (dict(a=a, b=b, out=Buffer.zeros((4, 15), 'bf16')), 'out has shape \\(4, 15\\)'),
            (dict(a=a, b=b, out=Buffer(bytes(128), (4, 16), 'bf16')), 'read-only'),
            (dict(a=a, b=b, out_dtype='int64'), 'no type of a matrix'),
            (dict(a=a, b=b, stream=1), 'host memory'),
            (dict(a=a, b=b, instance='nothing'), 'There is no instance \'nothing\''),
            (dict(a=a, b=b, target='sm70'), 'There is no target \'sm70\''),
            (dict(a=a, b=[1, 2]), 'b is a list'),
            (dict(a=a, b=b, out=Buffer.zeros((4, 16), 'bf16'), out_dtype='fp32'), 'Buffer of bf16'),
            (dict(a=Buffer.zeros((4, 8), 's32'), b=b), 'a has type s32'),
            (dict(a=Buffer(bytes(200), (4, 8), 'bf16', (20, 2)), b=b), 'one of them must be 1'),
        ]
        for arguments, text in cases:
            with self.subTest(text), self.assertRaisesRegex(Invalid, text):
                matmul(**arguments)

    def test_unsupported(self):
        with self.assertRaises(Unsupported) as caught:
            matmul(Buffer.zeros((4, 8), 'bf16'), Buffer.zeros((8, 16), 's8'))
        self.assertEqual(caught.exception.status, 2)
        self.assertTrue(str(caught.exception).endswith('.'))

    def test_buffers(self):
        with self.assertRaisesRegex(Invalid, 'covers elements 0 to 15, but the memory has 8'):
            Buffer(bytearray(16), (4, 4), 'bf16')
        with self.assertRaisesRegex(Invalid, 'has 4 elements, but 3 values'):
            Buffer.of([1, 2, 3], (2, 2), 'bf16')
        with self.assertRaisesRegex(Invalid, 'has 2 extents'):
            Buffer(bytearray(16), (2, 2), 'bf16', (1,))


class Numbers(unittest.TestCase):
    def test_rounding(self):
        def through(type, *values):
            return Buffer.of(values, (len(values),), type).values()
        self.assertEqual(through('bf16', 1 + 2**-8, 1 + 3 * 2**-8, 1 + 5 * 2**-9),
                         [1, 1 + 2**-6, 1 + 2**-7])
        self.assertEqual(through('bf16', math.inf, 1e39, -1e39), [math.inf, math.inf, -math.inf])
        self.assertTrue(math.isnan(through('bf16', math.nan)[0]))
        self.assertEqual(through('e4m3', 448, 1000, -1000, 2**-9, 2**-10, 3 * 2**-10, 17, 19),
                         [448, 448, -448, 2**-9, 0, 2**-8, 16, 20])
        self.assertEqual(through('e5m2', 57344, 1e9, 2**-16, 5, 4.5, 5.5),
                         [57344, 57344, 2**-16, 5, 4, 6])
        self.assertTrue(math.isnan(through('e4m3', math.nan)[0]))
        self.assertEqual(through('s8', -128, 127), [-128, 127])

    def test_every_fp8_number_is_itself(self):
        for type in ('e4m3', 'e5m2'):
            bits = Buffer(bytes(range(256)), (256,), type)
            again = Buffer.of(bits.values(), (256,), type)
            for i, value in enumerate(bits.values()):
                if math.isfinite(value):
                    self.assertEqual(again.data[again.offset + i], i)


if __name__ == '__main__':
    unittest.main(verbosity=2)
