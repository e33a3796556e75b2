"""block_quantise, block_dequantise and matmul_block_scaled of torch tensors on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright


class TorchBlockScales(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def integers(self, *shape):
        return torch.randint(-3, 4, shape).to(torch.bfloat16)

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

    def test_block_dequantise(self):
        def there_and_back(x):
            elements, scales = tilewright.block_quantise(x, out_dtype='e2m1', scale_order='rows')
            return tilewright.block_dequantise(elements, scales, elements_type='e2m1', scale_order='rows')

        x = self.integers(20, 72)
        x[:, ::32] = 4.0
        self.assertTrue(torch.equal(there_and_back(x), x))
        self.assertTrue(torch.equal(torch.compile(there_and_back, backend='eager', fullgraph=True)(x), x))

    @unittest.skipUnless(hasattr(torch, 'float4_e2m1fn_x2'), 'torch has no float4_e2m1fn_x2')
    def test_types_of_torch(self):
        x = self.integers(20, 128)
        x[:, ::32] = 4.0
        a, scales = tilewright.block_quantise(x, out_dtype='e2m1')
        a, scales = a.view(torch.float4_e2m1fn_x2), scales.view(torch.float8_e8m0fnu)
        d = tilewright.matmul_block_scaled(a, a.mT, scales, scales, out_dtype='fp32', target='sm100a')
        self.assertTrue(torch.equal(d, x.float() @ x.float().mT))


if __name__ == '__main__':
    unittest.main(verbosity=2)
