"""FP8 products of torch tensors with scales of blocks, on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright
from tilewright import _library
from tilewright._torch_made import operators_of

E4M3 = torch.float8_e4m3fn


def expected(a, b, a_scales, b_scales, columns=128):
    """In float64."""
    k, n = b.shape[-2:]
    wide = a.double() * a_scales.double().repeat_interleave(128, -1)[..., :k]
    scales = b_scales.double().repeat_interleave(128, -2).repeat_interleave(columns, -1)
    return wide @ (b.double() * scales[..., :k, :n])


class TorchBlockwise(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.a, self.w = self.integers(20, 400), self.integers(150, 400)
        self.a_scales, self.w_scales = self.scales(20, 4), self.scales(2, 4)

    def integers(self, *shape, dtype=E4M3):
        return torch.randint(-1, 2, shape).to(torch.float32).to(dtype)

    def scales(self, *shape):
        return 2.0 ** torch.randint(-1, 2, shape)

    def given(self):
        return self.a, self.w.mT, self.a_scales, self.w_scales.mT

    def same(self, d, right, dtype=torch.bfloat16):
        self.assertEqual((d.dtype, d.shape), (dtype, right.shape))
        self.assertTrue(torch.equal(d, right.to(dtype)), f'{d}\n{right}')

    def test_against_torch(self):
        right = expected(*self.given())
        self.same(tilewright.matmul_blockwise(*self.given()), right)
        a_scales = self.a_scales.mT.contiguous().mT  # column-major
        self.same(tilewright.matmul_blockwise(self.a, self.w.mT, a_scales, self.w_scales.mT.contiguous()), right)
        column_scales = self.scales(4, 150)
        a = self.integers(20, 400, dtype=torch.float8_e5m2)
        self.same(tilewright.matmul_blockwise(a, self.w.mT, self.a_scales, column_scales, out_dtype=torch.float32),
                  expected(a, self.w.mT, self.a_scales, column_scales, 1), torch.float32)

    def test_batches(self):
        a, a_scales = self.integers(2, 20, 400), self.scales(2, 20, 4)
        right = expected(a, self.w.mT, a_scales, self.w_scales.mT)
        self.same(tilewright.matmul_blockwise(a, self.w.mT, a_scales, self.w_scales.mT), right)
        a_scales = a_scales.mT.contiguous().mT  # rows of the batch do not lie one behind the other
        self.same(tilewright.matmul_blockwise(a, self.w.mT, a_scales, self.w_scales.mT), right)

    def test_epilogue_and_output(self):
        bias, residual = torch.randint(-3, 4, (150,)).float(), torch.randint(-3, 4, (20, 150)).bfloat16()
        epilogue = tilewright.Epilogue(bias=bias, residual=residual, activation='relu')
        out = torch.full((20, 150), 99.0, dtype=torch.bfloat16)
        self.assertIs(tilewright.matmul_blockwise(*self.given(), out, epilogue=epilogue), out)
        self.same(out, torch.relu(expected(*self.given()) + bias + residual))

    def test_schema_has_what_the_family_reads(self):
        described = _library.describe('blockwise')['tensors']
        self.assertEqual(operators_of('blockwise').operands,
                         [tensor['name'] for tensor in described if tensor['flow'] == 'read'])

    def test_operator(self):
        scalars = (1.0, 0.0, 1.0, 'none', 0.0, 0.0, False)
        torch.library.opcheck(
            operators_of('blockwise').operator,
            (*self.given(), None, None, None, None, None, torch.bfloat16, False, *scalars, False, True, None, None),
            test_utils=('test_faketensor',))  # torch compares no FP8 on the host for test_schema

    def test_compiled(self):
        def layer(a, w, a_scales, w_scales, bias):
            return torch.relu(tilewright.matmul_blockwise(a, w.mT, a_scales, w_scales.mT,
                                                          epilogue=tilewright.Epilogue(bias=bias)))

        bias = torch.randint(-3, 4, (150,)).float()
        compiled = torch.compile(layer, backend='eager', fullgraph=True)
        self.same(compiled(self.a, self.w, self.a_scales, self.w_scales, bias),
                  torch.relu(expected(*self.given()) + bias))

    def test_refusals(self):
        a, b, a_scales, b_scales = self.given()
        for sentence, call in (
                ('a_scales has shape', lambda: tilewright.matmul_blockwise(a, b, a_scales.mT, b_scales)),
                ('The scales of B have type bf16, but must be fp32',
                 lambda: tilewright.matmul_blockwise(a, b, a_scales, b_scales.bfloat16())),
                ('one of them must be 1',
                 lambda: tilewright.matmul_blockwise(a, b, self.scales(20, 8)[:, ::2], b_scales)),
                ('The pitch of the scales of A is 0 elements',
                 lambda: tilewright.matmul_blockwise(a, b, self.scales(1, 4).expand(20, 4), b_scales)),
                ('One operand is a torch tensor, but another is a list',
                 lambda: tilewright.matmul_blockwise(a, b, [1.0], b_scales))):
            with self.assertRaisesRegex(tilewright.Invalid, sentence):
                call()


if __name__ == '__main__':
    unittest.main(verbosity=2)
