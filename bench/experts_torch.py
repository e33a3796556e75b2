#!/usr/bin/env python3
"""Experts with MXFP4 weights by bf16 activations, in groups, by libtilewright's own choice, beside its own bf16 groups and torch's.

usage: experts_torch.py --library FILE [--experts 8 128] [--rows 1 4 16] [--instances NAME...] [--slice 10] [--rounds 3] [--csv FILE]

With torch, on a GPU. Products of Mixtral's (8) and Qwen3-30B-A3B's (128) experts, each with so many rows, or, of --tokens, rows that fall
on experts by chance. Graphs are replayed in turns, with a small kernel (torch's fill of one number) behind each launch, whose own time is
subtracted; weights rotate over at least 180 MB. TB/s count the packed weights of experts that have rows. Each product is compared with
torch's by decoded weights, within 2 % of the norm. --instances names kernels to be measured beside the library's choice.
"""
import argparse
import os
import pathlib
import random
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / 'bench'), str(REPOSITORY / 'python')]
from four_bit_torch import ROTATING_BYTES, foreign_kernel, mxfp4, time_in_turns, write_csv  # noqa: E402
from grouped_torch import grouped_mm  # noqa: E402

PRODUCTS = {8: ((28672, 4096), (4096, 14336)), 128: ((1536, 2048), (2048, 768))}  # n and k


class Weights:
    """Of all experts, as often as launches rotate: packed, and in bf16."""

    def __init__(self, torch, tilewright, experts, n, k):
        codes, scales, values = mxfp4(torch, experts * n, k)
        codes, scales = codes.view(experts, n, -1), scales.view(experts, n, -1)
        pack = lambda: tilewright.pack_weights(codes, scales, layout='mxfp4')
        self.packed = [pack()]
        self.bytes = self.packed[0].data.numel() * self.packed[0].data.element_size()
        self.packed += [pack() for _ in range(1, max(2, -(-int(ROTATING_BYTES) // self.bytes)))]
        self.wide = [values.bfloat16().view(experts, n, k) for _ in range(2)]


def measure(torch, tilewright, options, foreign, weights, sizes):
    """Microseconds of four bits, of our bf16 groups and of torch's, and of kernels by name."""
    experts, n, k = weights.wide[0].shape
    ends = torch.tensor(sizes).cumsum(0).int().cuda()
    m, multiply = sum(sizes), grouped_mm(torch)
    a, d = torch.randn(m, k, device='cuda').bfloat16(), torch.empty(m, n, device='cuda', dtype=torch.bfloat16)
    right = torch.cat([rows.float() @ w.float().T for rows, w in zip(a.split(sizes), weights.wide[0])])
    packed, wide = weights.packed, weights.wide
    calls = {'own': (lambda i: tilewright.matmul_four_bit(a, packed[i], d, rows=ends), len(packed)),
             'bf16': (lambda i: tilewright.matmul_grouped(a, wide[i].mT, ends, d), len(wide)),
             'torch': (lambda i: d.copy_(multiply(a, wide[i].mT, ends)) if i < 0 else multiply(a, wide[i].mT, ends), len(wide))}
    for name in options.instances:
        calls[name] = (lambda i, name=name: tilewright.matmul_four_bit(a, packed[i], d, rows=ends, instance=name), len(packed))
    return time_in_turns(torch, options, foreign, calls, d, right, f'{sizes} x {n} x {k}')


def sizes_of(options, experts):
    for rows in options.rows:
        yield f'{rows} each', [rows] * experts
    chosen, draw = {8: 2, 128: 8}[experts], random.Random(1)
    for tokens in options.tokens:
        drawn = [expert for _ in range(tokens) for expert in draw.sample(range(experts), chosen)]
        yield f'{tokens} tokens', [drawn.count(expert) for expert in range(experts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', required=True)
    parser.add_argument('--experts', type=int, nargs='*', choices=PRODUCTS, default=list(PRODUCTS))
    parser.add_argument('--rows', type=int, nargs='*', default=(1, 4, 16))
    parser.add_argument('--tokens', type=int, nargs='*', default=())
    parser.add_argument('--instances', nargs='*', default=())
    parser.add_argument('--slice', type=float, default=10)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--commit')
    parser.add_argument('--csv', type=pathlib.Path)
    options = parser.parse_args()
    os.environ['TILEWRIGHT_LIBRARY'] = options.library
    options.set = ''
    import torch
    import tilewright
    torch.manual_seed(1)
    foreign, foreign_us = foreign_kernel(torch)
    lines = ['experts,rows,n,k,side,us,tb_per_s']
    for experts in options.experts:
        for n, k in PRODUCTS[experts]:
            weights = Weights(torch, tilewright, experts, n, k)
            for words, sizes in sizes_of(options, experts):
                us = {name: value - foreign_us for name, value in measure(torch, tilewright, options, foreign, weights, sizes).items()}
                bytes_ = weights.bytes * sum(size > 0 for size in sizes) / experts
                print(f'{experts} experts, {words}, {n} x {k}: ' + ', '.join(f'{name} {time:.2f} us' for name, time in us.items()) +
                      f'; {bytes_ / us["own"] / 1e6:.2f} TB/s', flush=True)
                lines += [f'{experts},{words},{n},{k},{name},{time:.2f},{bytes_ / time / 1e6:.2f}' for name, time in us.items()]
            del weights
    if options.csv:
        write_csv(torch, options, foreign_us, lines)


if __name__ == '__main__':
    main()
