"""call: families by their descriptions, on the virtual GPU."""
import unittest

import support
import tilewright


class Call(unittest.TestCase):
    def test_quantise(self):
        x = tilewright.Buffer.of(support.integers(support.generator(), 70 * 200), (70, 200), 'bf16')
        elements, scales = tilewright.quantise_blocks(x, powers_of_two=True)
        again = (tilewright.Buffer.zeros((70, 200), 'e4m3'), tilewright.Buffer.zeros((70, 2), 'fp32'))
        tilewright.call('quantise', source=x, elements=again[0], scales=again[1], powers_of_two=1)
        self.assertEqual(again[0].values(), elements.values())
        self.assertEqual(again[1].values(), scales.values())

    def test_refusals(self):
        x = tilewright.Buffer.zeros((8, 64), 'bf16')
        elements = tilewright.Buffer.zeros((9, 64), 'e4m3')
        with self.assertRaisesRegex(tilewright.Invalid, "quantise has no 'sauce'; there are source, "):
            tilewright.call('quantise', sauce=x)
        with self.assertRaisesRegex(tilewright.Invalid,
                                    'm is 8 by the shape of source, but 9 by that of elements.'):
            tilewright.call('quantise', source=x, elements=elements)
        with self.assertRaisesRegex(tilewright.Invalid, "quantise needs 'elements'."):
            tilewright.call('quantise', source=x)
        with self.assertRaisesRegex(tilewright.Invalid, 'There is no family'):
            tilewright.call('attend', q=x)

    def test_grouped(self):
        m, n, k, groups = 30, 24, 40, 3
        generator = support.generator()
        a = tilewright.Buffer.of(support.integers(generator, m * k), (m, k), 'bf16')
        w = tilewright.Buffer.of(support.integers(generator, groups * n * k), (groups, n, k), 'bf16')
        rows = tilewright.Buffer.of([7, 7, 30], (groups,), 's32')
        d = tilewright.Buffer.zeros((m, n), 'bf16')
        tilewright.call('grouped', a=a, b=w.T, rows=rows, d=d)
        self.assertEqual(d.values(), tilewright.matmul_grouped(a, w.T, rows).values())


if __name__ == '__main__':
    unittest.main(verbosity=2)
