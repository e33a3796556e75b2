"""Elements and scales of torch tensors, on the host, that is, on the virtual GPU; and products of them."""
import unittest

import support

support.need('torch')

import torch

import tilewright
from tilewright._torch_made import operators_of


def quantised(x, scale_rows, largest=448.0, dtype=torch.float8_e4m3fn):
    """The definition, in torch's float32."""
    m, k = x.shape[-2:]
    padded = torch.nn.functional.pad(x.float(), (0, -k % 128, 0, -m % scale_rows))
    blocks = padded.unflatten(-1, (-1, 128)).unflatten(-3, (-1, scale_rows))  # [.., lines, rows, blocks, 128]
    scales = blocks.abs().amax((-1, -3)) / largest
    scales = torch.where(scales == 0, 1.0, scales)
    inverse = (1 / scales).unsqueeze(-2).unsqueeze(-1)
    elements = (blocks * inverse).flatten(-2).flatten(-3, -2)[..., :m, :k].to(dtype)
    return elements, scales


class TorchQuantise(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.x = torch.randn(70, 300)

    def same(self, made, right):
        self.assertTrue(torch.equal(made[0].view(torch.uint8), right[0].view(torch.uint8)))
        self.assertTrue(torch.equal(made[1], right[1]))

    def test_against_torch(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            x = self.x.to(dtype)
            self.same(tilewright.quantise_blocks(x), quantised(x, 1))
            made = tilewright.quantise_blocks(x, scale_rows=128, out_dtype=torch.float8_e5m2, column_major=True)
            self.same(made, quantised(x, 128, 57344.0, torch.float8_e5m2))

    def test_batches_slices_and_out(self):
        x = torch.randn(2, 3, 70, 300)[:, :, :, :256]
        for scale_rows in (1, 128):
            self.same(tilewright.quantise_blocks(x, scale_rows=scale_rows, column_major=True), quantised(x, scale_rows))
        one = torch.randn(40, 1, 256)  # decode: rows of the batch are more rows
        self.same(tilewright.quantise_blocks(one, column_major=True), quantised(one, 1))
        out = torch.empty(70, 300, dtype=torch.float8_e4m3fn), torch.empty(70, 3)
        self.assertIs(tilewright.quantise_blocks(self.x, out)[0], out[0])
        self.same(out, quantised(self.x, 1))

    def test_operators(self):
        options = (False, None, None)
        tests = ('test_schema', 'test_faketensor')
        for column_major in (False, True):
            torch.library.opcheck(operators_of('quantise').operator, (self.x, 1, torch.float8_e4m3fn, column_major, *options),
                                  test_utils=tests)
        torch.library.opcheck(operators_of('quantise').operator_out, (  # torch's test of schemas adds up what is written
            torch.empty(70, 300, dtype=torch.float8_e4m3fn), torch.empty(70, 3), self.x, 1, *options),
            test_utils=('test_faketensor',))

    def test_compiled_into_a_product(self):
        def layer(x, w):
            a, b = tilewright.quantise_blocks(x, column_major=True), tilewright.quantise_blocks(w, scale_rows=128)
            return tilewright.matmul_blockwise(a[0], b[0].mT, a[1], b[1].mT, out_dtype=torch.bfloat16)

        x, w = torch.randn(9, 256), torch.randn(144, 256)
        d = torch.compile(layer, backend='eager', fullgraph=True)(x, w)
        self.assertTrue(torch.equal(d, layer(x, w)))
        error = (d.double() - x.double() @ w.double().mT).abs()
        self.assertLess((error / (x.double().abs() @ w.double().abs().mT)).max(), 0.05)

    def test_refusals(self):
        x = self.x.clone().requires_grad_()
        with self.assertRaisesRegex(tilewright.Unsupported, 'x requires a gradient'):
            tilewright.quantise_blocks(x)
        with torch.no_grad():
            self.same(tilewright.quantise_blocks(x), quantised(self.x, 1))
        for sentence, call in (
                ('The column_stride of the source is 300', lambda: tilewright.quantise_blocks(self.x.mT)),
                ('float64, which is not among', lambda: tilewright.quantise_blocks(self.x.double())),
                ('The elements of out have dtype torch.uint8, but out_dtype is torch.float8_e4m3fn',
                 lambda: tilewright.quantise_blocks(self.x, (torch.empty(70, 300, dtype=torch.uint8), torch.empty(70, 3)),
                                                    out_dtype='e4m3')),
                ('but another is a list', lambda: tilewright.quantise_blocks([1.0], (self.x, self.x)))):
            with self.assertRaisesRegex(tilewright.Invalid, sentence):
                call()

    def test_by_its_description(self):
        x = torch.randn(70, 300)
        elements, scales = torch.empty(70, 300, dtype=torch.float8_e4m3fn), torch.empty(70, 3)
        tilewright.call('quantise', source=x, elements=elements, scales=scales, powers_of_two=True)
        right = tilewright.quantise_blocks(x, powers_of_two=True)
        self.assertTrue(torch.equal(elements.view(torch.uint8), right[0].view(torch.uint8)))
        self.assertTrue(torch.equal(scales, right[1]))


if __name__ == '__main__':
    unittest.main(verbosity=2)
