"""rms_norm of torch tensors on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright


class TorchRmsNorm(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def integers(self, *shape):
        return torch.randint(-3, 4, shape).to(torch.bfloat16)

    def test_against_torch(self):
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


if __name__ == '__main__':
    unittest.main(verbosity=2)
