#!/usr/bin/env python3
"""Layers of Llama-3-8B by tilewright beside torch.compile: prefill and decode in CUDA graphs, in interleaved rounds.

usage: PYTHONPATH=python llama_layer.py [--layers 4] [--rounds 7] [--csv FILE] [CASE...]      with torch, on a GPU
       PYTHONPATH=python llama_layer.py --prepare [CASE...]   torch's side alone, compiled into its cache: a minute a case
       PYTHONPATH=python llama_layer.py --virtual       small layers on the virtual GPU: right or not, and no times

Cases: prefill_2048, prefill_8192, decode_1, decode_16, decode_64 (sequences of 4,096 keys each). Of tilewright's side no kernel
is torch's: norms, products with gate and residual, rotary embedding with the cache's new rows, attention. Layers have weights
of their own, so that these come from memory. Hidden states behind all layers are held against float32: those of tilewright may
be 1.25 times as far from it as those of torch's operators in bf16, or the exit status is 1. Compiled, torch rounds less often
than its operators do: that distance is printed, too. Prints
microseconds of one layer, the ratio, and what share of the time each kernel has.
"""
import argparse
import collections
import functools
import math
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as functional

import tilewright

PAGE = 64


class Sizes:
    def __init__(self, width, heads, key_heads, inner):
        self.width, self.heads, self.key_heads, self.inner = width, heads, key_heads, inner
        self.columns = width // heads
        self.parts = [count * self.columns for count in (heads, key_heads, key_heads)]


LLAMA = Sizes(4096, 32, 8, 14336)
SMALL = Sizes(256, 2, 1, 384)


class Weights:
    """Of one layer. `gates` has rows of gate and up in turn, as tilewright's epilogue takes them."""

    def __init__(self, sizes, device):
        def normal(rows, columns):
            return (torch.randn(rows, columns, device=device) / math.sqrt(columns)).bfloat16()
        self.qkv, self.out = normal(sum(sizes.parts), sizes.width), normal(sizes.width, sizes.width)
        gate, up = normal(sizes.inner, sizes.width), normal(sizes.inner, sizes.width)
        self.gate_up = torch.cat([gate, up])
        self.gates = torch.stack([gate, up], 1).flatten(0, 1).contiguous()
        self.down = normal(sizes.width, sizes.inner)
        self.norms = [1 + 0.1 * torch.randn(sizes.width, device=device).bfloat16() for _ in range(2)]


def norm(x, weight):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight.to(x.dtype)


def rotated(x, cosines, sines):
    """(.., token, head, column): halves of a head's columns are real and imaginary parts."""
    real, imaginary = x.float().chunk(2, -1)
    cosines, sines = cosines[:, None], sines[:, None]
    return torch.cat([real * cosines - imaginary * sines, imaginary * cosines + real * sines], -1).to(x.dtype)


class Case:
    """Hidden states are (sequence, token, width). Prefill: the keys are the tokens'. Decode: all sequences have `keys`, the
    last of which is the token's, in a cache of pages and in one of torch's order."""

    def __init__(self, name, sizes, sequences, tokens, keys, layers, device):
        self.name, self.sizes, self.sequences, self.tokens, self.keys = name, sizes, sequences, tokens, keys
        self.decodes = keys > tokens
        self.weights = [Weights(sizes, device) for _ in range(layers)]
        self.x = torch.randn(sequences, tokens, sizes.width, device=device).bfloat16()
        places = torch.arange(keys - tokens, keys, device=device)[:, None]
        angles = places * 500000.0 ** (-torch.arange(0, sizes.columns, 2, device=device) / sizes.columns)
        self.cosines, self.sines = angles.cos(), angles.sin()
        self.caches = []
        if not self.decodes:
            return
        pages = -(-keys // PAGE)
        self.table = torch.randperm(sequences * pages, device=device).int().view(sequences, pages)
        self.lengths = torch.full((sequences,), keys, dtype=torch.int32, device=device)
        self.slots = self.table[:, (keys - 1) // PAGE] * PAGE + (keys - 1) % PAGE
        self.positions = torch.zeros_like(self.slots)
        for _ in range(layers):
            plain = [torch.randn(sequences, sizes.key_heads, keys, sizes.columns, device=device).bfloat16() for _ in 'kv']
            paged = []
            for cache in plain:
                rows = functional.pad(cache.transpose(1, 2), (0, 0, 0, 0, 0, pages * PAGE - keys))
                made = torch.empty(sequences * pages, PAGE, sizes.key_heads, sizes.columns, dtype=rows.dtype, device=device)
                made[self.table.flatten().long()] = rows.reshape(-1, PAGE, sizes.key_heads, sizes.columns)
                paged.append(made)
            self.caches.append((plain, paged))

    def heads(self, qkv):
        """q, k and v, (sequence,token,head,column), the first two rotated."""
        q, k, v = (part.unflatten(-1, (-1, self.sizes.columns)) for part in qkv.split(self.sizes.parts, -1))
        return rotated(q, self.cosines, self.sines), rotated(k, self.cosines, self.sines), v

    def ours(self, x, layer):
        weights = self.weights[layer]
        product = functools.partial(tilewright.matmul, b_is_constant=True)
        qkv = product(tilewright.rms_norm(x, weights.norms[0]), weights.qkv.mT)
        embedding = self.cosines, self.sines, self.sizes.heads, self.sizes.key_heads
        if self.decodes:
            k, v = self.caches[layer][1]
            q, *_ = tilewright.rotary(qkv, *embedding, k=k, v=v, positions=self.positions, slots=self.slots)
            y = tilewright.attention_paged(q, k, v, self.table, self.lengths, keys=self.keys)
        else:
            y = tilewright.attention(*tilewright.rotary(qkv, *embedding), causal=True)
        x = product(y.flatten(2), weights.out.mT, epilogue=tilewright.Epilogue(residual=x))
        y = product(tilewright.rms_norm(x, weights.norms[1]), weights.gates.mT,
                    epilogue=tilewright.Epilogue(activation='silu', gated=True))
        return product(y, weights.down.mT, epilogue=tilewright.Epilogue(residual=x))

    def theirs(self, x, layer):
        """In the type of x: bf16, or float32 for the reference."""
        weights = self.weights[layer]
        linear = lambda y, weight: functional.linear(y, weight.to(x.dtype))  # noqa: E731
        q, k, v = (part.transpose(1, 2) for part in self.heads(linear(norm(x, weights.norms[0]), weights.qkv)))
        if self.decodes:
            caches = [cache.to(x.dtype) for cache in self.caches[layer][0]]
            for cache, rows in zip(caches, (k, v)):
                cache[:, :, self.keys - 1] = rows[:, :, 0]
            k, v = caches
        if x.dtype == torch.float32:  # no kernel of torch's shares heads in float32
            ratio = self.sizes.heads // self.sizes.key_heads
            k, v = k.repeat_interleave(ratio, 1), v.repeat_interleave(ratio, 1)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=not self.decodes)
        else:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=not self.decodes, enable_gqa=True)
        x = x + linear(y.transpose(1, 2).flatten(2), weights.out)
        gate, up = linear(norm(x, weights.norms[1]), weights.gate_up).chunk(2, -1)
        return x + linear(functional.silu(gate) * up, weights.down)

    def all_layers(self, layer):
        def forward(x):
            for i in range(len(self.weights)):
                x = layer(x, i)
            return x
        return forward


def distances(case, ours, others):
    """From float32: in the largest element, and in the root of the mean square. In words, and whether ours is near enough in
    both to torch's operators, which come first among `others`."""
    right = case.all_layers(case.theirs)(case.x.float())

    def distance(y):
        apart = y.float() - right
        return apart.abs().max().item(), apart.square().mean().sqrt().item()
    own = distance(ours)
    words, near = f'{own[0]:.2e} (mean {own[1]:.2e}) from float32', True
    for i, (name, y) in enumerate(others.items()):
        other = distance(y)
        words += f', {name} {other[0]:.2e} (mean {other[1]:.2e})'
        near = near and (i > 0 or all(mine <= 1.25 * its for mine, its in zip(own, other)))
    return words + ('' if near else ': too far'), near


def captured(function, x):
    """A graph of it, and where it leaves its result."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(x)
    return graph, result


def microseconds(graph, repeats):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats * 1e3


def shares(graph):
    """By the first words of kernels' names."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        graph.replay()
        torch.cuda.synchronize()
    times = collections.Counter()
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times[event.name[:60]] += event.time_range.elapsed_us()
    whole = sum(times.values())
    return [(name, time / whole) for name, time in times.most_common(12)]


def compiled_by_torch(case):
    return torch.compile(case.all_layers(case.theirs), fullgraph=True, mode='max-autotune-no-cudagraphs')


def measure(case, rounds, lines):
    with torch.no_grad():
        sides = {'tilewright': torch.compile(case.all_layers(case.ours), fullgraph=True),
                 'torch.compile': compiled_by_torch(case)}
        graphs, results = {}, {}
        for name, function in sides.items():
            graphs[name], results[name] = captured(function, case.x)
            graphs[name].replay()
        torch.cuda.synchronize()
        words, near = distances(case, results['tilewright'], {'torch': case.all_layers(case.theirs)(case.x),
                                                              'torch.compile': results['torch.compile']})
    times = {name: [] for name in graphs}
    once = max(microseconds(graph, 3) for graph in graphs.values())
    repeats = max(3, min(50, int(20000 / once)))
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(microseconds(graph, repeats) / len(case.weights))
    medians = {name: statistics.median(of) for name, of in times.items()}
    print(f'{case.name}: ' + ', '.join(f'{name} {time:.1f} us' for name, time in medians.items()) +
          f' a layer; ratio {medians["torch.compile"] / medians["tilewright"]:.3f}; {words}', flush=True)
    for name, graph in graphs.items():
        for kernel, share in shares(graph):
            print(f'  {name} {share:6.1%} {kernel}')
            lines.append(f'{case.name},{name},"{kernel}",{medians[name]:.2f},{share:.4f}')
    return near


CASES = {'prefill_2048': (1, 2048, 2048), 'prefill_8192': (1, 8192, 8192), 'decode_1': (1, 1, 4096),
         'decode_16': (16, 1, 4096), 'decode_64': (64, 1, 4096)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--layers', type=int, default=4)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--virtual', action='store_true')
    parser.add_argument('--prepare', action='store_true')
    parser.add_argument('cases', nargs='*', metavar='CASE')
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        sys.exit(f'There is no case {unknown[0]}; there are {", ".join(CASES)}.')
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    all_near = True
    if options.virtual:
        for name, numbers in (('prefill', (1, 70, 70)), ('decode', (2, 1, 130))):
            case = Case(name, SMALL, *numbers, layers=2, device='cpu')
            with torch.no_grad():
                results = [case.all_layers(side)(case.x) for side in (case.ours, case.theirs)]
                words, near = distances(case, results[0], {'torch': results[1]})
            print(f'{name}: {words}')
            all_near = all_near and near
        sys.exit(0 if all_near else 1)
    lines = ['case,side,kernel,layer_us,share']
    for name in options.cases or CASES:
        case = Case(name, LLAMA, *CASES[name], layers=options.layers, device='cuda')
        if options.prepare:
            with torch.no_grad():
                compiled_by_torch(case)(case.x)
        else:
            all_near = measure(case, options.rounds, lines) and all_near
        torch.cuda.empty_cache()
    if options.csv:
        options.csv.write_text('\n'.join(lines) + '\n')
    sys.exit(0 if all_near else 1)


if __name__ == '__main__':
    main()
