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
