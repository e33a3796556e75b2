#!/usr/bin/env python3
"""tilewright against torch on a GPU: random products, then what torch does with the operator.

usage: PYTHONPATH=python python3 python/tests/gpu_against_torch.py [--problems 300] [--seed N]
With --virtual the random products, small ones, run on the virtual GPU, and nothing else does.

Each product is held against float64 on the GPU. The tensor core takes `step` products at once,
aligns them and the sum to the largest, and cuts each at 2^-24 of it (fp8: 2^-13); the new sum is
cut once more, at no more than twice that, and parts of a sum add one rounding: a sum of k products
is off by less than ceil(k / step) (step + 4) 2^-24 sum |a b|. tf32 ignores 13 bits of each operand:
2^-9 sum |a b| more, unless they are zero. Integers below 2^24 (fp8: 2^13) have exact sums. The
epilogue adds a rounding of 2^-24 for each operation, activations 2^-20 (|x| + 1). An element is
right when it lies between the casts of value - error and value + error.
"""
import argparse
import collections
import math
import random
import sys
import time

import torch

import tilewright
from tilewright import Epilogue, matmul

DEVICE = 'cuda'  # 'cpu': the virtual GPU
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
E4M3, E5M2, S8, S32 = torch.float8_e4m3fn, torch.float8_e5m2, torch.int8, torch.int32

# a's type, b's type, output types; how often.
KINDS = [((BF16, BF16, (BF16, BF16, FP32)), 6), ((FP16, FP16, (FP16, FP16, FP32)), 4),
         ((FP32, FP32, (FP32,)), 3), ((E4M3, E4M3, (BF16, BF16, E4M3)), 3),
         ((E5M2, E4M3, (FP16,)), 1), ((S8, S8, (S32, BF16)), 3)]
STEPS = {BF16: 8, FP16: 8, FP32: 4, E4M3: 16, E5M2: 16}
UNIT = 2.0**-24  # of a float32 rounding


def wide(tensor):
    return tensor.float().double() if tensor.dtype.itemsize == 1 else tensor.double()


class Problem:
    """What is multiplied, drawn at random."""

    def __init__(self, draw):
        (self.a_type, self.b_type, outputs), = draw.choices([kind for kind, _ in KINDS],
                                                            [often for _, often in KINDS])
        self.out_type = draw.choice(outputs)
        any_layout = self.a_type == BF16  # other types are mostly compiled for a @ b.mT
        self.a_transposed = draw.random() < (0.5 if any_layout else 0.1)
        self.b_transposed = draw.random() < (0.5 if any_layout else 0.9)
        ranges = [(1, 16), (17, 300), (17, 300), (301, 1500)]
        if DEVICE == 'cpu':
            ranges = [(1, 16), (17, 64), (65, 200)]
        extent = lambda: draw.randint(*draw.choice(ranges))
        self.m, self.n, self.k = extent(), extent(), extent()
        if draw.random() < 0.2 and DEVICE == 'cuda':
            self.k = draw.randint(1500, 9000)
        # Lines of memory at multiples of 16 bytes, by the extents or by the pitch; or anywhere.
        self.alignment = draw.choice(['extents', 'extents', 'pitch', 'none'])
        if self.alignment == 'extents':
            self.m, self.n, self.k = (max(16, x // 16 * 16) for x in (self.m, self.n, self.k))
        self.batch = draw.choice([(), (), (), (draw.randint(2, 5),), (2, 3)])
        self.shared_b = draw.random() < 0.5
        self.integers = draw.random() < 0.4
        self.exact_tf32 = draw.random() < 0.5
        self.parts = set()
        self.activation = None
        if draw.random() < 0.6 and self.out_type != S32:
            names = ['alpha', 'source', 'bias', 'row_bias', 'row_scale', 'column_scale',
                     'auxiliary', 'amax', 'output_scale', 'gated']
            self.parts = {name for name in names if draw.random() < 0.25}
            self.activation = draw.choice([None, None, 'relu', 'gelu', 'silu', 'tanh',
                                           ('clamp', -1.5, 2.0)])
        if 'gated' in self.parts:
            self.n += self.n % 2
        self.side_types = [draw.choice([BF16, FP16, FP32]) for _ in range(3)]
        self.options = {'batch_invariant': draw.random() < 0.2, 'b_is_constant': draw.random() < 0.5}
        if self.a_type.itemsize == 1 and self.a_type != S8 and draw.random() < 0.2:
            self.options['fast_accumulation'] = False
        self.seed = draw.getrandbits(32)

    def __str__(self):
        short = lambda dtype: str(dtype).split('.')[1]
        layout = ('n' if self.a_transposed else 't') + ('n' if self.b_transposed else 't')
        return (f'{self.m}x{self.n}x{self.k} batch {self.batch}{" shared b" * self.shared_b} '
                f'{short(self.a_type)} x {short(self.b_type)} -> {short(self.out_type)} {layout} '
                f'{self.alignment} {"integers" if self.integers else "normal"} '
                f'{sorted(self.parts)} {self.activation} {self.options} data seed {self.seed}')


class Data:
    def __init__(self, problem):
        p = self.problem = problem
        self.random = torch.Generator(DEVICE)
        self.random.manual_seed(p.seed)
        self.a = self.matrix(p.batch, p.m, p.k, p.a_type, p.a_transposed)
        self.b = self.matrix(() if p.shared_b else p.batch, p.k, p.n, p.b_type, p.b_transposed)
        columns = p.n // 2 if 'gated' in p.parts else p.n
        shape = (*p.batch, p.m, columns)
        has = lambda name, value: value if name in p.parts else None
        self.epilogue = Epilogue(
            alpha=0.75 if 'alpha' in p.parts else 1.0,
            beta=0.5 if 'source' in p.parts else None,
            source=has('source', self.matrix(p.batch, p.m, columns, p.side_types[0], False)),
            bias=has('bias', self.numbers((p.n,), p.side_types[1])),
            row_bias=has('row_bias', self.numbers((p.m,), p.side_types[1])),
            row_scale=has('row_scale', self.numbers((p.m,), FP32).abs() * 0.5 + 0.5),
            column_scale=has('column_scale', self.numbers((p.n,), FP32).abs() * 0.5 + 0.5),
            activation=p.activation, gated='gated' in p.parts,
            auxiliary=has('auxiliary', torch.full((*p.batch, p.m, p.n), math.nan, device=DEVICE,
                                                  dtype=p.side_types[2])),
            amax=has('amax', torch.zeros(1, device=DEVICE)),
            output_scale=0.125 if 'output_scale' in p.parts else 1.0)
        self.out = torch.full(shape, 77.0, device=DEVICE).to(p.out_type)

    def numbers(self, shape, dtype):
        if dtype == S8 and not self.problem.integers:
            return torch.randint(-127, 128, shape, generator=self.random, device=DEVICE).to(S8)
        if self.problem.integers:
            drawn = torch.randint(-3, 4, shape, generator=self.random, device=DEVICE)
            return drawn.float().to(dtype)
        drawn = torch.randn(shape, generator=self.random, device=DEVICE)
        if dtype == FP32 and self.problem.exact_tf32:
            return (drawn.view(S32) & ~0x1fff).view(FP32)
        return drawn.to(dtype)

    def matrix(self, batch, rows, columns, dtype, transposed):
        lines, length = (columns, rows) if transposed else (rows, columns)
        elements = 16 // dtype.itemsize
        pitch = -(-length // elements) * elements if self.problem.alignment == 'pitch' else length
        numbers = self.numbers((*batch, lines, pitch), dtype)[..., :length]
        return numbers.mT if transposed else numbers


def activate(activation, x):
    if activation is None:
        return x
    if isinstance(activation, tuple):
        return x.clamp(*activation[1:])
    return {'relu': torch.relu, 'gelu': torch.nn.functional.gelu, 'tanh': torch.tanh,
            'silu': torch.nn.functional.silu}[activation](x)


def bounded_sums(data):
    """Every sum in float64, and how far it may be off."""
    p, a, b = data.problem, wide(data.a), wide(data.b)
    value, magnitude = a @ b, a.abs() @ b.abs()
    plain = not p.parts and p.activation is None
    if p.a_type == S8:
        return value, torch.zeros_like(value) if plain and p.out_type == S32 else value.abs() * UNIT
    step, fp8 = STEPS[p.a_type], p.a_type.itemsize == 1
    error = magnitude * (math.ceil(p.k / step) * (step + 4) * (2.0**-13 if fp8 else UNIT))
    error += magnitude * 2.0**-48 + 2.0**-126
    if p.a_type == FP32 and not p.integers and not p.exact_tf32:
        error += magnitude * 2.0**-9 * 1.001
    if p.integers:
        error = torch.where(magnitude <= (2.0**13 if fp8 else 2.0**24), 0.0, error)
    return value, error


def reference(data):
    """(value, error) of the output and the auxiliary output, and the bounds of amax."""
    p, e = data.problem, data.epilogue
    value, error = bounded_sums(data)
    if not p.parts and p.activation is None:
        return (value, error), None, None
    factor = torch.full((p.m, p.n), e.alpha, device=DEVICE, dtype=torch.float64)
    if e.row_scale is not None:
        factor = factor * e.row_scale.double()[:, None]
    if e.column_scale is not None:
        factor = factor * e.column_scale.double()
    value, error = value * factor, error * factor.abs()
    size = value.abs()
    source = None if e.source is None else e.source.double() * e.beta
    for term in (None if e.gated else source,
                 None if e.bias is None else e.bias.double(),
                 None if e.row_bias is None else e.row_bias.double()[:, None]):
        if term is not None:
            value, size = value + term, size + term.abs()
    error = error + (size + error) * 8 * UNIT
    auxiliary = (value, error)
    activated = activate(e.activation, value)
    if e.activation in ('gelu', 'silu', 'tanh'):
        error = 1.13 * error + (value.abs() + 1) * 2.0**-20
    if e.gated:
        other, other_error = value[..., 1::2], auxiliary[1][..., 1::2]
        activated, error = activated[..., 0::2], error[..., 0::2]
        error = (activated.abs() + error) * other_error + other.abs() * error
        activated = activated * other
        error = error + activated.abs() * 2 * UNIT
        if source is not None:
            activated = activated + source
            error = error + (activated.abs() + source.abs()) * 4 * UNIT
    magnitude = activated.abs()
    amax = (float((magnitude - error).max()), float((magnitude + error).max()))
    return (activated * e.output_scale, error * e.output_scale * (1 + UNIT)), auxiliary, amax


def cast(value, dtype):
    if dtype == E4M3:
        value = value.clamp(-448, 448)
    return value.float().to(dtype).float() if dtype.itemsize == 1 else value.to(dtype).double()


def wrong_elements(name, given, bounds):
    value, error = bounds
    low, high = cast(value - error, given.dtype), cast(value + error, given.dtype)
    seen = wide(given)
    wrong = ~((seen >= low) & (seen <= high))
    count = int(wrong.sum())
    if count == 0:
        return []
    place = tuple(int(i) for i in wrong.nonzero()[0])
    return [f'{name}: {count} of {wrong.numel()} elements are wrong; the first at {place} is '
            f'{seen[place]:.9g} and must lie between {low[place]:.9g} and {high[place]:.9g}']


def check_random_problems(draw, wanted):
    """A refused problem is counted beside and another is drawn: not all is compiled."""
    done, refused, failures, sentences = collections.Counter(), collections.Counter(), 0, {}
    exact = 0
    while sum(done.values()) < wanted and sum(refused.values()) < 5 * wanted:
        problem = Problem(draw)
        kind = f'{problem.a_type} x {problem.b_type}'.replace('torch.', '')
        data = Data(problem)
        try:
            into = data.out if draw.random() < 0.5 else None
            d = matmul(data.a, data.b, into, epilogue=data.epilogue, out_dtype=problem.out_type,
                       **problem.options)
        except tilewright.Unsupported as error:
            refused[kind] += 1
            sentences.setdefault(str(error), str(problem))
            continue
        except tilewright.Error as error:
            print(f'FAILED {problem}: {type(error).__name__}: {error}')
            failures += 1
            done[kind] += 1
            continue
        output, auxiliary, amax = reference(data)
        complaints = wrong_elements('out', d, output)
        if data.epilogue.auxiliary is not None:
            complaints += wrong_elements('auxiliary', data.epilogue.auxiliary, auxiliary)
        if data.epilogue.amax is not None:
            given = float(data.epilogue.amax)
            if not amax[0] * (1 - UNIT) <= given <= amax[1] * (1 + UNIT):
                complaints.append(f'amax is {given} and must lie between {amax[0]} and {amax[1]}')
        for complaint in complaints:
            print(f'FAILED {problem}: {complaint}')
        failures += bool(complaints)
        exact += bool((output[1] == 0).all())
        done[kind] += 1
    for kind in sorted({f'{a} x {b}'.replace('torch.', '') for (a, b, _), _ in KINDS}):
        print(f'  {kind}: {done[kind]} computed, {refused[kind]} refused')
        if done[kind] == 0 and wanted >= 100:
            print(f'FAILED: no product of {kind} was computed')
            failures += 1
    print(f'{sum(done.values())} random products, {exact} of them compared exactly, {failures} '
          f'wrong; {sum(refused.values())} refused, with {len(sentences)} sentences:')
    for sentence, example in list(sentences.items())[:8]:
        print(f'  "{sentence}" ({example})')
    if sum(done.values()) < wanted:
        print(f'FAILED: {wanted} products were asked for')
        failures += 1
    return failures


# What torch does with the operator. Each returns a complaint, or None.

def normal(*shape, dtype=BF16):
    return torch.randn(*shape, device=DEVICE, dtype=FP32).to(dtype)


def integers(*shape, dtype=BF16):
    return torch.randint(-3, 4, shape, device=DEVICE).to(dtype)


class Mlp(torch.nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = torch.nn.Parameter(normal(hidden, width) / math.sqrt(width))
        self.up_bias = torch.nn.Parameter(normal(hidden))
        self.down = torch.nn.Parameter(normal(width, hidden) / math.sqrt(hidden))
        self.down_bias = torch.nn.Parameter(normal(width))

    def forward(self, x):
        h = matmul(x, self.up.mT, epilogue=Epilogue(bias=self.up_bias, activation='gelu'))
        return matmul(h, self.down.mT, epilogue=Epilogue(bias=self.down_bias, source=x))

    def reference(self, x):
        h = torch.nn.functional.gelu(torch.nn.functional.linear(x, self.up, self.up_bias))
        return x + torch.nn.functional.linear(h, self.down, self.down_bias)


def compiled_mlp(mode=None):
    """torch.compile(fullgraph=True) of an MLP is the eager MLP, bit by bit."""
    torch._dynamo.reset()
    mlp = Mlp(512, 2048)
    compiled = torch.compile(mlp, fullgraph=True, mode=mode)
    with torch.no_grad():
        for m in (64, 64, 64, 200):
            x = normal(m, 512)
            eager, ours = mlp(x), compiled(x).clone()
            if not torch.equal(eager, ours):
                return f'm {m}: {int((eager != ours).sum())} elements differ from eager'
            difference = (eager - mlp.reference(x)).float().abs().max().item()
            if not difference < 0.1:  # bf16 numbers below 8, rounded twice on each side
                return f'm {m}: differs from torch by {difference}'
    return None


def gradients():
    """Of x W^T + bias, against torch's in float64."""
    for dtype in (BF16, FP16, FP32):
        x, w, bias = normal(3, 64, 128, dtype=dtype), normal(256, 128, dtype=dtype), normal(256)
        found = []
        for function in (lambda x, w, bias: matmul(x, w.mT, epilogue=Epilogue(bias=bias)),
                         lambda x, w, bias: x @ w.mT + bias):
            given = (x, w, bias) if not found else (x.double(), w.double(), bias.double())
            tensors = [t.detach().clone().requires_grad_() for t in given]
            try:
                d = function(*tensors)
                (d * torch.arange(256, device=DEVICE).to(d.dtype) / 256).sum().backward()
            except tilewright.Unsupported as error:
                return f'{dtype}: {error}'
            found.append([t.grad for t in tensors])
        for name, ours, theirs in zip(('x', 'w', 'bias'), *found):
            difference = ((ours.double() - theirs).abs().max() / theirs.abs().max()).item()
            if not difference < 0.01:
                return f'{dtype}: the gradient of {name} differs by {difference}'
    return None


SHAPES = [(128, 128, 8192), (512, 768, 4096), (64, 1024, 16384), (1024, 1024, 1024),
          (256, 256, 2048), (16, 4096, 4096)]
INSTANCES = [None, 'hopper_split', 'hopper_stream', 'bf16_128x128_parts']


def some_products():
    """Functions of no arguments that multiply integers, and their results."""
    for m, n, k in SHAPES:
        a, b = integers(m, k), integers(n, k).mT
        expected = (a.double() @ b.double()).to(BF16)
        for instance in INSTANCES:
            try:
                matmul(a, b, instance=instance)
            except tilewright.Unsupported as error:
                print(f'  {m}x{n}x{k} by {instance}: {error}')
                continue
            yield lambda a=a, b=b, instance=instance: matmul(a, b, instance=instance), expected


def shared_workspace():
    """Kernels of all kinds take turns on one stream's workspace, in many orders."""
    products = list(some_products())
    order = random.Random(3)
    for turn in range(200):
        function, expected = order.choice(products)
        d = function()
        if not torch.equal(d, expected):
            return f'product {turn}: {int((d != expected).sum())} elements are wrong'
    return None


def graphs():
    """Two captured graphs, replayed with new operands, between other products and side by side."""
    pairs = []
    for m, n, k in SHAPES[:3]:
        a, b = integers(m, k), integers(n, k).mT
        pairs.append((a, b))
    captured = []
    for instance in (None, 'hopper_split'):
        graph, outputs = torch.cuda.CUDAGraph(), []
        matmul(*pairs[0], instance=instance)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for a, b in pairs:
                outputs.append(matmul(a, b, instance=instance))
        captured.append((graph, outputs, torch.cuda.Stream()))
    for turn in range(5):
        for a, b in pairs:
            a.copy_(integers(*a.shape))
        matmul(integers(300, 512), integers(512, 512).mT)
        torch.cuda.synchronize()
        for graph, _, stream in captured:
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        for graph, outputs, _ in captured:
            for (a, b), d in zip(pairs, outputs):
                if not torch.equal(d, (a.double() @ b.double()).to(BF16)):
                    return f'replay {turn}, {tuple(d.shape)}: the graph\'s product is wrong'
    return None


def streams():
    """Products on several streams at once: by torch's current stream, by Stream, by handle."""
    products = list(some_products())
    side = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    results = []
    for turn in range(60):
        function, expected = products[turn % len(products)]
        with torch.cuda.stream(side[turn % 3]):
            results.append((function(), expected))
    a, b = integers(256, 512), integers(512, 512).mT
    expected = (a.double() @ b.double()).to(BF16)
    torch.cuda.synchronize()
    results.append((matmul(a, b, stream=side[0]), expected))
    results.append((matmul(a, b, stream=side[1].cuda_stream), expected))
    torch.cuda.synchronize()
    wrong = sum(not torch.equal(d, expected) for d, expected in results)
    return f'{wrong} of {len(results)} products are wrong' if wrong else None


def batch_invariance():
    """The first rows of a product have the same bits however many follow."""
    w = normal(1024, 4096).mT
    x = normal(2048, 4096)
    whole = matmul(x, w, batch_invariant=True)
    for m in (1, 7, 64, 300, 1024):
        if not torch.equal(matmul(x[:m], w, batch_invariant=True), whole[:m]):
            return f'm {m}: other bits than the first rows of m 2048'
    return None


def host_time():
    """Printed, not judged: what a call costs on the host."""
    a, b, out = integers(64, 64), integers(64, 64).mT, integers(64, 64)
    bias = integers(64)
    split_a, split_b = integers(128, 8192), integers(128, 8192).mT
    biased = Epilogue(bias=bias, activation='relu')
    operator = torch.ops.tilewright.matmul.default
    arguments = (a, b, None, None, None, None, None, 1.0, 0.0, 1.0, 'none', 0.0, 0.0, False, BF16,
                 False, True, None, None, False)
    calls = [('tilewright.matmul(a, b)', lambda: matmul(a, b)),
             ('tilewright.matmul(a, b, out)', lambda: matmul(a, b, out)),
             ('with bias and relu', lambda: matmul(a, b, epilogue=biased)),
             ('with a workspace', lambda: matmul(split_a, split_b, instance='hopper_split')),
             ('torch.ops.tilewright.matmul', lambda: operator(*arguments)),
             ('torch.matmul(a, b)', lambda: torch.matmul(a, b)),
             ('torch.matmul(a, b, out=out)', lambda: torch.matmul(a, b, out=out))]
    for name, call in calls:
        times = []
        try:
            for _ in range(20):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for _ in range(100):
                    call()
                times.append((time.perf_counter() - begin) / 100)
        except tilewright.Unsupported as error:
            print(f'  {name}: {error}')
            continue
        torch.cuda.synchronize()
        print(f'  {name}: {sorted(times)[len(times) // 2] * 1e6:.1f} us a call')
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--problems', type=int, default=300)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--virtual', action='store_true')
    given = parser.parse_args()
    if given.virtual:
        global DEVICE
        DEVICE = 'cpu'
    elif not torch.cuda.is_available():
        sys.exit('There is no GPU that torch can use.')
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(given.seed)
    name = 'the virtual GPU' if given.virtual else torch.cuda.get_device_name()
    print(f'{name}, torch {torch.__version__}, tilewright '
          f'{tilewright.library().tw_version().decode()} ({tilewright.library().path}), seed '
          f'{given.seed}')
    failures = check_random_problems(random.Random(given.seed), given.problems)
    checks = [('shared workspace', shared_workspace), ('streams', streams), ('graphs', graphs),
              ('gradients', gradients), ('batch invariance', batch_invariance),
              ('compiled MLP', compiled_mlp),
              ('compiled MLP in CUDA graphs', lambda: compiled_mlp('reduce-overhead')),
              ('host time', host_time)]
    for name, check in [] if given.virtual else checks:
        try:
            complaint = check()
        except Exception as error:  # the other checks still say what they have to say
            complaint = f'{type(error).__name__}: {error}'
        print(f'{name}: good' if complaint is None else
              f'FAILED {name}: {complaint}', flush=True)
        failures += complaint is not None
    print('PASSED' if failures == 0 else f'{failures} FAILED')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
