"""pack_weights of plain buffers on the virtual GPU. What comes back out of the packed bytes, by the words that describe them in
layout/packed_weights.h, is the weights, which are read here from the arrays of each checkpoint by the words that describe it."""
import math
import unittest

import support
import tilewright
from tilewright import Buffer

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
AWQ = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of each nibble, from the lowest bits on
SCALE_BYTES = {'mxfp4': 1, 'nvfp4': 1, 'int4': 2, 'int4_zeros': 4}
BITS = {'bf16': ((6, 3, 0, 9), 7, 127), 'fp16': ((9, 6, 3, 0), 10, 15)}  # magnitudes of pairs; bits of a fraction, bias


def half(bits, type):
    """The number that 16 bits stand for; its sign is none."""
    _, fraction, bias = BITS[type]
    exponent, rest = bits >> fraction, bits & ((1 << fraction) - 1)
    return math.ldexp(rest + (exponent > 0) * (1 << fraction), max(exponent, 1) - bias - fraction)


def signed(word):
    return word - (1 << 32) if word >> 31 else word


def word_of(codes):
    return signed(sum(code << 4 * place for place, code in enumerate(codes)))


def unpacked(packed):
    """Rows of weights, from the bytes."""
    *experts, n, k = packed.shape
    group, data = packed.group, bytes(value & 255 for value in packed.data.values())
    record = 2 * (128 // group) * SCALE_BYTES[packed.format]
    block_bytes = 64 * 128 // 2 + 32 * record
    rows, columns = -(-n // 64), -(-k // 128)
    assert len(data) == math.prod(experts) * rows * columns * block_bytes
    weights = [[None] * columns * 128 for _ in range(math.prod(experts) * rows * 64)]
    for place in range(len(data) // block_bytes):
        block = data[place * block_bytes:(place + 1) * block_bytes]
        for at in range(0, 4096, 4):
            word, span, thread = int.from_bytes(block[at:at + 4], 'little'), at // 2048, at % 2048 // 16
            for pair in range(4):
                for odd in range(2):
                    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (pair % 2)
                    column = 64 * span + 16 * (at % 16 // 4) + 2 * (thread % 4) + 8 * (pair // 2) + odd
                    bits = word >> 16 * odd & 0xFFFF
                    scale = 4096 + (row // 16 * 8 + row % 8) * record + (2 * (column // group) + row % 16 // 8) * SCALE_BYTES[packed.format]
                    weights[place // columns * 64 + row][place % columns * 128 + column] = weight(packed, bits, pair, block[scale:scale + 4])
    return [row[:k] for place, row in enumerate(weights) if place % (rows * 64) < n]


def weight(packed, bits, pair, scale):
    type = packed.activation
    if packed.format == 'int4':
        return ((bits >> 4 * pair & 15) - 8) * half(scale[0] | scale[1] << 8, type)
    if packed.format == 'int4_zeros':
        bias = 128 if type == 'bf16' else 1024
        zero = half(scale[2] | scale[3] << 8, type) - bias
        return ((bits >> 4 * pair & 15) - zero) * half(scale[0] | scale[1] << 8, type)
    code = bits >> BITS[type][0][pair] & 7 | (bits >> (15, 12, 14, 13)[pair] & 1) << 3
    if scale[0] == 255:
        return None
    if packed.format == 'nvfp4':
        return E2M1[code] * math.ldexp(8 + scale[0] % 8, scale[0] // 8 - 21 - 3)
    unit = 2.0 ** -126 if type == 'bf16' else 2.0 ** -14
    return E2M1[code] * unit * half(scale[0] << 7, type) * 2.0 ** packed.exponent


def codes_of(generator, n, k):
    return [[generator.randrange(16) for _ in range(k)] for _ in range(n)]


def scales_of(generator, n, groups):
    """Numbers that bf16 and fp16 hold."""
    return [[generator.randint(1, 31) / 16 for _ in range(groups)] for _ in range(n)]


def flat(rows):
    return [value for row in rows for value in row]


def turned(rows):
    return [list(column) for column in zip(*rows)]


def matrix(rows, type):
    return Buffer.of(flat(rows), (len(rows), len(rows[0])), type)


def in_bytes(rows):
    return matrix([[value - 256 if value > 127 else value for value in row] for row in rows], 's8')


def two_in_bytes(codes):
    """The first in the lower bits."""
    return [[row[i] | row[i + 1] << 4 for i in range(0, len(row), 2)] for row in codes]


def along_rows(codes):
    """Words of eight of a row."""
    return [[word_of(row[i:i + 8]) for i in range(0, len(row), 8)] for row in codes]


class PackWeights(unittest.TestCase):
    def check(self, packed, right):
        self.assertEqual(unpacked(packed), right)

    def test_by_hand(self):
        """One code in a block of zeros, and its scale: bytes that were written down from the layout."""
        # n = 17, k = 75: warp 1, row 1 of its 8, thread 32 + 4 + 1 = 37; span 1; 75 - 64 = 11 is pair 2 of word 0, the upper half.
        codes = [[0] * 96 for _ in range(20)]
        codes[17][75] = 13  # -3: sign, and 5
        packed = tilewright.pack_weights(in_bytes(two_in_bytes(codes)), Buffer.of([127] * 60, (20, 3), 's8'), layout='mxfp4')
        data = [value & 255 for value in packed.data.values()]
        self.assertEqual(len(data), 4096 + 32 * 8)
        word = (5 << 0 | 1 << 14) << 16  # for bf16 pair 2 has its magnitude at bit 0 and its sign at bit 14
        at = 2048 + 37 * 16
        self.assertEqual(data[at:at + 4], list(word.to_bytes(4, 'little')))
        self.assertEqual([place for place in range(4096) if data[place]], [at + 2, at + 3])
        # Scales of 1 are 127 + 126 = 253. Row 17 is the upper one of record 9; beyond k and n stands 127.
        self.assertEqual(data[4096 + 9 * 8:4096 + 10 * 8], [253, 127, 253, 127, 253, 127, 127, 127])

    def test_gptq(self):
        # A word's lowest bits are the first of k; 6 stored is the zero point 7.
        one = tilewright.pack_weights(Buffer.of([0x76543210], (1, 1), 's32'), Buffer.of([0.5], (1, 1), 'fp16'),
                                      Buffer.of([6], (1, 1), 's32'), layout='gptq')
        self.check(one, [[-3.5, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0]])
        generator = support.generator()
        n, k, group = 72, 192, 64
        codes, scales = codes_of(generator, n, k), scales_of(generator, n, k // group)
        zeros = [[generator.randrange(16) for _ in range(k // group)] for _ in range(n)]
        for layout, offset in (('gptq', 1), ('gptq_v2', 0)):
            packed = tilewright.pack_weights(matrix(turned(along_rows(codes)), 's32'), matrix(turned(scales), 'bf16'),
                                             matrix(along_rows(turned(zeros)), 's32'), layout=layout,
                                             g_idx=[i // group for i in range(k)])
            self.assertEqual((packed.format, packed.group, packed.shape), ('int4_zeros', group, (n, k)))
            self.check(packed, [[(codes[row][i] - zeros[row][i // group] - offset) * scales[row][i // group] for i in range(k)]
                                for row in range(n)])
        packed = tilewright.pack_weights(matrix(turned(along_rows(codes)), 's32'), matrix(turned(scales), 'fp16'), layout='gptq')
        self.assertEqual((packed.format, packed.activation), ('int4', 'fp16'))
        self.check(packed, [[(codes[row][i] - 8) * scales[row][i // group] for i in range(k)] for row in range(n)])

    def test_awq(self):
        one = tilewright.pack_weights(Buffer.of([0x76543210], (1, 1), 's32'), Buffer.of([1.0] * 8, (1, 8), 'fp16'), layout='awq')
        self.check(one, [[-8.0], [-4.0], [-7.0], [-3.0], [-6.0], [-2.0], [-5.0], [-1.0]])
        generator = support.generator()
        n, k, group = 72, 160, 32
        codes, scales = codes_of(generator, n, k), scales_of(generator, n, k // group)
        zeros = [[generator.randrange(16) for _ in range(k // group)] for _ in range(n)]

        def words(columns):
            return [[word_of([row[i + AWQ[place]] for place in range(8)]) for i in range(0, n, 8)] for row in turned(columns)]

        packed = tilewright.pack_weights(matrix(words(codes), 's32'), matrix(turned(scales), 'bf16'), matrix(words(zeros), 's32'),
                                         layout='awq')
        self.check(packed, [[(codes[row][i] - zeros[row][i // group]) * scales[row][i // group] for i in range(k)] for row in range(n)])

    def test_compressed_tensors(self):
        generator = support.generator()
        for n, k, group in ((70, 136, 136), (16, 512, 256)):  # whole rows, and groups that are packed as two
            codes, scales = codes_of(generator, n, k), scales_of(generator, n, k // group)
            zeros = [[generator.randrange(16) for _ in range(k // group)] for _ in range(n)]
            padded = zeros + [[0] * (k // group)] * (-n % 8)
            packed = tilewright.pack_weights(matrix(along_rows(codes), 's32'), matrix(scales, 'bf16'),
                                             matrix(turned(along_rows(turned(padded))), 's32'), layout='compressed_tensors')
            self.check(packed, [[(codes[row][i] - zeros[row][i // group]) * scales[row][i // group] for i in range(k)]
                                for row in range(n)])

    def test_mxfp4(self):
        generator = support.generator()
        experts, n, k = 2, 66, 160
        codes = codes_of(generator, experts * n, k)
        scales = [[generator.randint(115, 135) for _ in range(k // 32)] for _ in range(experts * n)]
        scales[3][1] = 255  # NaN
        codes[5][:32], scales[5][0] = [0, 8] * 16, 0  # which nobody needs
        right = [[None if scales[row][i // 32] == 255 else E2M1[codes[row][i]] * 2.0 ** (scales[row][i // 32] - 127)
                  for i in range(k)] for row in range(experts * n)]
        code_bytes = in_bytes(two_in_bytes(codes)).values()
        for layout, shape in (('mxfp4', (experts, n, k // 2)), ('gpt_oss', (experts, n, k // 32, 16))):
            for activation in ('bf16', 'fp16'):
                packed = tilewright.pack_weights(Buffer.of(code_bytes, shape, 's8'),
                                                 Buffer.of(in_bytes(scales).values(), (experts, n, k // 32), 's8'),
                                                 layout=layout, activation=activation)
                self.assertEqual((packed.shape, packed.exponent), ((experts, n, k), 7))
                self.check(packed, right)

    def test_nvfp4(self):
        generator = support.generator()
        n, k = 64, 144
        codes = codes_of(generator, n, k)
        scales = [[generator.choice((0.0, 2.0 ** -9, 3 * 2.0 ** -9, 1.0, 1.125, 448.0, -1.5)) for _ in range(k // 16)]
                  for _ in range(n)]
        packed = tilewright.pack_weights(in_bytes(two_in_bytes(codes)), matrix(scales, 'e4m3'), layout='nvfp4', tensor_scale=0.25)
        self.assertEqual(packed.tensor_scale, 0.25)
        self.check(packed, [[E2M1[codes[row][i]] * scales[row][i // 16] for i in range(k)] for row in range(n)])

    def refused(self, kind, text, *arrays, **options):
        with self.assertRaises(kind) as caught:
            tilewright.pack_weights(*arrays, **options)
        self.assertIn(text, str(caught.exception))

    def test_refusals(self):
        words, scales = Buffer.zeros((16, 16), 's32'), Buffer.zeros((16, 1), 'bf16')
        compressed = {'layout': 'compressed_tensors'}
        invalid, unsupported = tilewright.Invalid, tilewright.Unsupported
        self.refused(invalid, 'layout is', words, scales, layout='gguf')
        self.refused(invalid, 'codes is a Buffer of bf16, not of s32', Buffer.zeros((16, 16), 'bf16'), scales, **compressed)
        self.refused(invalid, 'codes has shape (16,)', Buffer.zeros((16,), 's32'), scales, **compressed)
        self.refused(invalid, 'scales has shape', words, Buffer.zeros((15, 1), 'bf16'), **compressed)
        self.refused(invalid, 'k = 128 inputs have 3 scales', words, Buffer.zeros((16, 3), 'bf16'), **compressed)
        self.refused(invalid, 'k = 128 inputs have 0 scales', words, Buffer.zeros((16, 0), 'bf16'), **compressed)
        self.refused(invalid, 'group = 16, but groups of int4 have 32, 64, a multiple of 128 or all of k', words,
                     Buffer.zeros((16, 8), 'bf16'), **compressed)
        self.refused(invalid, 'The scales have type fp16, but those of int4 must be bf16', words, Buffer.zeros((16, 1), 'fp16'),
                     activation='bf16', **compressed)
        self.refused(invalid, 'activation is', words, Buffer.zeros((16, 1), 'fp32'), **compressed)
        self.refused(invalid, 'zeros has shape', words, scales, Buffer.zeros((16, 1), 's32'), **compressed)
        self.refused(invalid, 'zero_offset = 1, but must be 0', words, scales, zero_offset=1, **compressed)
        self.refused(invalid, 'zero_offset = 2 must be', words, scales, Buffer.zeros((2, 1), 's32'), zero_offset=2, **compressed)
        self.refused(invalid, 'exponent = 3, but must be 0', words, scales, exponent=3, **compressed)
        self.refused(invalid, 'tensor_scale is 2.0', words, scales, tensor_scale=2.0, **compressed)
        self.refused(invalid, 'zeros is given', Buffer.zeros((16, 64), 's8'), Buffer.zeros((16, 4), 's8'), scales, layout='mxfp4')
        self.refused(invalid, 'scales has shape', Buffer.zeros((16, 64), 's8'), Buffer.zeros((16, 8), 's8'), layout='mxfp4')
        self.refused(invalid, 'multiple of 4 bytes', Buffer.zeros((16, 62), 's8'), Buffer.zeros((16, 4), 's8'), layout='mxfp4')
        self.refused(invalid, 'multiple of 4 bytes', Buffer.zeros((64, 16), 's8').T, Buffer.zeros((16, 4), 's8'), layout='mxfp4')
        self.refused(invalid, 'must be [n, k / 32, 16]', Buffer.zeros((16, 64), 's8'), Buffer.zeros((16, 4), 's8'), layout='gpt_oss')
        self.refused(invalid, 'codes is a list', [1], scales, **compressed)
        gptq = Buffer.zeros((16, 16), 's32'), Buffer.zeros((1, 16), 'bf16')
        self.refused(unsupported, 'g_idx[0] is 1, but must be 0', *gptq, layout='gptq', g_idx=[1] + [0] * 127)
        self.refused(invalid, 'g_idx has 3 entries, but there are 128 inputs', *gptq, layout='gptq', g_idx=[0, 0, 0])

    def test_scales_that_do_not_fit(self):
        codes = Buffer.of([0x11] * 32, (1, 32), 's8')
        for low, exponent, activation, text in ((14, 20, 'bf16', '1 scales do not fit: with exponent = 20, those of weights for bf16 '
                                                 'that are not 0 must be from 2^-112 to 2^21.'),
                                                (108, 5, 'fp16', 'from 2^-18 to 2^6.'), (108, 4, 'bf16', 'from 2^-128 to 2^5.')):
            scales = in_bytes([[low, 133]])
            self.refused(tilewright.Unsupported, text, codes, scales, layout='mxfp4', activation=activation, exponent=exponent)
        # The usual one holds the largest.
        packed = tilewright.pack_weights(codes, in_bytes([[0, 133]]), layout='mxfp4')
        self.assertEqual(packed.exponent, 5)
        self.check(packed, [[0.5 * 2.0 ** -127] * 32 + [0.5 * 2.0 ** 6] * 32])

    def test_scales_of_zeros(self):
        """A group whose codes are 0, of either sign, has any scale; the exponent is that of the others."""
        codes = in_bytes([[0x11] * 16 + [0x00, 0x08, 0x80, 0x88] * 4, [0x70] * 32])
        for activation, exponent in (('bf16', 2), ('e4m3', -3)):
            packed = tilewright.pack_weights(codes, in_bytes([[127, 254], [120, 130]]), layout='mxfp4', activation=activation)
            self.assertEqual(packed.exponent, exponent)


if __name__ == '__main__':
    unittest.main()
