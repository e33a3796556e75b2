#!/usr/bin/env python3
"""Layers of experts by tilewright beside torch.compile with grouped_mm, in CUDA graphs, in interleaved rounds.

usage: PYTHONPATH=python moe_layer.py [--layers 3] [--rounds 7] [--no-gather] [--no-compile] [--csv FILE] [CASE...]      with torch, on a GPU
       PYTHONPATH=python moe_layer.py --prepare [CASE...]   torch's side alone, compiled into its cache

Cases: mixtral_N and qwen3_N (30B-A3B) of N tokens, 1, 16 or 4096, in bf16; weights are numbers of MXFP4, which `mxfp4` has packed; `fp8` has them in e4m3
with scales of 128 by 128, and quantises activations. Both sides take logits, not the router's weights, and add
the hidden states to what the experts made. Layers have weights and logits of their own. Hidden states behind all layers are held against
float32: those of tilewright may be 1.25 times as far from it as those of torch's operators, those of fp8 as those of a layer in float32 whose operands
torch rounds to e4m3 in the same blocks. A side that is too far, has other bits in a second replay or raises an error is named; the others are
measured all the same, and the exit status is 1. `gather` is tilewright's side with rows brought by matmul_grouped's index.
"""
import argparse
import functools
import math
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as functional

import tilewright
from grouped_torch import grouped_mm
from four_bit_torch import mxfp4
from llama_layer import captured, microseconds, shares

MULTIPLY = grouped_mm(torch)
GATE = tilewright.Epilogue(activation='silu', gated=True)
OWN = ('tilewright', 'mxfp4', 'fp8')


class Sizes:
    def __init__(self, experts, chosen, hidden, inner):
        self.experts, self.chosen, self.hidden, self.inner = experts, chosen, hidden, inner


MODELS = {'mixtral': Sizes(8, 2, 4096, 14336), 'qwen3': Sizes(128, 8, 2048, 768)}
CASES = [f'{model}_{tokens}' for model in MODELS for tokens in (1, 16, 4096)]


def quantised(values, rows):
    """Rounded to e4m3 with a scale for each block of `rows` by 128, in float32."""
    blocks = values.float().unflatten(0, (-1, rows)).unflatten(-1, (-1, 128))
    scales = blocks.abs().amax((1, 3), keepdim=True).clamp_min(1e-30) / 448
    return ((blocks / scales).to(torch.float8_e4m3fn).float() * scales).flatten(2).flatten(0, 1)


def in_turns(weights, rows=1):
    return weights.unflatten(1, (2, -1, rows)).transpose(1, 2).flatten(1, 3).contiguous()


class Case:
    def __init__(self, name, sizes, tokens, layers, device):
        def drawn(n, k):
            """Codes, scales and values of all experts; the values' variance is about 1 / k."""
            codes, scales, values = mxfp4(torch, sizes.experts * n, k)
            shift = round(math.log2(0.086 * math.sqrt(k)))  # 0.086 is the root of the mean square of what mxfp4 draws
            each = lambda tensor: tensor.view(sizes.experts, n, -1)
            return each(codes), each(scales - shift), each((values * 2.0 ** -shift).bfloat16())

        self.name, self.sizes = name, sizes
        self.layers = range(layers)
        self.x = torch.randn(tokens, sizes.hidden, device=device).bfloat16()
        self.logits = [torch.randn(tokens, sizes.experts, device=device) for _ in self.layers]
        self.gate_up, self.in_turns, self.down, self.codes = [], [], [], []
        for _ in self.layers:
            codes, scales, gate_up = drawn(2 * sizes.inner, sizes.hidden)
            down_codes, down_scales, down = drawn(sizes.hidden, sizes.inner)
            self.gate_up.append(gate_up)
            self.in_turns.append(in_turns(gate_up).mT)
            self.down.append(down)
            self.codes.append((in_turns(codes), in_turns(scales), down_codes, down_scales))

    @functools.cached_property
    def packed(self):
        """A side makes its weights at its first call, so that the others run where it cannot."""
        pack = functools.partial(tilewright.pack_weights, layout='mxfp4')
        return [(pack(*codes[:2]), pack(*codes[2:])) for codes in self.codes]

    @functools.cached_property
    def fp8_weights(self):
        def pair(weights):
            elements, scales = tilewright.quantise_blocks(weights, scale_rows=128)
            return elements.mT, scales.mT
        return [(pair(in_turns(gate_up, 128)), pair(down)) for gate_up, down in zip(self.gate_up, self.down)]

    def ours(self, x, i):
        return tilewright.moe(x, self.logits[i], self.in_turns[i], self.down[i].mT, self.sizes.chosen, addend=x)

    def mxfp4(self, x, i):
        return tilewright.moe(x, self.logits[i], *self.packed[i], self.sizes.chosen, addend=x)

    def fp8(self, x, i):
        return tilewright.moe(x, self.logits[i], *self.fp8_weights[i], self.sizes.chosen, addend=x)

    def gather(self, x, i):
        routed = tilewright.route(self.logits[i], self.sizes.chosen)
        gated = tilewright.matmul_grouped(x, self.in_turns[i], routed.ends, row_index=routed.index, epilogue=GATE)
        made = tilewright.matmul_grouped(gated, self.down[i].mT, routed.ends)
        return tilewright.combine(made, routed.places, routed.weights, x)

    def theirs(self, x, i):
        k = self.sizes.chosen
        best, chosen = self.logits[i].topk(k)
        experts, order = chosen.flatten().sort(stable=True)
        ends = torch.searchsorted(experts, torch.arange(self.sizes.experts, device=x.device), right=True).int()
        gate, up = MULTIPLY(x[order // k], self.gate_up[i].mT, ends).chunk(2, -1)
        made = MULTIPLY(functional.silu(gate) * up, self.down[i].mT, ends)
        rows = made[order.argsort()].unflatten(0, (-1, k)) * best.softmax(-1)[..., None]
        return (rows.sum(1) + x).to(x.dtype)

    def right(self, x, i, rounded=lambda values, rows: values.float()):
        """In float32, expert by expert; operands are rounded by blocks of `rows` by 128."""
        best, chosen = self.logits[i].topk(self.sizes.chosen)
        weights, result = best.softmax(-1), x.clone()
        for expert in range(self.sizes.experts):
            tokens, slots = (chosen == expert).nonzero(as_tuple=True)
            gate, up = (rounded(x[tokens], 1) @ rounded(self.gate_up[i][expert], 128).mT).chunk(2, -1)
            made = rounded(functional.silu(gate) * up, 1) @ rounded(self.down[i][expert], 128).mT
            result.index_add_(0, tokens, made * weights[tokens, slots, None])
        return result

    def all_layers(self, layer):
        def forward(x):
            for i in self.layers:
                x = layer(x, i)
            return x
        return forward


def distances(case, results):
    """From float32, in the root of the mean square, in words; and which of ours are too far."""
    right = case.all_layers(case.right)(case.x.float())
    rounded = case.all_layers(lambda x, i: case.right(x, i, quantised))(case.x.float())
    apart = {name: (y.float() - right).square().mean().sqrt().item() for name, y in (results | {'rounded to e4m3': rounded}).items()}
    bounds = {name: 1.25 * apart['rounded to e4m3' if name == 'fp8' else 'torch'] for name in OWN if name in apart}
    far = {name: f'is {apart[name]:.2e} from float32, but must be at most {bound:.2e}' for name, bound in bounds.items() if not apart[name] <= bound}
    return ', '.join(f'{name} {value:.2e}' for name, value in apart.items()) + ' from float32', far


def captured_sides(case, sides):
    """Graphs and results of those that can be captured, and the others with their errors."""
    graphs, results, wrong = {}, {}, {}
    for name, function in sides.items():
        try:
            graph, results[name] = captured(function, case.x)
            graph.replay()
            torch.cuda.synchronize()
            graphs[name] = graph
        except Exception as error:
            results.pop(name, None)
            wrong[name] = f'raises {type(error).__name__}: {error}'
            print(f'{case.name}: WRONG: {name} {wrong[name]}', flush=True)
    return graphs, results, wrong


def measure(case, rounds, lines, gathers=True, compiles=True):
    """Whether all sides are right; those that are not are named."""
    with torch.no_grad():
        theirs = case.all_layers(case.theirs)
        sides = {'tilewright': case.all_layers(case.ours),
                 'torch.compile': torch.compile(theirs, fullgraph=True) if compiles else theirs,
                 'mxfp4': case.all_layers(case.mxfp4), 'fp8': case.all_layers(case.fp8)} | ({'gather': case.all_layers(case.gather)} if gathers else {})
        graphs, results, wrong = captured_sides(case, sides)
        first = {name: results[name].clone() for name in OWN if name in results}
        words, far = distances(case, results | {'torch': theirs(case.x)})
    times = {name: [] for name in graphs}
    once = max((microseconds(graph, 3) for graph in graphs.values()), default=1)
    repeats = max(3, min(50, int(20000 / once)))
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(microseconds(graph, repeats) / len(case.layers))
    for name, bits in first.items():
        if not torch.equal(bits.view(torch.int16), results[name].view(torch.int16)):
            far[name] = 'has other bits in a second replay'
    medians = {name: statistics.median(of) for name, of in times.items()}
    ratios = [f'{name} {medians["torch.compile"] / medians[name]:.3f}' for name in OWN if name in medians and 'torch.compile' in medians]
    print(f'{case.name}: ' + ', '.join(f'{name} {time:.1f} us' for name, time in medians.items()) +
          f' a layer; ratio of {", ".join(ratios)}; {words}', flush=True)
    for name, why in far.items():
        print(f'{case.name}: WRONG: {name} {why}', flush=True)
    for name, graph in graphs.items():
        for kernel, share in shares(graph):
            print(f'  {name} {share:6.1%} {kernel}', flush=True)
            lines.append(f'{case.name},{name},"{kernel}",{medians[name]:.2f},{share:.4f}')
    return not wrong and not far


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--layers', type=int, default=3)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--no-gather', dest='gathers', action='store_false')
    parser.add_argument('--no-compile', dest='compiles', action='store_false', help="torch's operators as they are")
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--prepare', action='store_true')
    parser.add_argument('cases', nargs='*', metavar='CASE')
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        sys.exit(f'There is no case {unknown[0]}; there are {", ".join(CASES)}.')
    torch.manual_seed(1)
    lines, good = ['case,side,kernel,layer_us,share'], True
    for name in options.cases or CASES:
        model, tokens = name.split('_')
        case = Case(name, MODELS[model], int(tokens), options.layers, 'cuda')
        if options.prepare:
            with torch.no_grad():
                torch.compile(case.all_layers(case.theirs), fullgraph=True)(case.x)
        else:
            good = measure(case, options.rounds, lines, options.gathers, options.compiles) and good
            if options.csv is not None:
                options.csv.write_text('\n'.join(lines) + '\n')
        del case
        torch._dynamo.reset()
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
