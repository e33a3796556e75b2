"""block_quantise, block_dequantise and matmul_block_scaled of plain buffers on the virtual GPU. Values are such that every format holds
them and every sum is exact."""
import unittest

import support
import tilewright

# By type: the largest magnitude, for which the scale of a block by the rule floor is 1, and others that are exact.
VALUES = {'e4m3': (256.0, range(0, 9)), 'e2m3': (7.5, (0.0, 0.5, 1.0, 1.5, 2.0, 3.5)),
          'e2m1': (6.0, (0.0, 0.5, 1.0, 1.5, 2.0, 3.0))}


def matrix(generator, rows, k, type, block):
    """Each block of k has a power of two of its own."""
    largest, others = VALUES[type]
    values = []
    for _ in range(rows):
        for start in range(0, k, block):
            power = 2.0 ** generator.randint(-1, 1)
            values += [power * largest] + [power * generator.choice((-1, 1)) * generator.choice(others)
                                           for _ in range(min(block, k - start) - 1)]
    return values


class BlockScales(unittest.TestCase):
    def product(self, a_type, b_type, m, n, k, **options):
        generator = support.generator()
        x, w = matrix(generator, m, k, a_type, 32), matrix(generator, n, k, b_type, 32)
        a, a_scales = tilewright.block_quantise(tilewright.Buffer.of(x, (m, k), 'fp32'), out_dtype=a_type)
        b, b_scales = tilewright.block_quantise(tilewright.Buffer.of(w, (n, k), 'fp32'), out_dtype=b_type)
        told = {name: type for name, type in (('a_type', a_type), ('b_type', b_type)) if type != 'e4m3'}
        d = tilewright.matmul_block_scaled(a, b.T, a_scales, b_scales, out_dtype='fp32', **told, **options)
        columns = [value for column in range(k) for value in w[column::k]]
        return d, support.product(x, columns, m, n, k)

    def test_formats(self):
        for a_type, b_type in (('e4m3', 'e4m3'), ('e2m1', 'e2m1'), ('e2m3', 'e4m3')):
            with self.subTest(a=a_type, b=b_type):
                d, right = self.product(a_type, b_type, 20, 24, 128, target='sm100a')
                self.assertEqual(d.shape, (20, 24))
                self.assertEqual(d.values(), right)

    def test_rows_of_scales(self):
        x = tilewright.Buffer.of(matrix(support.generator(), 131, 144, 'e4m3', 32), (131, 144), 'fp32')
        elements, blocks = tilewright.block_quantise(x)
        again, rows = tilewright.block_quantise(x, scale_order='rows', target='sm100a')
        self.assertEqual(rows.shape, (131, 5))
        self.assertEqual(again.values(), elements.values())
        by_block = blocks.values()  # two blocks along k
        self.assertEqual(rows.values(), [by_block[(row // 128 * 2 + s // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + s % 4]
                                         for row in range(131) for s in range(5)])

    def test_back(self):
        """Values that every format holds come back, of any order of scales and type of values."""
        for type, scale_order in (('e4m3', 'blocks'), ('e2m3', 'rows'), ('e2m1', 'rows')):
            with self.subTest(type):
                values = matrix(support.generator(), 131, 144, type, 32)
                x = tilewright.Buffer.of(values, (131, 144), 'fp32')
                elements, scales = tilewright.block_quantise(x, out_dtype=type, scale_order=scale_order)
                told = {} if type == 'e4m3' else {'elements_type': type}
                back = tilewright.block_dequantise(elements, scales, scale_order=scale_order, target='sm100a', **told)
                self.assertEqual(back.shape, (131, 144))
                self.assertEqual(back.values(), values)

    def test_epilogue(self):
        d, right = self.product('e4m3', 'e4m3', 9, 16, 64, target='sm100a',
                                epilogue=tilewright.Epilogue(alpha=2.0, activation='relu'))
        self.assertEqual(d.values(), [max(0.0, 2.0 * value) for value in right])

    def test_refusals(self):
        x = tilewright.Buffer.zeros((20, 128), 'bf16')
        elements, scales = tilewright.block_quantise(x)
        short = tilewright.Buffer.zeros((511,), 's8')
        for sentence, call in (
                ('b_scales has 511 bytes, but scales of 1 x 20 x 128 elements have 512',
                 lambda: tilewright.matmul_block_scaled(elements, elements.T, scales, short)),
                ('scales has 511 bytes', lambda: tilewright.block_quantise(x, (elements, short))),
                ("scale_type is 'ue9m9'", lambda: tilewright.block_quantise(x, scale_type='ue9m9')),
                ("rule is 'ceil', but must be one of floor, rceil", lambda: tilewright.block_quantise(x, rule='ceil')),
                ('scales has 79 bytes, but scales of 1 x 20 x 128 elements have 80',
                 lambda: tilewright.block_quantise(x, (elements, tilewright.Buffer.zeros((79,), 's8')), scale_order='rows')),
                ("scale_order is 'columns', but must be one of blocks, rows",
                 lambda: tilewright.block_quantise(x, scale_order='columns')),
                ('lines of e2m3 must be contiguous',
                 lambda: tilewright.block_quantise(x, (tilewright.Buffer.zeros((20, 97), 's8'), scales),
                                                   out_dtype='e2m3'))):
            with self.subTest(sentence), self.assertRaisesRegex(tilewright.Invalid, sentence):
                call()


if __name__ == '__main__':
    unittest.main(verbosity=2)
