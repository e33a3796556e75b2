"""A layer of experts of torch tensors on the host, that is, on the virtual GPU."""
import collections
import contextlib
import unittest
import unittest.mock

import support

support.need('torch')

import torch

import tilewright
from tilewright._library import library

EXPERTS, HIDDEN, INNER = 4, 256, 128


@contextlib.contextmanager
def counted(loaded, counts):
    """Counts calls of the library that run something."""
    with contextlib.ExitStack() as stack:
        for name in ('tw_simulate', 'tw_sequence_simulate'):
            def run(*arguments, name=name, function=getattr(loaded, name)):
                counts[name] += 1
                return function(*arguments)
            stack.enter_context(unittest.mock.patch.object(loaded, name, run))
        yield


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

    def weights_of_each_kind(self):
        """Gate-up and down by the names of their formats."""
        def in_blocks(weights):
            elements, scales = tilewright.quantise_blocks(weights, scale_rows=128)
            return elements.mT, scales.mT

        def packed(n, k):
            codes, scales = torch.randint(0, 256, (EXPERTS, n, k // 2)).byte(), torch.randint(120, 124, (EXPERTS, n, k // 32)).byte()
            return tilewright.pack_weights(codes, scales, layout='mxfp4')
        gate_up, down = (torch.randn(EXPERTS, *shape).bfloat16() / 16 for shape in ((2 * INNER, HIDDEN), (HIDDEN, INNER)))
        return {'bf16': (gate_up.mT, down.mT), 'fp8': (in_blocks(gate_up), in_blocks(down)),
                'mxfp4': (packed(2 * INNER, HIDDEN), packed(HIDDEN, INNER))}

    def by_single_calls(self, x, logits, gate_up, down, k):
        routed = tilewright.route(logits, k)
        rows = tilewright.combine(x, routed.index)
        gate = tilewright.Epilogue(activation='silu', gated=True)
        if isinstance(gate_up, tilewright.PackedWeights):
            gated = tilewright.matmul_four_bit(rows, gate_up, rows=routed.ends, epilogue=gate)
            made = tilewright.matmul_four_bit(gated, down, rows=routed.ends)
        elif isinstance(gate_up, tuple):
            elements, scales = tilewright.quantise_blocks(rows, column_major=True)
            elements, scales = tilewright.matmul_requantised(elements, gate_up[0], scales, gate_up[1], rows=routed.ends, gated_blocks=True,
                                                             column_major=True, epilogue=tilewright.Epilogue(activation='silu'))
            made = tilewright.matmul_grouped(elements, down[0], routed.ends, a_scales=scales, b_scales=down[1])
        else:
            gated = tilewright.matmul_grouped(rows, gate_up, routed.ends, epilogue=gate)
            made = tilewright.matmul_grouped(gated, down, routed.ends)
        return tilewright.combine(made, routed.places, routed.weights, x)

    def test_one_call_of_the_library(self):
        """Bits are those of single calls, also where a later call has other tensors of the same shapes."""
        loaded, counts = library(), collections.Counter()
        for name, weights in self.weights_of_each_kind().items():
            for again in range(2):
                x, logits = torch.randn(20, HIDDEN).bfloat16(), torch.randn(20, EXPERTS)
                right = self.by_single_calls(x, logits, *weights, 2)
                given = torch.empty_like(x) if again else None
                with counted(loaded, counts):
                    made = tilewright.moe(x, logits, *weights, 2, addend=x, out=given)
                with self.subTest(weights=name, again=again):
                    self.assertTrue(torch.equal(made.view(torch.int16), right.view(torch.int16)))
                    self.assertTrue(given is None or made is given)
        self.assertEqual(counts, {'tw_sequence_simulate': 6})

    def test_results_do_not_share_memory(self):
        weights = self.weights_of_each_kind()['bf16']
        logits = torch.randn(20, EXPERTS)
        first, second = (tilewright.moe(torch.full((20, HIDDEN), value).bfloat16(), logits, *weights, 2) for value in (0.0, 1.0))
        self.assertEqual(first.float().abs().max(), 0)
        self.assertGreater(second.float().abs().max(), 0)

    def test_refusals(self):
        """They are those of single calls, and of a call the place."""
        gate_up, down = self.weights_of_each_kind()['bf16']
        x, logits = torch.randn(20, HIDDEN).bfloat16(), torch.randn(20, EXPERTS)
        for sentence, arguments, routing in (
                ("Problem 5 of 5: The output begins where the addend does", (x, logits, gate_up, down, 2), dict(addend='x', out='x')),
                ('k is 17, but must be', (x, logits, gate_up, down, 17), {}),
                ("scoring is 'other'", (x, logits, gate_up, down, 2), dict(scoring='other')),
                ("scoring is \\['softmax'\\]", (x, logits, gate_up, down, 2), dict(scoring=['softmax'])),
                ('requires a gradient', (x.float().requires_grad_().bfloat16(), logits, gate_up, down, 2), {})):
            routing = {name: arguments[0][:, :] if value == 'x' else value for name, value in routing.items()}
            for _ in range(2):
                with self.assertRaisesRegex(tilewright.Error, sentence):
                    tilewright.moe(*arguments, **routing)

    def given(self, tokens=20):
        return torch.randn(tokens, HIDDEN).bfloat16(), torch.randn(tokens, EXPERTS), *self.weights_of_each_kind()['bf16']

    def test_numbers_in_tensors(self):
        """A tensor keeps its hash when its number changes."""
        given, k, scale = self.given(), torch.tensor(1), torch.tensor(1.0)
        tilewright.moe(*given, k, scale=scale)
        k += 1
        scale *= 4
        self.assertTrue(torch.equal(tilewright.moe(*given, k, scale=scale), tilewright.moe(*given, 2, scale=4.0)))

    def test_instance_of_route(self):
        given = self.given()
        self.assertTrue(torch.equal(tilewright.moe(*given, 2, instance='route_128'), tilewright.moe(*given, 2)))
        with self.assertRaisesRegex(tilewright.Error, 'other_128'):
            tilewright.moe(*given, 2, instance='other_128')

    def test_traced(self):
        x, *given = self.given()
        traced = torch.jit.trace(lambda x: tilewright.moe(x, *given, 2), x, check_trace=False)
        other = torch.randn_like(x)
        self.assertTrue(torch.equal(traced(other), tilewright.moe(other, *given, 2)))

    def test_out_has_a_new_version(self):
        given, out = self.given(), torch.empty(20, HIDDEN).bfloat16()
        for _ in range(2):
            before = out._version
            tilewright.moe(*given, 2, out=out)
            self.assertGreater(out._version, before)

    def test_no_tokens(self):
        x, *given = self.given(0)
        out = torch.empty_like(x)
        for _ in range(2):
            self.assertIs(tilewright.moe(x, *given, 2, out=out), out)
            made = tilewright.moe(x, *given, 2)
            self.assertIsNot(made, x)
            self.assertEqual(made.shape, x.shape)

    def test_out_is_a_view_of_x(self):
        x, *given = self.given()
        right = tilewright.moe(x, *given, 2)
        for out in (x, x[:, :]):
            self.assertIs(tilewright.moe(x, *given, 2, out=out), out)
            self.assertTrue(torch.equal(out, right))
            right = tilewright.moe(x, *given, 2)

    def test_arrays_that_are_not_there(self):
        x, *given = self.given()
        with self.assertRaisesRegex(tilewright.Invalid, 'x is a NoneType'):
            tilewright.moe(None, *given, 2)
        for tokens in (19, 21):
            with self.assertRaisesRegex(tilewright.Invalid, f'output has shape .{tokens}, 256., but must be 20 by 256'):
                tilewright.moe(x, *given, 2, out=x.new_empty(tokens, HIDDEN))


if __name__ == '__main__':
    unittest.main(verbosity=2)
