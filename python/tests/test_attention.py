"""attention and attention_paged with numpy arrays, on the virtual GPU."""
import unittest

import support

support.need('numpy')

import numpy

import tilewright

COLUMNS = 128


def reference(q, k, v, causal=False, window=0, scale=None, softcap=0.0, sink=None):
    """Of one head, (token,column), in float64: the output, its weights times |v|, and the logarithms of sums."""
    q, k, v = (matrix.astype(numpy.float64) for matrix in (q, k, v))
    scores = q @ k.T * (1 / numpy.sqrt(q.shape[1]) if scale is None else scale)
    scores = softcap * numpy.tanh(scores / softcap) if softcap else scores
    if causal:
        behind = numpy.arange(len(k)) - (numpy.arange(len(q)) + len(k) - len(q))[:, None]
        scores[behind > 0] = -numpy.inf
        if window:
            scores[behind <= -window] = -numpy.inf
    largest = numpy.max(numpy.maximum(scores, -1e30), axis=1, initial=-1e30 if sink is None else sink)
    powers = numpy.exp(scores - largest[:, None])
    sums = powers.sum(1) + (0 if sink is None else numpy.exp(sink - largest))
    weights = powers / numpy.maximum(sums, 1e-300)[:, None]
    with numpy.errstate(divide='ignore'):
        return weights @ v, weights @ abs(v), largest + numpy.log(sums)


class Attention(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(7)

    def normal(self, *shape):
        return tilewright.to_bf16(self.random.standard_normal(shape))

    def near(self, given, expected, softcap=0.0):
        """Weights are rounded to bf16 before they are multiplied, and sums when they are stored; exponentials err by 2^-20, the
        tangent of scores by 2^-10.9, above and below the line."""
        value, magnitude, _ = expected
        relative = 2**-9 + 2**-14 + 2 * softcap * 2**-10.9
        error = abs(tilewright.from_bf16(given) - value) - magnitude * relative - abs(value) * 2**-9
        self.assertLessEqual(error.max(initial=-1), 2**-126, f'seed 7, {numpy.unravel_index(error.argmax(), error.shape)}')

    def check(self, q, k, v, **given):
        """(sequence,token,head,column)."""
        output, sums = tilewright.attention(q, k, v, log_sums=True, **given)
        self.assertEqual(output.shape, (*q.shape[:-1], v.shape[-1]))
        numbers = [tilewright.from_bf16(numpy.ascontiguousarray(x)) for x in (q, k, v)]
        sinks = given.pop('sinks', None)
        for sequence in range(q.shape[0]):
            for head in range(q.shape[2]):
                of_keys = head * k.shape[2] // q.shape[2]
                expected = reference(numbers[0][sequence, :, head], *(x[sequence, :, of_keys] for x in numbers[1:]),
                                     sink=None if sinks is None else sinks[head], **given)
                self.near(output[sequence, :, head], expected, given.get('softcap', 0.0))
                numpy.testing.assert_allclose(sums[sequence, head], expected[2], rtol=0, atol=1e-3)

    def test_rows_are_picked(self):
        """Scores that leave one key: the output is its row of v, bit by bit."""
        keys, picked = 40, self.random.integers(0, 40, (2, 30, 4))
        one_hot = 64 * numpy.eye(COLUMNS, dtype=numpy.float32)
        q = tilewright.to_bf16(one_hot[picked])
        k = tilewright.to_bf16(numpy.broadcast_to(one_hot[:keys, None], (2, keys, 2, COLUMNS)))
        v = tilewright.to_bf16(self.random.integers(-128, 129, (2, keys, 2, COLUMNS)))
        expected = numpy.stack([numpy.stack([v[s, picked[s, :, h], h // 2] for h in range(4)], 1) for s in range(2)])
        numpy.testing.assert_array_equal(tilewright.attention(q, k, v), expected)
        by_head = [x.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3) for x in (q, k, v)]
        numpy.testing.assert_array_equal(tilewright.attention(*by_head), expected)
        out = tilewright.to_bf16(numpy.full(q.shape, 99.0))
        self.assertIs(tilewright.attention(q, k, v, out), out)
        numpy.testing.assert_array_equal(out, expected)

    def test_ranges(self):
        """A range of keys for each query, bit by bit: as a causal mask, and as the range's keys alone; some queries have none."""
        q, k, v = self.normal(2, 30, 4, COLUMNS), self.normal(2, 70, 2, COLUMNS), self.normal(2, 70, 2, COLUMNS)
        places = numpy.broadcast_to(numpy.arange(30, dtype=numpy.int32), (2, 30))
        given = dict(target='sm90a', log_sums=True)
        causal = dict(range_begins=numpy.zeros((2, 30), numpy.int32), range_ends=numpy.ascontiguousarray(places + 41))
        for ours, theirs in zip(tilewright.attention(q, k, v, **causal, **given), tilewright.attention(q, k, v, causal=True, instance='attention_128', **given)):
            numpy.testing.assert_array_equal(ours, theirs)
        begins = numpy.ascontiguousarray(places // 7 * 16)
        ends = begins + places % 7 * 3
        output, sums = tilewright.attention(q, k, v, range_begins=begins, range_ends=ends, **given)
        numbers = [tilewright.from_bf16(x) for x in (q, k, v)]
        for row in range(30):
            first, end = begins[1, row], min(ends[1, row], 70)
            if first >= end:
                numpy.testing.assert_array_equal(tilewright.from_bf16(output[1, row]), 0)
                numpy.testing.assert_array_equal(sums[1, :, row], -numpy.inf)
                continue
            alone = (tilewright.to_bf16(x) for x in (numbers[0][1:, row:row + 1], numbers[1][1:, first:end], numbers[2][1:, first:end]))
            expected = tilewright.attention(*alone, instance='attention_128', **given)
            numpy.testing.assert_array_equal(output[1, row], expected[0][0, 0])
            numpy.testing.assert_array_equal(sums[1, :, row], expected[1][0, :, 0])
        for wrong, said in ((dict(range_ends=None), 'both, or neither'), (dict(causal=True), 'causal is 0'),
                            (dict(range_begins=begins[:, :29]), 'must be 60 values')):
            with self.assertRaisesRegex(tilewright.Invalid, said):
                tilewright.attention(q, k, v, **{**dict(range_begins=begins, range_ends=ends), **given, **wrong})

    def test_values_in_keys(self):
        """Latent attention: one head of keys, whose first columns are the values; in rows, and in pages."""
        q, k = self.normal(2, 1, 16, 576), self.normal(2, 100, 1, 576)
        given = dict(values_in_keys=512, target='sm90a')
        output, sums = tilewright.attention(q, k, None, log_sums=True, **given)
        self.assertEqual(output.shape, (2, 1, 16, 512))
        numbers = [tilewright.from_bf16(x) for x in (q, k)]
        for sequence in range(2):
            for head in range(16):
                expected = reference(numbers[0][sequence, :, head], numbers[1][sequence, :, 0], numbers[1][sequence, :, 0, :512])
                self.near(output[sequence, :, head], expected)
                numpy.testing.assert_allclose(sums[sequence, head], expected[2], rtol=0, atol=1e-3)
        pages = tilewright.to_bf16(numpy.zeros((4, 64, 1, 576)))
        table = numpy.array([[2, 0], [3, 1]], numpy.int32)
        for sequence in range(2):
            pages[table[sequence, 0]] = k[sequence, :64]
            pages[table[sequence, 1], :36] = k[sequence, 64:]
        paged = tilewright.attention_paged(q, pages, None, table, numpy.array([100, 100], numpy.int32), keys=100, **given)
        numpy.testing.assert_array_equal(paged, output)
        for wrong, said in ((dict(v=k), 'v is given'), (dict(values_in_keys=577), 'k has 576 columns'),
                            (dict(values_in_keys=0), 'v')):
            with self.assertRaisesRegex(tilewright.Invalid, said):
                tilewright.attention(**{**dict(q=q, k=k, v=None), **given, **wrong})

    def test_against_float64(self):
        self.check(self.normal(2, 33, 2, COLUMNS), self.normal(2, 70, 1, COLUMNS), self.normal(2, 70, 1, COLUMNS), causal=True)
        sinks = self.random.standard_normal(2).astype(numpy.float32)
        self.check(self.normal(1, 20, 2, COLUMNS), self.normal(1, 50, 2, COLUMNS), self.normal(1, 50, 2, 64), causal=True,
                   window=9, softcap=3.0, sinks=sinks, scale=0.2)

    def test_e4m3(self):
        """What is multiplied is bf16, which has every number of e4m3: with scales of powers of 2 the result is bf16's, bit by bit."""
        numbers = [self.random.integers(-8, 9, (2, tokens, heads, 64)) / 4 for tokens, heads in ((9, 4), (30, 2), (30, 2))]
        scales = [numpy.array(of, numpy.float32) for of in ((0.5, 2.0), (2.0, 0.25), (4.0, 0.5))]
        q, k, v = (tilewright.Buffer.of(x.ravel().tolist(), x.shape, 'e4m3') for x in numbers)
        wide = [tilewright.to_bf16(x * numpy.repeat(scale, x.shape[2] // 2)[:, None]) for x, scale in zip(numbers, scales)]
        for kind in ('', '_decode'):
            output = tilewright.attention(q, k, v, causal=True, q_scales=scales[0], k_scales=scales[1], v_scales=scales[2],
                                          instance=f'attention_128_e4m3{kind}_ampere')
            right = tilewright.attention(*wide, causal=True, instance=f'attention_128{kind}_ampere')
            numpy.testing.assert_array_equal(numpy.array(output.values()).reshape(right.shape), tilewright.from_bf16(right))

    def test_packed_sequences(self):
        lengths = [(5, 40), (0, 7), (21, 0), (9, 30)]
        ends = numpy.cumsum(lengths, 0).astype(numpy.int32)
        q, k, v = self.normal(35, 2, COLUMNS), self.normal(77, 1, COLUMNS), self.normal(77, 1, COLUMNS)
        output, sums = tilewright.attention(q, k, v, query_ends=ends[:, 0].copy(), key_ends=ends[:, 1].copy(), causal=True,
                                            log_sums=True)
        self.assertEqual(sums.shape, (2, 35))
        begins = ends - lengths
        for (first, first_key), (last, last_key) in zip(begins, ends):
            for head in range(2 if first < last else 0):
                expected = reference(*(tilewright.from_bf16(x) for x in (q[first:last, head], k[first_key:last_key, 0],
                                                                         v[first_key:last_key, 0])), causal=True)
                self.near(output[first:last, head], expected)

    def test_pages(self):
        """In any order, by tokens and by heads, with NaN where no sequence has keys; of sizes that TMA takes and others."""
        for page in (16, 3):
            with self.subTest(page=page):
                self.check_pages(page)

    def check_pages(self, page):
        lengths, pages = [50, 0, 33], -(-50 // page)
        q = self.normal(3, 2, 4, COLUMNS)
        rows = [[self.normal(length, 2, COLUMNS) for length in lengths] for _ in 'kv']
        table = self.random.permutation(4 * pages)[:3 * pages].reshape(3, pages).astype(numpy.int32)
        caches = []
        for sequences in rows:
            cache = tilewright.to_bf16(numpy.full((4 * pages, page, 2, COLUMNS), numpy.nan))
            for sequence, keys in enumerate(sequences):
                for key, row in enumerate(keys):
                    cache[table[sequence, key // page], key % page] = row
            caches.append(cache)
        given = dict(page_table=table, key_lengths=numpy.array(lengths, numpy.int32), causal=True)
        output, sums = tilewright.attention_paged(q, *caches, log_sums=True, **given)
        self.assertEqual(sums.shape, (3, 4, 2))
        for sequence, length in enumerate(lengths):
            for head in range(4):
                expected = reference(tilewright.from_bf16(q[sequence, :, head]),
                                     *(tilewright.from_bf16(x[sequence][:, head // 2]) for x in rows), causal=True)
                self.near(output[sequence, :, head], expected)
        by_head = [x.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3) for x in caches]
        numpy.testing.assert_array_equal(tilewright.attention_paged(q, *by_head, keys=50, **given), output)

    def test_buffers(self):
        """Without numpy: a query of zeros sees the mean."""
        zeros = tilewright.Buffer.zeros((1, 3, 1, 64), 'fp16')
        v = tilewright.Buffer.of([i // 64 for i in range(8 * 64)], (1, 8, 1, 64), 'fp16')
        k = tilewright.Buffer.zeros((1, 8, 1, 64), 'fp16')
        output, sums = tilewright.attention(zeros, k, v, log_sums=True)
        self.assertEqual(output.values(), [3.5] * 3 * 64)
        self.assertEqual([round(value, 5) for value in sums.values()], [2.07944] * 3)

    def test_refusals(self):
        q, k = self.normal(2, 4, 2, COLUMNS), self.normal(2, 8, 1, COLUMNS)
        table, lengths = numpy.zeros((2, 1), numpy.int32), numpy.zeros(2, numpy.int32)
        cache = self.normal(3, 16, 1, COLUMNS)
        for sentence, attempt in (
                (r'q has shape \(4, 128\), but must be', lambda: tilewright.attention(q[0, :, 0], k, k)),
                (r'k has shape \(8, 1, 128\), but must be', lambda: tilewright.attention(q, k[0], k)),
                ('k and v must have as many tokens', lambda: tilewright.attention(q, k, k[:, :4])),
                ('and all as many sequences', lambda: tilewright.attention(q, k[:1], k[:1])),
                (r'out has shape \(2, 4, 2, 64\), but the output', lambda: tilewright.attention(q, k, k, q[..., :64])),
                ('k has shape .*Make a contiguous copy', lambda: tilewright.attention(q, k[:, :6], k[:, :6])),
                ('query_ends has type fp32, but must be s32', lambda: tilewright.attention(
                    q[0], k[0], k[0], query_ends=numpy.ones(1, numpy.float32), key_ends=lengths[:1])),
                ('Ends are given of queries and of keys, or of neither', lambda: tilewright.attention(
                    q[0], k[0], k[0], query_ends=lengths[:1])),
                ('sinks has shape', lambda: tilewright.attention(q, k, k, sinks=numpy.zeros(3, numpy.float32))),
                ('k_scales or v_scales are given, but the keys are not e4m3', lambda: tilewright.attention(
                    q, k, k, v_scales=numpy.ones(1, numpy.float32))),
                ('q_scales are given, but the queries are not e4m3', lambda: tilewright.attention(
                    q, k, k, q_scales=numpy.ones(1, numpy.float32))),
                ('window = 3 is of causal attention', lambda: tilewright.attention(q, k, k, window=3)),
                ('page_table has 1 rows, but q has 2', lambda: tilewright.attention_paged(q, cache, cache, table[:1], lengths)),
                ('page_table has shape .* must be int32', lambda: tilewright.attention_paged(q, cache, cache, lengths, lengths)),
                ('key_lengths has elements of 8 bytes that are no int32', lambda: tilewright.attention_paged(
                    q, cache, cache, table, lengths.astype(numpy.int64))),
                ('q, of pages, has shape', lambda: tilewright.attention_paged(q[0], cache, cache, table, lengths)),
                ('There is no instance', lambda: tilewright.attention(q, k, k, instance='zebra'))):
            with self.subTest(sentence), self.assertRaisesRegex(tilewright.Invalid, sentence):
                attempt()
        with self.assertRaisesRegex(tilewright.Unsupported, 'No compiled kernel attends on sm90a'):
            wide = self.normal(3, 16, 1, 512)
            tilewright.attention_paged(self.normal(2, 1, 1, 512), wide, wide, table, lengths)


if __name__ == '__main__':
    unittest.main(verbosity=2)
