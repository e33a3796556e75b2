"""Convolutions of torch tensors on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright
from tilewright._torch_made import operators_of


def expected(x, w, **steps):
    """torch's, in float64, with channels last."""
    d = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), w.double().permute(0, 3, 1, 2),
                                   **steps)
    return d.permute(0, 2, 3, 1)


class TorchConv2d(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.x, self.w = self.integers(2, 6, 5, 16), self.integers(8, 3, 3, 16)

    def integers(self, *shape, dtype=torch.bfloat16):
        return torch.randint(-3, 4, shape).to(dtype)

    def same(self, d, right, dtype=torch.bfloat16):
        self.assertEqual((d.dtype, d.shape), (dtype, right.shape))
        self.assertTrue(torch.equal(d, right.to(dtype)), f'{d}\n{right}')

    def test_against_torch(self):
        self.same(tilewright.conv2d(self.x, self.w, stride=(2, 1), padding=1),
                  expected(self.x, self.w, stride=(2, 1), padding=1))
        x, w = self.x.half(), self.w.half()
        self.same(tilewright.conv2d(x, w, dilation=2, padding=2),
                  expected(x, w, dilation=2, padding=2), torch.float16)
        w = self.integers(8, 1, 1, 4)
        self.same(tilewright.conv2d(self.x, w, groups=4), expected(self.x, w, groups=4))

    def test_channels_last_is_free(self):
        x = self.integers(1, 16, 4, 4).to(memory_format=torch.channels_last)
        self.same(tilewright.conv2d(x.permute(0, 2, 3, 1), self.w),
                  expected(x.permute(0, 2, 3, 1), self.w))
        with self.assertRaisesRegex(tilewright.Invalid, 'x has shape .* must be contiguous'):
            tilewright.conv2d(x.contiguous().permute(0, 2, 3, 1), self.w)

    def test_epilogue_and_output(self):
        bias, residual = self.integers(8), self.integers(2, 4, 3, 8)
        epilogue = tilewright.Epilogue(bias=bias, residual=residual, activation='relu')
        out = torch.full((2, 4, 3, 8), 99.0, dtype=torch.bfloat16)
        right = torch.relu(expected(self.x, self.w) + bias + residual)
        self.assertIs(tilewright.conv2d(self.x, self.w, out, epilogue=epilogue), out)
        self.same(out, right)

    def test_operator(self):
        scalars = (1.0, 0.0, 1.0, 'none', 0.0, 0.0, False)
        torch.library.opcheck(
            operators_of('conv2d').operator,
            (self.x, self.w, None, None, None, None, None, torch.bfloat16, [1, 1], [1, 1, 1, 1],
             [1, 1], 1, *scalars, False, True, None, None),
            test_utils=('test_schema', 'test_faketensor'))

    def test_compiled(self):
        def layer(x, w, bias):
            return torch.relu(tilewright.conv2d(x, w, padding=1,
                                                epilogue=tilewright.Epilogue(bias=bias)))

        bias = self.integers(8)
        compiled = torch.compile(layer, backend='eager', fullgraph=True)
        self.same(compiled(self.x, self.w, bias),
                  torch.relu(expected(self.x, self.w, padding=1) + bias))

    def gradients(self, function, *tensors):
        tensors = [tensor.detach().clone().requires_grad_() for tensor in tensors]
        d = function(*tensors)
        (d * (torch.arange(d.numel()).reshape(d.shape) % 5 - 2)).sum().backward()
        return [tensor.grad for tensor in tensors]

    def check_gradients(self, x, w, **steps):
        for given, right in zip(self.gradients(lambda x, w: tilewright.conv2d(x, w, **steps), x, w),
                                self.gradients(lambda x, w: expected(x, w, **steps), x, w)):
            self.same(given, right, x.dtype)

    def test_gradients(self):
        self.check_gradients(self.x, self.w, stride=(2, 1), padding=1, dilation=(1, 2))
        self.check_gradients(self.x.half(), self.w.half(), padding=(1, 0))
        self.check_gradients(self.integers(2, 6, 5, 3), self.integers(5, 3, 2, 3), stride=3)  # channels of no TMA

    def test_gradients_of_groups(self):
        self.check_gradients(self.x, self.integers(8, 3, 2, 4), groups=4, stride=2, padding=1)
        self.check_gradients(self.x.half(), self.integers(16, 3, 3, 1).half(), groups=16, padding=1)  # depthwise
        self.check_gradients(self.integers(1, 5, 5, 16), self.integers(128, 3, 3, 8), groups=2, stride=2)  # dgrad by TMA

    def test_gradients_of_the_epilogue(self):
        bias, source = self.integers(8), self.integers(2, 4, 3, 8)

        def ours(x, w, bias, source):
            return tilewright.conv2d(x, w, epilogue=tilewright.Epilogue(alpha=0.5, bias=bias, source=source, beta=2.0))

        def right(x, w, bias, source):
            return 0.5 * expected(x, w) + bias + 2.0 * source

        tensors = (self.x, self.w, bias, source)
        for given, true in zip(self.gradients(ours, *tensors), self.gradients(right, *tensors)):
            self.same(given, true)

    def test_compiled_gradients(self):
        compiled = torch.compile(lambda x, w: tilewright.conv2d(x, w, padding=1), backend='aot_eager', fullgraph=True)
        for given, right in zip(self.gradients(compiled, self.x, self.w),
                                self.gradients(lambda x, w: expected(x, w, padding=1), self.x, self.w)):
            self.same(given, right)

    def test_gradients_refused(self):
        self.w.requires_grad_(True)
        with self.assertRaisesRegex(tilewright.Unsupported, 'gradients are there for bf16 and fp16 alone'):
            tilewright.conv2d(self.x, self.w, epilogue=tilewright.Epilogue(activation='relu'))
        with self.assertRaisesRegex(tilewright.Unsupported, 'with an output of the caller'):
            tilewright.conv2d(self.x, self.w, torch.empty(2, 4, 3, 8, dtype=torch.bfloat16))


if __name__ == '__main__':
    unittest.main(verbosity=2)
