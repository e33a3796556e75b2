"""matmul_four_bit of plain buffers on the virtual GPU. Weights and activations are such that every sum is exact in the result's type."""
import unittest

import support
import tilewright
from test_pack_weights import E2M1, along_rows, codes_of, in_bytes, matrix, two_in_bytes
from tilewright import Buffer


def sparse(generator, m, k, entries=4):
    """Rows with few entries that are not 0."""
    rows = [[0.0] * k for _ in range(m)]
    for row in rows:
        for place in generator.sample(range(k), entries):
            row[place] = generator.choice((-1.0, 1.0, 2.0))
    return rows


def product(a, weights):
    return [sum(x * y for x, y in zip(row, column) if x) for row in a for column in weights]


class FourBit(unittest.TestCase):
    def setUp(self):
        self.generator = support.generator()

    def check(self, activation, packed, weights, m=5, scale=1.0, **options):
        a = sparse(self.generator, m, len(weights[0]))
        d = tilewright.matmul_four_bit(matrix(a, activation), packed, **options)
        self.assertEqual((d.shape, d.type), ((m, len(weights)), 'bf16' if activation == 'e4m3' else activation))
        self.assertEqual(d.values(), [scale * value for value in product(a, weights)])

    def test_mxfp4(self):
        n, k = 72, 160
        codes = codes_of(self.generator, n, k)
        scales = [[self.generator.choice((126, 127, 130))] * (k // 32) for _ in range(n)]
        weights = [[E2M1[codes[row][i]] * 2.0 ** (scales[row][i // 32] - 127) for i in range(k)] for row in range(n)]
        packed = tilewright.pack_weights(in_bytes(two_in_bytes(codes)), in_bytes(scales), layout='mxfp4')
        self.assertEqual(packed.exponent, 2)
        self.check('bf16', packed, weights)
        self.check('bf16', packed, weights, weights_are_constant=True, scale=-2.0, epilogue=tilewright.Epilogue(alpha=-2.0))

    def test_mxfp4_for_e4m3(self):
        """Scales of 2^-5 to 2^6, and what is above or below them."""
        n, k = 72, 160
        codes = codes_of(self.generator, n, k)
        scales = [[self.generator.choice((122, 127, 133))] * (k // 32) for _ in range(n)]
        scales[0] = [122, 123, 127, 132, 133]
        weights = [[E2M1[codes[row][i]] * 2.0 ** (scales[row][i // 32] - 127) for i in range(k)] for row in range(n)]
        pack = lambda scales, codes=codes, **options: tilewright.pack_weights(in_bytes(two_in_bytes(codes)), in_bytes(scales), layout='mxfp4',
                                                                              activation='e4m3', **options)
        packed = pack(scales)
        self.assertEqual(packed.exponent, 0)
        rows = sparse(self.generator, 5, k, 1)
        d = tilewright.matmul_four_bit(matrix(rows, 'e4m3'), packed)
        self.assertEqual((d.type, d.values()), ('bf16', product(rows, weights)))
        d = tilewright.matmul_four_bit(matrix(rows, 'e4m3'), packed, epilogue=tilewright.Epilogue(row_scale=Buffer.of([0.5, 1, 2, 4, 8], (5,), 'fp32')))
        self.assertEqual(d.values(), [value * 2.0 ** (place // n - 1) for place, value in enumerate(product(rows, weights))])
        halves = [[2.0 ** -(row + block) for block in range(2)] for row in range(5)]
        d = tilewright.matmul_four_bit(matrix(rows, 'e4m3'), packed, a_scales=matrix(halves, 'fp32'))
        scaled = [[value * halves[place][i // 128] for i, value in enumerate(row)] for place, row in enumerate(rows)]
        self.assertEqual(d.values(), product(scaled, weights))
        smaller = pack([[scale - 20 for scale in row] for row in scales])
        self.assertEqual(smaller.exponent, -20)
        d = tilewright.matmul_four_bit(matrix(rows, 'e4m3'), smaller)
        self.assertEqual(d.values(), [value * 2.0 ** -20 for value in product(rows, weights)])
        for place, code in ((3, 121), (4, 134)):
            spread = [row[:] for row in scales]
            spread[0][place] = code
            with self.assertRaises(tilewright.Unsupported) as caught:
                pack(spread, exponent=0)
            self.assertIn('1 scales do not fit: with exponent = 0, those of weights for e4m3 that are not 0 must be from 2^-5 to 2^6.',
                          str(caught.exception))
            still = [row[:] for row in codes]
            still[0][32 * place:32 * place + 32] = [0] * 32
            pack(spread, still, exponent=0)
        with self.assertRaises(tilewright.Invalid) as caught:
            tilewright.pack_weights(Buffer.zeros((16, 64), 's8'), Buffer.zeros((16, 8), 'e4m3'), layout='nvfp4', activation='e4m3')
        self.assertIn('Weights of nvfp4 times their scales are no numbers of e4m3', str(caught.exception))

    def test_nvfp4(self):
        n, k = 64, 128
        codes = codes_of(self.generator, n, k)
        scales = [[self.generator.choice((0.5, 1.0))] * (k // 16) for _ in range(n)]
        weights = [[E2M1[codes[row][i]] * scales[row][i // 16] for i in range(k)] for row in range(n)]
        packed = tilewright.pack_weights(in_bytes(two_in_bytes(codes)), matrix(scales, 'e4m3'), layout='nvfp4', tensor_scale=0.25)
        self.check('bf16', packed, weights, scale=0.25)

    def test_int4(self):
        n, k = 64, 128
        codes = codes_of(self.generator, n, k)
        weights = [[0.5 * (code - 8) for code in row] for row in codes]
        for activation in ('bf16', 'fp16'):
            packed = tilewright.pack_weights(matrix(along_rows(codes), 's32'), Buffer.of([0.5] * n, (n, 1), activation),
                                             layout='compressed_tensors')
            self.check(activation, packed, weights)

    def test_experts(self):
        """Rows one behind the other: of three experts, the second has none; the last row is nobody's."""
        n, k, sizes = 72, 160, (3, 0, 18)
        codes = [codes_of(self.generator, n, k) for _ in sizes]
        scales = [[[self.generator.choice((126, 127))] * (k // 32) for _ in range(n)] for _ in sizes]
        weights = [[[E2M1[code] * 2.0 ** (scale[0] - 127) for code in row] for row, scale in zip(*expert)] for expert in zip(codes, scales)]
        flat = lambda experts: [(byte ^ 128) - 128 for matrix in experts for row in matrix for byte in row]
        packed = tilewright.pack_weights(Buffer.of(flat(map(two_in_bytes, codes)), (3, n, k // 2), 's8'), Buffer.of(flat(scales), (3, n, k // 32), 's8'),
                                         layout='mxfp4')
        a = sparse(self.generator, sum(sizes) + 1, k)
        ends = Buffer.of([3, 3, 21], (3,), 's32')
        d = tilewright.matmul_four_bit(matrix(a, 'bf16'), packed, Buffer.of([7.0] * 22 * n, (22, n), 'bf16'), rows=ends)
        right = product(a[:3], weights[0]) + product(a[3:21], weights[2]) + [7.0] * n
        self.assertEqual(d.values(), right)
        index = [self.generator.randrange(5) for _ in range(21)] + [0]
        index[4] = -1  # zeros
        taken = [[0.0] * k if i < 0 else a[i] for i in index]
        d = tilewright.matmul_four_bit(matrix(a[:5], 'bf16'), packed, Buffer.of([7.0] * 22 * n, (22, n), 'bf16'), rows=ends,
                                       row_index=Buffer.of(index, (22,), 's32'))
        self.assertEqual(d.values(), product(taken[:3], weights[0]) + product(taken[3:21], weights[2]) + [7.0] * n)
        d = tilewright.matmul_four_bit(matrix(a[:21], 'bf16'), packed, Buffer.of([7.0] * 21 * n, (21, n), 'bf16'), capacity=7,
                                       rows=Buffer.of([2, 0, 7], (3,), 's32'))
        self.assertEqual(d.values(), product(a[:2], weights[0]) + [7.0] * 12 * n + product(a[14:21], weights[2]))
        with self.assertRaises(tilewright.Invalid) as caught:
            tilewright.matmul_four_bit(matrix(a, 'bf16'), packed, row_index=ends)
        self.assertIn('row_index is given, but no rows', str(caught.exception))
        for wrong in (), (1, 22), (22, 1):
            with self.subTest(wrong), self.assertRaises(tilewright.Invalid) as caught:
                tilewright.matmul_four_bit(matrix(a, 'bf16'), packed, rows=ends, row_index=Buffer.zeros(wrong, 's32'))
            self.assertIn(f'row_index has shape {wrong}, but must be [m].', str(caught.exception))
        for text, of, given in (('not [experts, n, k]', matrix(a, 'bf16'), ends), ('a has shape (3, 7, 160)', Buffer.zeros((3, 7, k), 'bf16'), ends),
                                ('rows has 2 elements', matrix(a, 'bf16'), Buffer.of([3, 3], (2,), 's32')),
                                ('rows has type', matrix(a, 'bf16'), Buffer.of([3.0] * 3, (3,), 'fp32'))):
            alone = tilewright.pack_weights(Buffer.zeros((n, k // 2), 's8'), Buffer.zeros((n, k // 32), 's8'), layout='mxfp4')
            with self.subTest(text), self.assertRaises(tilewright.Invalid) as caught:
                tilewright.matmul_four_bit(of, alone if text.startswith('not') else packed, rows=given)
            self.assertIn(text, str(caught.exception))

    def test_refusals(self):
        packed = tilewright.pack_weights(Buffer.zeros((16, 64), 's8'), Buffer.zeros((16, 4), 's8'), layout='mxfp4')
        for text, a, weights in (('a has shape (4, 64)', Buffer.zeros((4, 64), 'bf16'), packed),
                                 ('a has type fp16, but the weights were packed for bf16', Buffer.zeros((4, 128), 'fp16'), packed),
                                 ('weights is a Buffer', Buffer.zeros((4, 128), 'bf16'), packed.data)):
            with self.assertRaises(tilewright.Invalid) as caught:
                tilewright.matmul_four_bit(a, weights)
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(tilewright.Invalid):
            tilewright.matmul(Buffer.zeros((4, 128), 'bf16'), packed)
        with self.assertRaises(tilewright.Unsupported) as caught:
            tilewright.matmul_four_bit(Buffer.zeros((4, 128), 'bf16'), packed, target='sm100a')
        self.assertIn('products with block scales take MXFP4 and NVFP4 there as they lie', str(caught.exception))
        packed = tilewright.pack_weights(Buffer.zeros((16, 16), 's32'), Buffer.zeros((16, 1), 'bf16'), layout='compressed_tensors')
        with self.assertRaises(tilewright.Unsupported) as caught:
            tilewright.matmul_four_bit(Buffer.zeros((4, 128), 'bf16'), packed, target='sm100a')
        self.assertIn('on sm100a, and none there multiplies by int4 at all', str(caught.exception))


if __name__ == '__main__':
    unittest.main()
