"""torch tensors on the host, that is, on the virtual GPU: operators, compilation, gradients."""
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

import support

support.need('torch')

import torch

import tilewright
from tilewright import _library, _torch
from tilewright.families import matmul


def linear(x, weight, bias):
    return tilewright.matmul(x, weight.mT, epilogue=tilewright.Epilogue(bias=bias, alpha=0.5))


def activated(x, weight, bias):
    return tilewright.matmul(x, weight.mT,
                             epilogue=tilewright.Epilogue(bias=bias, activation='relu'))


def with_side_outputs(x, weight):
    auxiliary, amax = x.new_empty(*x.shape[:-1], weight.shape[0]), torch.zeros(1)
    d = tilewright.matmul(x, weight.mT, epilogue=tilewright.Epilogue(
        auxiliary=auxiliary, amax=amax, activation=('clamp', -3, 3)))
    return d, auxiliary, amax


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.x, self.weight = self.integers(3, 5, 16), self.integers(24, 16)
        self.bias = self.integers(24).float()

    def integers(self, *shape, dtype=None):
        return torch.randint(-3, 4, shape).to(dtype or torch.bfloat16)

    def same(self, x, y):
        self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape))
        self.assertTrue(torch.equal(x, y), f'{x}\n{y}')


class Torch(Case):
    def test_types(self):
        for dtype, result in ((torch.bfloat16, torch.bfloat16), (torch.float16, torch.float16),
                              (torch.float32, torch.float32), (torch.int8, torch.int32),
                              (torch.float8_e4m3fn, torch.bfloat16)):
            a, b = self.integers(5, 16, dtype=dtype), self.integers(24, 16, dtype=dtype).mT
            self.same(tilewright.matmul(a, b), (a.float() @ b.float()).to(result))

    def test_example(self):
        """examples/from_torch prints the line that docs show: both numbers are its own, and those of one version of torch."""
        printed = subprocess.run([sys.executable, support.ROOT / 'examples/from_torch/main.py'], capture_output=True, text=True, check=True).stdout
        page = (support.ROOT / 'docs/own_kernel.md').read_text()
        shown = re.search('^the layer is within .*$', page, re.MULTILINE).group()
        self.assertEqual(re.sub(r'\d', '0', printed), re.sub(r'\d', '0', shown) + '\n')

    def test_vectors(self):
        row = self.x[0, 0]
        for a, b in ((row, self.weight.mT), (self.weight, row), (row, row), (self.x, row)):
            self.same(tilewright.matmul(a, b), torch.matmul(a, b))

    def test_output(self):
        out = torch.zeros(3, 5, 24, dtype=torch.float32)
        self.assertIs(tilewright.matmul(self.x, self.weight.mT, out), out)
        self.same(out, self.x.float() @ self.weight.mT.float())

    def test_output_has_a_new_version(self):
        out, auxiliary, amax = torch.empty(3, 5, 24).bfloat16(), torch.empty(3, 5, 24).bfloat16(), torch.zeros(1)
        tilewright.matmul(self.x, self.weight.mT, out, epilogue=tilewright.Epilogue(auxiliary=auxiliary, amax=amax))
        for tensor in (out, auxiliary, amax):
            self.assertGreater(tensor._version, 0)

    def test_traced(self):
        traced = torch.jit.trace(lambda x: tilewright.matmul(x, self.weight.mT), self.x, check_trace=False)
        other = self.integers(3, 5, 16)
        self.assertTrue(torch.equal(traced(other), tilewright.matmul(other, self.weight.mT)))

    def test_older_library(self):
        """One of the same version that does not yet know a number says so."""
        program = ('import json, torch\n'
                   'loads = json.loads\n'
                   'def older(text):\n'
                   '  told = loads(text)\n'
                   '  if told.get("family") == "attention":\n'
                   '    told["numbers"] = [number for number in told["numbers"] if number["name"] != "sums_join_every"]\n'
                   '  return told\n'
                   'json.loads = older\n'
                   'try:\n  import tilewright\n'
                   'except ImportError as error:\n  print("refused:", error)\n')
        environment = {**os.environ, 'PYTHONPATH': str(support.ROOT / 'python')}
        says = subprocess.run([sys.executable, '-c', program], env=environment, text=True, capture_output=True, check=True).stdout
        self.assertRegex(says, r"^refused: \S+ has no 'sums_join_every' of attention: it is of another version than this package\.$")

    def test_compiled(self):
        for function, arguments in ((activated, (self.x, self.weight, self.bias)),
                                    (with_side_outputs, (self.x, self.weight))):
            for backend in ('eager', 'aot_eager', 'inductor'):
                with self.subTest(function.__name__, backend=backend), torch.no_grad():
                    torch._dynamo.reset()
                    compiled = torch.compile(function, fullgraph=True, backend=backend)
                    for x, y in zip(compiled(*arguments), function(*arguments)):
                        self.same(x, y)

    def test_compiled_for_any_m(self):
        compiled = torch.compile(activated, fullgraph=True, dynamic=True, backend='aot_eager')
        for m in (3, 7, 130):
            x = self.integers(m, 16)
            self.same(compiled(x, self.weight, self.bias), activated(x, self.weight, self.bias))

    def test_epilogue_from_outside(self):
        epilogue = tilewright.Epilogue(bias=self.bias)
        function = lambda x, weight: tilewright.matmul(x, weight.mT, epilogue=epilogue)
        compiled = torch.compile(function, fullgraph=True, backend='aot_eager')
        self.same(compiled(self.x, self.weight), function(self.x, self.weight))

    def test_fake(self):
        x, weight = self.x.to('meta'), self.weight.to('meta')
        self.assertEqual(tilewright.matmul(x, weight.mT).shape, (3, 5, 24))

    def test_operator(self):
        plain = (1.0, 0.0, 1.0, 'none', 0.0, 0.0, False)
        options = (False, True, None, None, True)
        operators = torch.ops.tilewright
        for gradient in (False, True):
            x, weight, bias = (t.clone().requires_grad_(gradient)
                               for t in (self.x, self.weight, self.bias))
            torch.library.opcheck(operators.matmul.default,
                                  (x, weight.mT, None, bias, None, None, None, *plain,
                                   torch.float32, *options))
        out, amax = torch.zeros(3, 5, 24), torch.zeros(1)
        torch.library.opcheck(operators.matmul_out.default,
                              (out, self.x, self.weight.mT, None, None, None, None, None, None,
                               amax, *plain, *options))

    def gradients(self, function, *tensors):
        tensors = [t.detach().clone().requires_grad_() for t in tensors]
        function(*tensors).float().square().sum().backward()
        return [t.grad for t in tensors]

    def test_gradients(self):
        def reference(x, weight, bias):
            return (0.5 * (x.float() @ weight.mT.float()) + bias).bfloat16()
        expected = self.gradients(reference, self.x, self.weight, self.bias)
        for function in (linear, torch.compile(linear, fullgraph=True, backend='aot_eager')):
            for x, y in zip(self.gradients(function, self.x, self.weight, self.bias), expected):
                self.same(x, y)

    def test_gradients_of_other_types(self):
        for dtype in (torch.float16, torch.float32):
            x, weight = self.integers(2, 8, 16, dtype=dtype), self.integers(24, 16, dtype=dtype)
            ours = self.gradients(lambda x, w: tilewright.matmul(x, w.mT), x, weight)
            for given, expected in zip(ours, self.gradients(lambda x, w: x @ w.mT, x, weight)):
                self.assertEqual(given.dtype, dtype)
                torch.testing.assert_close(given, expected, rtol=2**-9, atol=0)

    def test_gradients_of_a_batch(self):
        a, b, row_bias = self.integers(3, 8, 16), self.integers(3, 24, 16).mT, self.integers(8)
        source = self.integers(3, 8, 24)
        def ours(a, b, source, row_bias):
            return tilewright.matmul(a, b, out_dtype=torch.float32, epilogue=tilewright.Epilogue(
                source=source, beta=2, row_bias=row_bias))
        def reference(a, b, source, row_bias):
            return a.float() @ b.float() + 2 * source.float() + row_bias.float().unsqueeze(-1)
        for x, y in zip(self.gradients(ours, a, b, source, row_bias),
                        self.gradients(reference, a, b, source, row_bias)):
            self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape))
            torch.testing.assert_close(x, y, rtol=2**-7, atol=0)
        shared = self.integers(1, 16, 24)
        for x, y in zip(self.gradients(tilewright.matmul, a, shared),
                        self.gradients(torch.matmul, a, shared)):
            torch.testing.assert_close(x, y, rtol=2**-6, atol=2)

    def test_gradients_refused(self):
        weight = self.weight.clone().requires_grad_()
        with self.assertRaisesRegex(tilewright.Unsupported, 'not through scales'):
            activated(self.x, weight, self.bias)
        with self.assertRaisesRegex(tilewright.Unsupported, 'written to'):
            tilewright.matmul(self.x, weight.mT, torch.zeros(3, 5, 24))
        with torch.no_grad():
            self.same(activated(self.x, weight, self.bias),
                      activated(self.x, self.weight, self.bias))

    def test_refused(self):
        b = self.weight.mT
        cases = [
            (dict(a=self.x.double(), b=b), 'a has dtype torch.float64'),
            (dict(a=self.x, b=b, out=torch.zeros(2)), 'out has shape'),
            (dict(a=self.x, b=b, stream=0), 'stream is given, but a lies on cpu'),
            (dict(a=self.x, b=b, a_type='bf16'), 'torch tensors do'),
            (dict(a=self.x, b=[1]), 'the other is not'),
            (dict(a=self.x, b=b, epilogue=tilewright.Epilogue(bias=[1])), 'epilogue is a list'),
            (dict(a=self.x, b=b, out_dtype='fp32', out=torch.zeros(3, 5, 24).bfloat16()),
             'out has dtype torch.bfloat16'),
            (dict(a=self.x, b=b.to('meta')), 'b lies on meta'),
            (dict(a=torch._neg_view(self.x), b=b), 'a is a view that negates its memory'),
            (dict(a=self.x, b=b, instance=5), 'instance is 5, but must be a name'),
        ]
        for arguments, text in cases:
            with self.subTest(text), self.assertRaisesRegex(tilewright.Invalid, text):
                tilewright.matmul(**arguments)


class PretendedGpu:
    """The library, but plans run on the virtual GPU and want a workspace of `workspace_bytes`."""

    def __init__(self):
        self.library = _library.library()
        self.workspace_bytes = 0
        self.plans = []  # of each, whether its workspace is ready
        self.runs = []  # (plan, workspace, bytes, stream)

    def __getattr__(self, name):
        return getattr(self.library, name)

    def tw_plan_create(self, handle, problem, options):
        self.plans.append(options.workspace_is_ready)
        handle.value = len(self.plans)
        return self.library.tw_simulate(problem, options)

    def tw_plan_workspace_size(self, handle):
        return self.workspace_bytes

    def tw_plan_destroy(self, handle):
        pass

    def tw_plan_run(self, handle, problem, workspace, size, stream):
        self.runs.append((handle.value, workspace, size, stream))
        return self.library.tw_simulate(problem, None)


class Launches(Case):
    """The way to the GPU, as far as it can be gone without one."""

    def setUp(self):
        super().setUp()
        self.gpu = PretendedGpu()
        self.capturing = False
        for target, name, value in (
                (_library, '_loaded', self.gpu), (matmul, 'raw_stream', lambda index: 5),
                (matmul, '_calls', {}), (_torch, 'workspaces', {}),
                (torch.cuda, 'is_current_stream_capturing', lambda: self.capturing)):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def launch(self, a, b, out=None, **parts):
        epilogue = tilewright.Epilogue(**parts)
        return matmul._on_gpu(0, a, b, out, epilogue.scalars(), epilogue.arrays(), torch.bfloat16,
                              (False, True, None, None, False))

    def test_one_plan_for_all_addresses(self):
        for _ in range(3):
            x, bias, source = self.integers(5, 16), self.integers(24), self.integers(5, 24)
            row_bias = self.integers(5)
            scales = [torch.randint(1, 3, (length,)).float() for length in (5, 24)]
            auxiliary, amax = torch.zeros(5, 24), torch.zeros(1)
            d = self.launch(x, self.weight.mT, bias=bias, source=source, row_bias=row_bias,
                            row_scale=scales[0], column_scale=scales[1], auxiliary=auxiliary,
                            amax=amax)
            expected = ((x.float() @ self.weight.mT.float()) * scales[0][:, None] * scales[1]
                        + source + bias + row_bias[:, None])
            self.same(auxiliary, expected)
            self.same(d, expected.bfloat16())
            self.assertEqual(amax.item(), expected.abs().max().item())
        self.assertEqual(self.gpu.plans, [1])
        self.assertEqual(self.gpu.runs, [(1, None, 0, 5)] * 3)

    def test_plans_differ(self):
        x = self.integers(9, 16)
        out = torch.zeros(9, 24, dtype=torch.bfloat16)
        b = self.weight.mT
        for arguments in ((x, b), (x[:8], b), (x, b, out), (x, self.integers(16, 24)), (x, b)):
            d = self.launch(*arguments)
            self.same(d, arguments[0] @ arguments[1])
        self.launch(x, b, alpha=0.5)
        self.assertEqual(len(self.gpu.plans), 5)

    def test_plans_are_bounded(self):
        with mock.patch.object(matmul, 'CALLS_KEPT', 2):
            for m in (1, 2, 3, 4):
                self.launch(self.integers(m, 16), self.weight.mT)
        self.assertEqual(len(matmul._calls), 2)

    def test_workspace_grows(self):
        for size, expected in ((100, 1 << 20), (1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 21),
                               (100, 1 << 21)):
            self.gpu.workspace_bytes = size
            matmul._calls.clear()
            self.launch(self.x[0], self.weight.mT)
            (held,) = _torch.workspaces.values()
            self.assertEqual(self.gpu.runs[-1][1:], (held.data_ptr(), expected, 5))
            self.assertEqual(held.count_nonzero(), 0)
        self.assertEqual(self.gpu.plans, [1] * 4)

    def test_captured_workspace_is_the_graphs(self):
        self.gpu.workspace_bytes = 4096
        self.launch(self.x[0], self.weight.mT)
        self.capturing = True
        self.launch(self.x[0], self.weight.mT)
        self.launch(self.x[0], self.weight.mT)
        self.capturing = False
        self.launch(self.x[0], self.weight.mT)
        self.assertEqual(self.gpu.plans, [1, 0])
        self.assertEqual([(plan, size) for plan, _, size, _ in self.gpu.runs],
                         [(1, 1 << 20), (2, 4096), (2, 4096), (1, 1 << 20)])
        self.assertEqual(len(_torch.workspaces), 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
