"""Reasons that vLLM is told: the sentences of the library, and of what pack_weights takes."""
import types
import unittest

import tilewright.vllm

LAYER = dict(full_weight_shape=(4096, 512), partition_weight_shape=(4096, 512), weight_type='uint4b8', act_type='torch.bfloat16', group_size=128,
             zero_points=False, has_g_idx=False)


class Vllm(unittest.TestCase):
    def reason(self, **changes):
        return tilewright.vllm.refusal(types.SimpleNamespace(**LAYER | changes))

    def test_reasons(self):
        for text, changes in (('Weights of uint8b128 are not served', dict(weight_type='uint8b128')),
                              ('zero_points = True are not served', dict(zero_points=True)),
                              ('zero_points = False are not served', dict(weight_type='uint4')),
                              ('(g_idx) are not taken', dict(has_g_idx=True)),
                              ('Activations of torch.float32 are not served', dict(act_type='torch.float32')),
                              ('4096 inputs are no whole groups of 96', dict(group_size=96)),
                              ('16', dict(group_size=16)),
                              ('n = -1', dict(partition_weight_shape=(4096, -1)))):
            with self.subTest(text):
                self.assertIn(text, self.reason(**changes))

    def test_served(self):
        self.assertIsNone(self.reason())
        self.assertIsNone(self.reason(group_size=-1))

    def test_class(self):
        kernel = tilewright.vllm.kernel_class(object)
        self.assertEqual(kernel.get_min_capability(), 90)
        self.assertEqual(kernel.can_implement(types.SimpleNamespace(**LAYER)), (True, None))
        self.assertFalse(kernel.can_implement(types.SimpleNamespace(**LAYER | dict(has_g_idx=True)))[0])


if __name__ == '__main__':
    unittest.main()
