"""Products of torch tensors in groups, on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright
from tilewright import _library
from tilewright._torch_made import operators_of


def expected(a, b, sizes):
    """In float64: rows of the groups, one behind the other."""
    return torch.cat([rows.double() @ weight.double() for rows, weight in zip(a[:sum(sizes)].split(sizes), b)])


class TorchGrouped(unittest.TestCase):
    sizes = [5, 0, 1, 40]

    def setUp(self):
        torch.manual_seed(7)
        self.a, self.w = self.integers(46, 64), self.integers(4, 24, 64)
        self.ends = torch.tensor(self.sizes).cumsum(0).to(torch.int32)

    def integers(self, *shape):
        return torch.randint(-3, 4, shape).to(torch.bfloat16)

    def test_against_torch(self):
        d = tilewright.matmul_grouped(self.a, self.w.mT, self.ends)
        self.assertTrue(torch.equal(d, expected(self.a, self.w.mT, self.sizes).to(torch.bfloat16)))
        index = torch.randint(0, 46, (46,), dtype=torch.int32)
        d = tilewright.matmul_grouped(self.a, self.w.mT, self.ends, row_index=index)
        self.assertTrue(torch.equal(d, expected(self.a[index], self.w.mT, self.sizes).to(torch.bfloat16)))

    def test_quantised_and_gathered(self):
        a, a_scales = tilewright.quantise_blocks(torch.randn(20, 272).to(torch.bfloat16), column_major=True)
        w, w_scales = tilewright.quantise_blocks(torch.randn(4, 48, 272).to(torch.bfloat16), scale_rows=128)
        index = torch.randint(0, 20, (46,), dtype=torch.int32)
        d = tilewright.matmul_grouped(a, w.mT, self.ends, row_index=index, a_scales=a_scales, b_scales=w_scales.mT)
        lying = tilewright.matmul_grouped(a.view(torch.uint8)[index].view(a.dtype), w.mT, self.ends, a_scales=a_scales[index].contiguous(),
                                          b_scales=w_scales.mT)
        self.assertTrue(torch.equal(d, lying))
        wide = a.double() * a_scales.double().repeat_interleave(128, -1)[:, :272]
        weight = w.double() * w_scales.double().repeat_interleave(128, -2)[:, :48].repeat_interleave(128, -1)[:, :, :272]
        right = expected(wide[index], weight.mT, self.sizes)
        self.assertLess((d.double() - right).abs().max(), 0.01 * right.abs().max())

    def arguments(self, a):
        """Of the operator."""
        scalars = (1.0, 0.0, 1.0, 'none', 0.0, 0.0, False)
        return (a, self.w.mT, self.ends, *[None] * 8, torch.bfloat16, *scalars, False, True, None, None)

    def test_no_gradient_is_lost(self):
        a = self.a.clone().requires_grad_()
        with self.assertRaisesRegex(tilewright.Unsupported, 'An operand requires a gradient'):
            tilewright.matmul_grouped(a, self.w.mT, self.ends)
        with self.assertRaisesRegex(RuntimeError, 'Trying to backward through tilewright.matmul_grouped'):
            operators_of('grouped').operator(*self.arguments(a)).sum().backward()

    def test_schema_has_what_the_family_reads(self):
        described = _library.describe('grouped')['tensors']
        self.assertEqual(operators_of('grouped').operands,
                         [tensor['name'] for tensor in described
                          if tensor['flow'] == 'read' and 'block_scales' not in tensor['name']])

    def test_operator(self):
        torch.library.opcheck(operators_of('grouped').operator, self.arguments(self.a),
                              test_utils=('test_schema', 'test_faketensor'))

    def test_compiled(self):
        def layer(a, w, ends, bias):
            return torch.relu(tilewright.matmul_grouped(a, w.mT, ends, epilogue=tilewright.Epilogue(bias=bias)))

        bias = torch.randint(-3, 4, (24,)).float()
        d = torch.compile(layer, backend='eager', fullgraph=True)(self.a, self.w, self.ends, bias)
        self.assertTrue(torch.equal(d, torch.relu(expected(self.a, self.w.mT, self.sizes) + bias).to(torch.bfloat16)))

    def test_compiled_by_its_description(self):
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


if __name__ == '__main__':
    unittest.main(verbosity=2)
