"""Convolutions of plain buffers on the virtual GPU, against seven loops."""
import itertools
import json
import unittest

import support
import tilewright
from tilewright.families.conv2d import DIRECTIONS


def convolve(x, w, n, h, width, c, k, r, s, stride, pad, dilation, groups):
    """In the order of [n, p, q, k]; pad is (top, bottom, left, right)."""
    p = (h + pad[0] + pad[1] - (r - 1) * dilation - 1) // stride + 1
    q = (width + pad[2] + pad[3] - (s - 1) * dilation - 1) // stride + 1
    per_group = c // groups

    def element(image, row, column, output):
        total = 0
        first = output // (k // groups) * per_group
        for i, j in itertools.product(range(r), range(s)):
            y, z = row * stride + i * dilation - pad[0], column * stride + j * dilation - pad[2]
            if 0 <= y < h and 0 <= z < width:
                pixel = ((image * h + y) * width + z) * c + first
                place = ((output * r + i) * s + j) * per_group
                total += sum(x[pixel + channel] * w[place + channel]
                             for channel in range(per_group))
        return total

    return [element(*place) for place in itertools.product(range(n), range(p), range(q), range(k))]


class Conv2d(unittest.TestCase):
    def setUp(self):
        self.random = support.generator()

    def buffer(self, shape, type):
        count = 1
        for extent in shape:
            count *= extent
        values = support.integers(self.random, count)
        return values, tilewright.Buffer.of(values, shape, type)

    def test_stride_padding_dilation(self):
        x, image = self.buffer((2, 7, 6, 8), 'bf16')
        w, filter = self.buffer((5, 3, 2, 8), 'bf16')
        d = tilewright.conv2d(image, filter, stride=2, padding=((1, 0), (0, 2)), dilation=2)
        expected = convolve(x, w, 2, 7, 6, 8, 5, 3, 2, 2, (1, 0, 0, 2), 2, 1)
        self.assertEqual(d.shape, (2, 2, 3, 5))
        self.assertEqual(d.values(), expected)

    def test_groups_and_few_channels(self):
        for c, k, groups in ((3, 5, 1), (6, 4, 2)):
            x, image = self.buffer((1, 5, 5, c), 'fp16')
            w, filter = self.buffer((k, 3, 3, c // groups), 'fp16')
            d = tilewright.conv2d(image, filter, padding=1, groups=groups)
            self.assertEqual(d.values(), convolve(x, w, 1, 5, 5, c, k, 3, 3, 1, (1, 1, 1, 1), 1,
                                                  groups))

    def test_epilogue(self):
        x, image = self.buffer((1, 4, 4, 8), 'bf16')
        w, filter = self.buffer((8, 1, 1, 8), 'bf16')
        bias, bias_buffer = self.buffer((8,), 'fp32')
        residual, residual_buffer = self.buffer((1, 4, 4, 8), 'bf16')
        d = tilewright.conv2d(image, filter, epilogue=tilewright.Epilogue(
            bias=bias_buffer, residual=residual_buffer, activation='relu'))
        sums = convolve(x, w, 1, 4, 4, 8, 8, 1, 1, 1, (0, 0, 0, 0), 1, 1)
        self.assertEqual(d.values(), [max(0, value + bias[i % 8] + residual[i])
                                      for i, value in enumerate(sums)])

    def test_one_and_three_sides(self):
        x, image = self.buffer((2, 9, 8), 'bf16')
        w, filter = self.buffer((4, 3, 8), 'bf16')
        d = tilewright.conv2d(image, filter, stride=2)
        self.assertEqual(d.shape, (2, 4, 4))
        self.assertEqual(d.values(), convolve(x, w, 2, 1, 9, 8, 4, 1, 3, 2, (0, 0, 0, 0), 1, 1))
        x, image = self.buffer((1, 2, 3, 3, 8), 'bf16')
        w, filter = self.buffer((4, 1, 2, 2, 8), 'bf16')
        d = tilewright.conv2d(image, filter)
        self.assertEqual(d.shape, (1, 2, 2, 2, 4))
        self.assertEqual(d.values(), convolve(x, w, 2, 3, 3, 8, 4, 2, 2, 1, (0, 0, 0, 0), 1, 1))

    def test_refusals(self):
        _, image = self.buffer((1, 4, 4, 8), 'bf16')
        _, filter = self.buffer((8, 3, 3, 8), 'bf16')
        _, other = self.buffer((8, 3, 3, 4), 'bf16')
        gaps = tilewright.Buffer(image.data, (1, 3, 3, 8), 'bf16', (96, 32, 8, 1), image.offset)
        for sentence, call in (
                ('x has 8 channels, but w has 4 in each of 1 groups',
                 lambda: tilewright.conv2d(image, other)),
                ('stride is 0, but must be positive',
                 lambda: tilewright.conv2d(image, filter, stride=0)),
                ('padding is (1, 2, 3), but must be one number',
                 lambda: tilewright.conv2d(image, filter, padding=(1, 2, 3))),
                ('must have 3, 4 or 5 extents',
                 lambda: tilewright.conv2d(tilewright.Buffer.zeros((4, 8), 'bf16'), filter)),
                ('must be contiguous',
                 lambda: tilewright.conv2d(gaps, filter)),
                ('out has shape (1, 4, 4, 8), but must have (1, 2, 2, 8)',
                 lambda: tilewright.conv2d(image, filter, image)),
                ('The dilation along h = 0 must be from 1',
                 lambda: tilewright.conv2d(image, filter, dilation=(0, 1))),
                ("There is no instance 'zebra' of conv2d",
                 lambda: tilewright.conv2d(image, filter, instance='zebra'))):
            with self.assertRaises(tilewright.Invalid) as caught:
                call()
            self.assertIn(sentence, str(caught.exception))

    def test_directions(self):
        enums = json.loads(tilewright.library().tw_describe(None))['enums']
        self.assertEqual(list(enums['tw_direction']), list(DIRECTIONS))

    def test_a_type_that_nobody_tells(self):
        image = memoryview(bytes(2 * 64)).cast('H', (1, 8, 1, 8))
        with self.assertRaisesRegex(tilewright.Invalid, r"x has elements of 2 bytes, but .*: x_type='bf16', or"):
            tilewright.conv2d(image, image)

    def test_steps_beyond_64_bits(self):
        """The shape of the result was made of the numbers as they were, the problem of what was left of them."""
        beyond = 1 << 64  # what ctypes cuts to 0
        x, w = tilewright.Buffer.zeros((1, 8, 8, 8), 'fp16'), tilewright.Buffer.zeros((8, 1, 1, 8), 'fp16')
        for name, value in (('stride', beyond + 1), ('padding', -beyond), ('dilation', beyond + 1),
                            ('groups', beyond + 1), ('stride', (1, beyond + 1)), ('padding', ((0, beyond), 0))):
            with self.assertRaisesRegex(tilewright.Invalid, f'{name} is -?{beyond // 10}'):
                tilewright.conv2d(x, w, **{name: value})
        for name in ('stride', 'padding', 'dilation', 'groups'):
            with self.assertRaisesRegex(tilewright.Invalid, f'{name} is 1.5, but must be an integer'):
                tilewright.conv2d(x, w, **{name: 1.5})


if __name__ == '__main__':
    unittest.main(verbosity=2)
