"""attention of torch tensors on the host, that is, on the virtual GPU: operators, compilation, refusals."""
import random
import unittest

import support

support.need('torch')

import torch

import gpu_attention_against_torch as script
import tilewright


class TorchAttention(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.q, self.k, self.v = (self.normal(2, tokens, heads, 128) for tokens, heads in ((20, 4), (40, 2), (40, 2)))

    def normal(self, *shape):
        return torch.randn(shape).bfloat16()

    def expected(self, causal=True):
        q, k, v = (tensor.double().transpose(1, 2) for tensor in (self.q, self.k, self.v))
        mask = torch.ones(20, 40, dtype=torch.bool).tril(20) if causal else None
        return torch.nn.functional.scaled_dot_product_attention(
            q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), attn_mask=mask).transpose(1, 2)

    def near(self, output, right):
        self.assertEqual((output.dtype, output.shape), (torch.bfloat16, right.shape))
        torch.testing.assert_close(output.double(), right, rtol=2**-7, atol=2**-8)

    def test_against_torch(self):
        output, sums = tilewright.attention(self.q, self.k, self.v, causal=True, log_sums=True)
        self.near(output, self.expected())
        self.assertEqual((sums.dtype, sums.shape), (torch.float32, (2, 4, 20)))
        by_head = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in (self.q, self.k, self.v)]
        other, other_sums = tilewright.attention(*by_head, causal=True, log_sums=True)
        self.assertEqual(other.transpose(1, 2).is_contiguous(), True)
        self.assertTrue(torch.equal(other, output))
        self.assertTrue(torch.equal(other_sums, sums))
        out = torch.full_like(output, 99.0)
        self.assertIs(tilewright.attention(self.q, self.k, self.v, out, causal=True), out)
        self.assertTrue(torch.equal(out, output))

    def test_e4m3(self):
        """With scales of powers of 2 the result is bf16's, bit by bit."""
        q, k, v = (tensor.to(torch.float8_e4m3fn) for tensor in (self.q, self.k, self.v))
        scales = [torch.tensor(numbers) for numbers in ((0.5, 2.0), (2.0, 0.25), (4.0, 0.5))]
        output = tilewright.attention(q, k, v, causal=True, q_scales=scales[0], k_scales=scales[1], v_scales=scales[2],
                                      instance='attention_128_e4m3_ampere')
        wide = [(x.float() * scale.repeat_interleave(x.shape[2] // 2)[:, None]).bfloat16() for x, scale in zip((q, k, v), scales)]
        self.assertTrue(torch.equal(output, tilewright.attention(*wide, causal=True, instance='attention_128_ampere')))

    def test_sums_of_e4m3(self):
        """Who allows longer sums in the tensor core gets other kernels; the result stays near."""
        q, k, v = (self.normal(1, 300, 2, 128).to(torch.float8_e4m3fn) for _ in range(3))
        usual = tilewright.attention(q, k, v, target='sm90a')
        self.assertTrue(torch.equal(usual, tilewright.attention(q, k, v, target='sm90a', instance='attention_128_e4m3')))
        for every, instance in ((300, 'attention_128_e4m3_k192'), (640, 'attention_128_e4m3_k160')):
            output = tilewright.attention(q, k, v, target='sm90a', sums_join_every=every, instance=instance)
            torch.testing.assert_close(output, usual, rtol=0.1, atol=0.05)
            with self.assertRaisesRegex(tilewright.Unsupported, 'must join in float32 every 128 keys'):
                tilewright.attention(q, k, v, target='sm90a', instance=instance)

    def test_random_problems(self):
        script.check_random_problems(random.Random(7), 'cpu', 12)

    def test_compiled(self):
        script.check_model('cpu', 256, 2, 1, 2, (16, 33), 'aot_eager')

    def test_operators(self):
        operators = torch.ops.tilewright
        tests = ('test_schema', 'test_faketensor', 'test_aot_dispatch_dynamic')
        torch.library.opcheck(operators.attention.default, (self.q, self.k, self.v, *[None] * 8, True, True, 5, 0.0, 0.0,
                                                            0, 0, False, None, None), test_utils=tests)
        by_head = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in (self.q, self.k, self.v)]
        torch.library.opcheck(operators.attention.default, (*by_head, *[None] * 8, True, False, 0, 0.0, 0.0, 0, 0, False, None, None),
                              test_utils=tests)
        table, lengths = torch.randperm(6).int().view(2, 3), torch.tensor([33, 40], dtype=torch.int32)
        cache = self.normal(6, 16, 2, 128)
        paged = (self.q[:, :1].contiguous(), cache, cache, table, lengths, *[None] * 5)
        torch.library.opcheck(operators.attention_paged.default, (*paged, True, False, 0, 0.0, 0.0, 0, 0, None, True, None, None),
                              test_utils=tests)
        out = torch.empty(2, 1, 4, 128, dtype=torch.bfloat16)
        torch.library.opcheck(operators.attention_paged_out.default,
                              (out, torch.empty(4, 2), *paged, False, 0, 0.0, 0.0, 0, 0, 48, False, None, None), test_utils=tests[:2])

    def test_gradients_refused(self):
        k = self.k.clone().requires_grad_()
        with self.assertRaisesRegex(tilewright.Unsupported, 'k requires a gradient, and none goes through tilewright.attention yet'):
            tilewright.attention(self.q, k, self.v)
        table = torch.zeros(2, 3, dtype=torch.int32)
        with self.assertRaisesRegex(tilewright.Unsupported, 'q requires a gradient.*tilewright.attention_paged yet'):
            tilewright.attention_paged(self.q.clone().requires_grad_(), k, k, table, table[:, 0])
        with torch.no_grad():
            self.near(tilewright.attention(self.q, k, self.v), self.expected(causal=False))

    def test_refused(self):
        for sentence, arguments in (
                ('k is a list, but another', (self.q, [1], self.v)),
                ('k lies on meta, but q lies on cpu', (self.q, self.k.to('meta'), self.v)),
                ('Keys and values must have the type of the queries', (self.q, self.k.half(), self.v))):
            with self.subTest(sentence), self.assertRaisesRegex(tilewright.Invalid, sentence):
                tilewright.attention(*arguments)

    def test_by_its_description(self):
        q, k = torch.randn(2, 40, 128).bfloat16(), torch.randn(2, 40, 128).bfloat16()
        v, output = torch.randint(-3, 4, (2, 40, 128)).bfloat16(), torch.full((2, 40, 128), 99.0, dtype=torch.bfloat16)
        tilewright.call('attention', q=q, k=k, v=v, output=output, sequences=1, queries=40, keys=40, causal=True)
        right = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
        # Weights are rounded to bf16, and so is the result: 2^-8 of a sum of weights times at most 3, twice.
        self.assertLess((output.float() - right).abs().max(), 2 * 3 * 2.0 ** -8)


if __name__ == '__main__':
    unittest.main(verbosity=2)
