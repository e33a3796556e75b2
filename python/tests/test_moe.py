"""A layer of experts of plain buffers, on the virtual GPU: where tokens go, and what comes back."""
import unittest

import support
import tilewright

TARGETS = ('sm80', 'sm90a', 'sm100a', 'gfx942', 'gfx950')
LOGITS = [[1, 3, 3, 0], [5, 2, 2, 2], [0, float('nan'), 7, 7]]


def buffer(values, shape, type):
    return tilewright.Buffer.of(values, shape, type)


def rounded(values):
    return buffer(values, (len(values),), 'bf16').values()


class Route(unittest.TestCase):
    logits = buffer([value for row in LOGITS for value in row], (3, 4), 'fp32')

    def test_rows_are_sorted(self):
        for target in TARGETS:
            with self.subTest(target):
                routed = tilewright.route(self.logits, 2, target=target)
                self.assertEqual(routed.chosen.values(), [1, 2, 0, 1, 2, 3])
                self.assertEqual(routed.ends.values(), [1, 3, 5, 6])
                self.assertEqual(routed.index.values(), [1, 0, 1, 0, 2, 2])
                self.assertEqual(routed.places.values(), [1, 3, 0, 2, 4, 5])
                for weights, right in zip(zip(*[iter(routed.weights.values())] * 2), (0.5, 1 / (1 + 2.718281828 ** -3), 0.5)):
                    self.assertAlmostEqual(weights[0], right, 6)
                    self.assertAlmostEqual(sum(weights), 1, 6)

    def test_groups_and_bias(self):
        """Two experts of the better group, which the bias makes the second; weights are without it."""
        logits = buffer([4, 4, 0, 0], (1, 4), 'bf16')
        routed = tilewright.route(logits, 2, scoring='sigmoid', bias=buffer([0, 0, 1, 2], (4,), 'fp32'), groups=2, top_groups=1, scale=3)
        self.assertEqual(routed.chosen.values(), [3, 2])
        self.assertEqual(routed.weights.values(), [1.5, 1.5])

    def test_refusals(self):
        for sentence, options in (('A bias is added to sigmoids alone', dict(bias=buffer([0] * 4, (4,), 'fp32'))),
                                  ('There are 4 experts, but must be a multiple of the 3 groups', dict(groups=3)),
                                  ('k = 2 must be at most 1, the experts of 1 groups', dict(groups=4, top_groups=1))):
            with self.assertRaisesRegex(tilewright.Invalid, sentence):
                tilewright.route(self.logits, 2, **options)
        with self.assertRaisesRegex(tilewright.Invalid, 'scoring'):
            tilewright.route(self.logits, 2, scoring='tanh')


class Combine(unittest.TestCase):
    def test_output_has_a_row_for_each_token(self):
        source, places = buffer([1] * 24, (3, 8), 'bf16'), buffer([0, 1, 2, 0], (2, 2), 's32')
        for tokens in (1, 3):
            with self.assertRaisesRegex(tilewright.Invalid, f'output has shape .{tokens}, 8., but must be 2 by 8'):
                tilewright.combine(source, places, out=buffer([0] * 8 * tokens, (tokens, 8), 'bf16'))


class Layer(unittest.TestCase):
    tokens, hidden, inner, experts = 5, 16, 8, 3

    def test_against_the_definition(self):
        """Of integers, and of relu; logits are so far apart that a token has one expert of weight 1."""
        random = support.generator()
        tokens, hidden, inner, experts = self.tokens, self.hidden, self.inner, self.experts
        x, added = (support.integers(random, tokens * hidden) for _ in range(2))
        gate_up, down = support.integers(random, experts * 2 * inner * hidden), support.integers(random, experts * hidden * inner)
        best = [random.randrange(experts) for _ in range(tokens)]
        logits = [1000.0 if expert == best[token] else -expert for token in range(tokens) for expert in range(experts)]
        right = list(added)
        for token, expert in enumerate(best):
            rows = [[x[token * hidden + i] * gate_up[((expert * 2 * inner) + row) * hidden + i] for i in range(hidden)] for row in range(2 * inner)]
            both = [sum(row) for row in rows]
            middle = rounded([max(gate, 0) * up for gate, up in zip(both[::2], both[1::2])])
            columns = [down[(expert * hidden + column) * inner:][:inner] for column in range(hidden)]
            for column, value in enumerate(rounded([sum(a * b for a, b in zip(middle, weights)) for weights in columns])):
                right[token * hidden + column] += value
        shape = (tokens, hidden)
        made = tilewright.moe(buffer(x, shape, 'bf16'), buffer(logits, (tokens, experts), 'fp32'),
                              buffer(gate_up, (experts, 2 * inner, hidden), 'bf16').T, buffer(down, (experts, hidden, inner), 'bf16').T, 2,
                              activation='relu', addend=buffer(added, shape, 'bf16'))
        self.assertEqual(made.values(), rounded(right))

    def test_four_bits(self):
        """Packed experts make the bits that bf16 weights of the same values make, which are exact here."""
        random = support.generator()
        tokens, hidden, inner, experts = self.tokens, 64, 32, self.experts
        logits = buffer([1000.0 if expert == token % experts else -expert for token in range(tokens) for expert in range(experts)], (tokens, experts), 'fp32')
        values = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)

        def drawn(n, k):
            codes = [random.randrange(16) for _ in range(experts * n * k)]
            packed = tilewright.pack_weights(buffer([((low | high << 4) ^ 128) - 128 for low, high in zip(codes[::2], codes[1::2])], (experts, n, k // 2), 's8'),
                                             buffer([127] * (experts * n * k // 32), (experts, n, k // 32), 's8'), layout='mxfp4')
            return packed, buffer([values[code % 8] * (-1 if code > 7 else 1) for code in codes], (experts, n, k), 'bf16').T
        (gate_up, gate_up_wide), (down, down_wide) = drawn(2 * inner, hidden), drawn(hidden, inner)
        x = buffer(support.integers(random, tokens * hidden, 1), (tokens, hidden), 'bf16')
        made = [tilewright.moe(x, logits, *weights, 2, activation='relu').values() for weights in ((gate_up, down), (gate_up_wide, down_wide))]
        self.assertEqual(*made)
        self.assertGreater(len(set(made[0])), 100)

    def test_fp8(self):
        """Of FP8 weights: what quantise_blocks, the definition of a gate and matmul_blockwise make, expert by expert."""
        random = support.generator()
        tokens, hidden, inner, experts = self.tokens, 256, 256, self.experts
        best = [token % experts for token in range(tokens)]
        logits = buffer([1000.0 if expert == best[token] else -expert for token in range(tokens) for expert in range(experts)], (tokens, experts), 'fp32')
        x = buffer(support.integers(random, tokens * hidden, 1), (tokens, hidden), 'bf16')

        def drawn(n, k):
            elements = support.integers(random, experts * n * k, 1)
            blocks = n // 128 * k // 128
            scales = [scale for _ in range(experts) for scale in random.sample([2.0 ** i for i in range(-4, 4)], blocks)]  # no two of an expert alike
            return (buffer(elements, (experts, n, k), 'e4m3').T, buffer(scales, (experts, n // 128, k // 128), 'fp32').T), elements, scales

        def product(row, expert, elements, scales, n, row_scales=(1.0, 1.0)):
            """By the experts' [n, len(row)], block by block of k."""
            k = len(row)
            return [sum(row_scales[block] * scales[(expert * n + i) // 128 * (k // 128) + block] *
                        sum(row[j] * elements[(expert * n + i) * k + j] for j in range(128 * block, 128 * block + 128)) for block in range(k // 128))
                    for i in range(n)]
        (gate_up, up_elements, up_scales), (down, down_elements, down_scales) = drawn(2 * inner, hidden), drawn(hidden, inner)
        made = tilewright.moe(x, logits, gate_up, down, 1, activation='relu').values()
        given = x.values()
        for token, expert in enumerate(best):
            row = given[token * hidden:][:hidden]
            sums = product(row, expert, up_elements, up_scales, 2 * inner)
            # Blocks of 128 are gates, their ups, gates, ..
            gated = [max(sums[i + i // 128 * 128], 0) * sums[i + i // 128 * 128 + 128] for i in range(inner)]
            elements, scales = tilewright.quantise_blocks(buffer(gated, (1, inner), 'fp32'))
            right = product(elements.values(), expert, down_elements, down_scales, hidden, scales.values())
            for found, value in zip(made[token * hidden:][:hidden], right):
                self.assertAlmostEqual(found, value, delta=abs(value) / 128 + 1e-3)
        with self.assertRaisesRegex(tilewright.Invalid, 'of FP8 weights both are'):
            tilewright.moe(x, logits, gate_up, down[0], 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
