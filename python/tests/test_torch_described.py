"""Operators for torch that follow from descriptions, on the virtual GPU."""
import unittest

import support

support.need('torch')
import torch  # noqa: E402

import tilewright  # noqa: E402
from tilewright import _library, _torch_described  # noqa: E402


class Described(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def integers(self, *shape):
        return torch.randint(-3, 4, shape).to(torch.bfloat16)

    def test_every_family_has_one(self):
        self.assertEqual(set(_torch_described.OPERATORS), set(_library.families()))
        for family in _library.families():
            schema = getattr(torch.ops.tilewright, f'call_{family}').default._schema
            arguments = {argument.name: argument for argument in schema.arguments}
            for tensor in _library.describe(family)['tensors']:
                argument = arguments[tensor['name']]
                with self.subTest(family=family, tensor=tensor['name']):
                    self.assertEqual(argument.is_write, tensor['flow'] == 'written')
                    self.assertEqual(str(argument.type).startswith('Optional'), tensor['optional'])

    # family quantise: begin
    def test_quantise(self):
        x = torch.randn(70, 300)
        elements, scales = torch.empty(70, 300, dtype=torch.float8_e4m3fn), torch.empty(70, 3)
        tilewright.call('quantise', source=x, elements=elements, scales=scales, powers_of_two=True)
        right = tilewright.quantise_blocks(x, powers_of_two=True)
        self.assertTrue(torch.equal(elements.view(torch.uint8), right[0].view(torch.uint8)))
        self.assertTrue(torch.equal(scales, right[1]))
    # family quantise: end

    # family grouped: begin
    def test_grouped_compiled(self):
        a, w, rows = self.integers(30, 40), self.integers(3, 24, 40), torch.tensor([7, 7, 30], dtype=torch.int32)
        bias = self.integers(24).float()

        def layer(a, w, rows, bias):
            d = a.new_empty(30, 24)
            tilewright.call('grouped', a=a, b=w.mT, rows=rows, d=d, epilogue=tilewright.Epilogue(bias=bias))
            return torch.relu(d)

        right = torch.relu(tilewright.matmul_grouped(a, w.mT, rows, epilogue=tilewright.Epilogue(bias=bias)))
        self.assertTrue(torch.equal(layer(a, w, rows, bias), right))
        compiled = torch.compile(layer, backend='eager', fullgraph=True)
        self.assertTrue(torch.equal(compiled(a, w, rows, bias), right))
    # family grouped: end

    # family attention: begin
    def test_attention(self):
        q, k = torch.randn(2, 40, 128).bfloat16(), torch.randn(2, 40, 128).bfloat16()
        v, output = self.integers(2, 40, 128), torch.full((2, 40, 128), 99.0, dtype=torch.bfloat16)
        tilewright.call('attention', q=q, k=k, v=v, output=output, sequences=1, queries=40, keys=40, causal=True)
        right = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
        # Weights are rounded to bf16, and so is the result: 2^-8 of a sum of weights times at most 3, twice.
        self.assertLess((output.float() - right).abs().max(), 2 * 3 * 2.0 ** -8)
    # family attention: end

    # family block_quantise: begin
    # family block_scaled: begin
    def test_block_scaled(self):
        def layer(x, w, type):
            a, a_scales = tilewright.block_quantise(x, out_dtype=type)
            b, b_scales = tilewright.block_quantise(w, out_dtype=type)
            told = {} if type == 'e4m3' else {'a_type': type, 'b_type': type}
            return tilewright.matmul_block_scaled(a, b.mT, a_scales, b_scales, out_dtype='fp32', target='sm100a', **told)

        x, w = self.integers(20, 128), self.integers(24, 128)
        x[:, ::32], w[:, ::32] = 4.0, 4.0  # the largest of a block: e2m1 holds all of them
        for type in ('e4m3', 'e2m1'):
            with self.subTest(type):
                self.assertTrue(torch.equal(layer(x, w, type), x.float() @ w.float().mT))
                compiled = torch.compile(layer, backend='eager', fullgraph=True)
                self.assertTrue(torch.equal(compiled(x, w, type), x.float() @ w.float().mT))

    # family block_dequantise: begin
    def test_block_dequantise(self):
        def there_and_back(x):
            elements, scales = tilewright.block_quantise(x, out_dtype='e2m1', scale_order='rows')
            return tilewright.block_dequantise(elements, scales, elements_type='e2m1', scale_order='rows')

        x = self.integers(20, 72)
        x[:, ::32] = 4.0
        self.assertTrue(torch.equal(there_and_back(x), x))
        self.assertTrue(torch.equal(torch.compile(there_and_back, backend='eager', fullgraph=True)(x), x))
    # family block_dequantise: end

    @unittest.skipUnless(hasattr(torch, 'float4_e2m1fn_x2'), 'torch has no float4_e2m1fn_x2')
    def test_types_of_torch(self):
        x = self.integers(20, 128)
        x[:, ::32] = 4.0
        a, scales = tilewright.block_quantise(x, out_dtype='e2m1')
        a, scales = a.view(torch.float4_e2m1fn_x2), scales.view(torch.float8_e8m0fnu)
        d = tilewright.matmul_block_scaled(a, a.mT, scales, scales, out_dtype='fp32', target='sm100a')
        self.assertTrue(torch.equal(d, x.float() @ x.float().mT))
    # family block_scaled: end
    # family block_quantise: end

    # family rms_norm: begin
    def test_rms_norm(self):
        x, residual, weight = self.integers(2, 3, 64), self.integers(2, 3, 64), self.integers(64)

        def right(y):
            return y.float() / torch.sqrt(y.float().square().mean(-1, keepdim=True) + 0.5) * weight.float()

        # One rounding to bf16 of a number of at most 24 = 3 sqrt(64).
        for layer in (tilewright.rms_norm, torch.compile(tilewright.rms_norm, backend='eager', fullgraph=True)):
            self.assertLess((layer(x, weight, epsilon=0.5) - right(x)).abs().max(), 24 * 2.0 ** -8)
            y, total = layer(x, weight, residual, epsilon=0.5)
            self.assertTrue(torch.equal(total, x + residual))
            self.assertLess((y - right(total)).abs().max(), 24 * 2.0 ** -8)
        with self.assertRaisesRegex(tilewright.Invalid, r'The residual has shape \(6, 64\), but x has shape \(2, 3, 64\)'):
            tilewright.rms_norm(x, weight, residual.flatten(0, 1))
    # family rms_norm: end

    # family rotary: begin
    def test_rotary(self):
        heads, key_heads, size = 3, 2, 32
        qkv = self.integers(2, 2, (heads + 2 * key_heads) * size)
        cosines, sines = self.integers(10, size // 2).float(), self.integers(10, size // 2).float()
        positions, slots = (torch.tensor(rows, dtype=torch.int32) for rows in ([9, 0, 4, 4], [5, -1, 0, 7]))
        by_head = qkv.view(4, -1, size)
        x, y = by_head.float().chunk(2, -1)
        c, s = (table[positions.long()][:, None] for table in (cosines, sines))
        turned = torch.cat([x * c - y * s, y * c + x * s], -1).bfloat16()  # integers below 2^8
        for layer in (tilewright.rotary, torch.compile(tilewright.rotary, backend='eager', fullgraph=True)):
            k, v = torch.full((2, 4, key_heads, size), 99.0).bfloat16(), torch.full((2, 4, key_heads, size), 99.0).bfloat16()
            q, *_ = layer(qkv, cosines, sines, heads, key_heads, k=k, v=v, positions=positions, slots=slots)
            self.assertTrue(torch.equal(q, turned[:, :heads].view(2, 2, heads, size)))
            for cache, rows in ((k, turned[:, heads:heads + key_heads]), (v, by_head[:, heads + key_heads:])):
                right = torch.full((8, key_heads, size), 99.0).bfloat16()
                right[[5, 0, 7]] = rows[[0, 2, 3]]
                self.assertTrue(torch.equal(cache.view(8, key_heads, size), right))
        q, k, v = tilewright.rotary(qkv, cosines, sines, heads, key_heads)
        self.assertEqual((k.shape, v.shape), (torch.Size([2, 2, key_heads, size]),) * 2)
        self.assertTrue(torch.equal(v.view(4, key_heads, size), by_head[:, heads + key_heads:]))
        with self.assertRaisesRegex(tilewright.Invalid, 'a cache must be contiguous'):
            tilewright.rotary(qkv, cosines, sines, heads, key_heads, k=k.transpose(1, 2), v=v)
    # family rotary: end

    def test_outputs_of_another_shape(self):
        """With one row no stride tells that the output is too small."""
        bytes_of = lambda *shape: torch.zeros(shape, dtype=torch.uint8)  # noqa: E731
        half = lambda *shape: torch.ones(shape, dtype=torch.float16)  # noqa: E731
        tables = torch.ones(1, 8), torch.ones(1, 8)
        packed = dict(out_dtype='e2m1', scale_type='ue4m3')
        for sentence, refused in (
                ('d has shape', lambda: tilewright.matmul_block_scaled(
                    bytes_of(1, 32), bytes_of(600, 32).mT, bytes_of(512), bytes_of(5 * 512), half(1, 8).bfloat16(), a_type='e2m1', b_type='e2m1')),
                ('q has shape', lambda: tilewright.rotary(half(1, 1024), *tables, 62, 1, q=half(1, 16))),
                ('elements has shape', lambda: tilewright.block_quantise(half(1, 1024), out=(bytes_of(1, 8), bytes_of(8192)), **packed)),
                ('values has shape', lambda: tilewright.block_dequantise(
                    bytes_of(1, 512), bytes_of(8192), half(1, 8), elements_type='e2m1', scale_type='ue4m3')),
                ('source has shape', lambda: tilewright.call('rms_norm', source=half(8, 64), output=half(8, 64), weight=half(64), m=12)),
                ('its values must lie', lambda: tilewright.rms_norm(half(2, 64), half(128)[::2])),
                ('positions has type fp32', lambda: tilewright.rotary(half(1, 64), *tables, 2, 1, positions=torch.zeros(1)))):
            with self.subTest(sentence), self.assertRaisesRegex(tilewright.Invalid, sentence):
                refused()

    def test_refusals(self):
        a, d = self.integers(8, 16), torch.empty(8, 8, dtype=torch.bfloat16)
        for error, sentence, given in (
                (tilewright.Invalid, "matmul needs 'b'", {'a': a, 'd': d}),
                (tilewright.Invalid, "matmul has no 'c'", {'a': a, 'b': a.mT, 'd': d, 'c': d}),
                (tilewright.Invalid, 'but another is a list', {'a': a, 'b': [1.0], 'd': d}),
                (tilewright.Unsupported, 'An operand requires a gradient',
                 {'a': a.clone().requires_grad_(), 'b': a.mT, 'd': d})):
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                tilewright.call('matmul', **given)
        with self.assertRaisesRegex(tilewright.Invalid, 'There is no family'):
            tilewright.call('attend', q=a)


if __name__ == '__main__':
    unittest.main(verbosity=2)
