"""A layer of experts of torch tensors on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright


class TorchMoe(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def test_route_against_torch(self):
        logits = torch.randn(45, 24)
        routed = tilewright.route(logits, 4)
        best, chosen = logits.topk(4)
        self.assertTrue(torch.equal(routed.chosen.long(), chosen))
        torch.testing.assert_close(routed.weights, best.softmax(-1))
        experts, order = chosen.flatten().sort(stable=True)
        self.assertTrue(torch.equal(routed.index.long(), order // 4))
        self.assertTrue(torch.equal(routed.places.flatten().long(), order.argsort()))
        self.assertTrue(torch.equal(routed.ends.long(), torch.bincount(experts, minlength=24).cumsum(0)))

    def test_layer_against_torch(self):
        tokens, experts, k, hidden, inner = 20, 6, 2, 64, 32
        x, logits = torch.randn(tokens, hidden).bfloat16(), torch.randn(tokens, experts)
        gate_up, down = (torch.randn(experts, *shape).bfloat16() / 8 for shape in ((2 * inner, hidden), (hidden, inner)))
        in_turns = gate_up.unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2).contiguous().mT
        scores = logits.sigmoid()
        best, chosen = scores.topk(k)
        weights, right = 2.5 * best / best.sum(-1, keepdim=True), x.float()
        for token in range(tokens):
            for weight, expert in zip(weights[token], chosen[token]):
                gate, up = (gate_up[expert].float() @ x[token].float()).chunk(2)
                right[token] += weight * (down[expert].float() @ (torch.nn.functional.silu(gate) * up))

        def layer(x):
            return tilewright.moe(x, logits, in_turns, down.mT, k, scoring='sigmoid', scale=2.5, addend=x)
        for run in (layer, torch.compile(layer, backend='eager', fullgraph=True)):
            torch.testing.assert_close(run(x).float(), right, rtol=0.02, atol=0.05)


if __name__ == '__main__':
    unittest.main(verbosity=2)
