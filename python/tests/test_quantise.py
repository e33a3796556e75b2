"""Elements and scales of plain buffers, on the virtual GPU, against the definition; and products of them."""
import struct
import unittest

import support
import tilewright
from tilewright import _library
from tilewright._numbers import decode, encode

LARGEST = {'e4m3': 448.0, 'e5m2': 57344.0}


def float32(value):
    return struct.unpack('=f', struct.pack('=f', value))[0]


def quantised(values, m, k, scale_rows, type):
    """Elements and scales in the order of rows. Quotients and products of two float32 are rounded once: double is wide enough."""
    lines, blocks = -(-m // scale_rows), -(-k // 128)
    elements, scales = [0.0] * len(values), []
    for line in range(lines):
        for block in range(blocks):
            places = [row * k + column for row in range(line * scale_rows, min(m, (line + 1) * scale_rows))
                      for column in range(block * 128, min(k, (block + 1) * 128))]
            scale = float32(max(abs(values[place]) for place in places) / LARGEST[type]) or 1.0
            scales.append(scale)
            inverse = float32(1 / scale)
            for place in places:
                elements[place] = decode(encode(float32(values[place] * inverse), type), type)
    return elements, scales


class Quantise(unittest.TestCase):
    m, k = 130, 300

    def setUp(self):
        random = support.generator()
        self.values = [float32(random.gauss(0, 1) * 2.0 ** random.randint(-5, 5)) for _ in range(self.m * self.k)]
        self.values[:128] = [0.0] * 128
        self.x = tilewright.Buffer.of(self.values, (self.m, self.k), 'fp32')

    def test_against_the_definition(self):
        for target, type, scale_rows, column_major in (
                ('sm80', 'e4m3', 1, False), ('sm90a', 'e5m2', 1, True), ('sm90a', 'e4m3', 128, True),
                ('sm100a', 'e4m3', 128, False)):
            elements, scales = tilewright.quantise_blocks(
                self.x, scale_rows=scale_rows, out_dtype=type, column_major=column_major, target=target)
            right = quantised(self.values, self.m, self.k, scale_rows, type)
            lines = -(-self.m // scale_rows)
            self.assertEqual((elements.shape, elements.type), (self.x.shape, type))
            self.assertEqual((scales.shape, scales.strides),
                             ((lines, 3), (1, -(-lines // 4) * 4) if column_major else (3, 1)))
            self.assertEqual((elements.values(), scales.values()), right)

    def test_batches_and_out(self):
        x = tilewright.Buffer.of(self.values, (2, 65, self.k), 'fp32')
        elements, scales = tilewright.quantise_blocks(x, column_major=True)
        self.assertEqual((scales.shape, scales.strides), ((2, 65, 3), (65, 1, 132)))
        self.assertEqual((elements.values(), scales.values()), quantised(self.values, self.m, self.k, 1, 'e4m3'))
        out = tilewright.Buffer.zeros((2, 65, self.k), 'e4m3'), tilewright.Buffer.zeros((2, 1, 3), 'fp32')
        self.assertIs(tilewright.quantise_blocks(x, out, scale_rows=128)[1], out[1])
        half = len(self.values) // 2
        halves = [quantised(values, 65, self.k, 128, 'e4m3') for values in (self.values[:half], self.values[half:])]
        self.assertEqual(out[0].values(), halves[0][0] + halves[1][0])
        self.assertEqual(out[1].values(), halves[0][1] + halves[1][1])

    def test_powers_of_two(self):
        _, scales = tilewright.quantise_blocks(self.x, powers_of_two=True)
        real = quantised(self.values, self.m, self.k, 1, 'e4m3')[1]
        for scale, least in zip(scales.values(), real):
            self.assertTrue(scale / 2 < least <= scale and scale.hex().startswith('0x1.0000000000000p'), scale)

    def test_feeds_products(self):
        """Integers up to 7, of which every row and every block has one: scales are 1 / 64, and nothing is rounded."""
        random, n = support.generator(), 40
        x, w = ([random.randint(-7, 7) for _ in range(rows * 128)] for rows in (8, n))
        for row in range(8):
            x[row * 128] = 7
        w[5] = 7
        made = tilewright.quantise_blocks(tilewright.Buffer.of(x, (8, 128), 'bf16'), column_major=True)
        weight = tilewright.quantise_blocks(tilewright.Buffer.of(w, (n, 128), 'bf16'), scale_rows=128)
        d = tilewright.matmul_blockwise(made[0], weight[0].T, made[1], weight[1].T)
        columns = [w[column * 128 + i] for i in range(128) for column in range(n)]
        expected = support.product(x, columns, 8, n, 128)
        self.assertEqual(d.values(), tilewright.Buffer.of(expected, (8, n), 'bf16').values())

    def test_refusals(self):
        new = tilewright.Buffer.zeros
        for sentence, attempt in (
                ('scale_rows is 64, but must be 1 or 128.', lambda: tilewright.quantise_blocks(self.x, scale_rows=64)),
                ('x has shape (5,), but must be a matrix', lambda: tilewright.quantise_blocks(new((5,), 'bf16'))),
                ('The source has type e4m3, but must be bf16, fp16 or fp32.',
                 lambda: tilewright.quantise_blocks(new((5, 5), 'e4m3'))),
                ('The elements have type bf16, but must be e4m3 or e5m2.',
                 lambda: tilewright.quantise_blocks(self.x, out_dtype='bf16')),
                ('The column_stride of the source is 130, but must be 1: rows are contiguous.',
                 lambda: tilewright.quantise_blocks(tilewright.Buffer.of(self.values, (300, 130), 'fp32').T)),
                ('out is a Buffer, but must be a pair', lambda: tilewright.quantise_blocks(self.x, self.x)),
                ('The scales of out have shape (130, 2), but those of x have shape (130, 3).',
                 lambda: tilewright.quantise_blocks(self.x, (new((130, 300), 'e4m3'), new((130, 2), 'fp32')))),
                ("There is no instance 'zebra' of quantise", lambda: tilewright.quantise_blocks(self.x, instance='zebra'))):
            with self.assertRaises(tilewright.Invalid) as caught:
                attempt()
            self.assertIn(sentence, str(caught.exception))

    def test_description(self):
        described = _library.describe('quantise')
        self.assertEqual([number['name'] for number in described['numbers']],
                         ['m', 'k', 'batch', 'scale_rows', 'powers_of_two'])
        source, elements, scales = described['tensors']
        self.assertEqual(source['flow'], 'read')
        self.assertEqual(source['types'], ['bf16', 'fp16', 'fp32'])
        self.assertEqual(source['extents'], {'batch': 'batch', 'rows': 'm', 'columns': 'k'})
        self.assertEqual(source['fields']['row_stride']['path'], 'source.row_stride')
        self.assertEqual(elements['flow'], 'written')
        self.assertEqual(elements['usual_type'], 'e4m3')
        self.assertEqual(scales['extents'], {'batch': 'batch', 'rows': None, 'columns': None})
        self.assertEqual(scales['contiguous'], 'rows or columns')


if __name__ == '__main__':
    unittest.main(verbosity=2)
