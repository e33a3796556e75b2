#!/usr/bin/env python3
"""Weights of four bits by bf16 or e4m3 activations, by libtilewright's own choice, beside its own product of that type and torch's.

usage: four_bit_torch.py --library FILE [--format mxfp4] [--activation bf16] [--slice 10] [--rounds 3] [--seconds N] [--csv FILE]      with torch, on a GPU

8192 x 8192 and the four products of a Llama-3-8B layer, for m of 1, 4, 16, 64, 256 and 2048. Graphs of both sides are replayed in
turns, with a small kernel (torch's fill of one number) behind each launch, whose own time is subtracted; weights rotate over at
least 180 MB. TB/s count the packed weights. Each product is compared with torch's by decoded weights, within 2 % of the norm.
"""
import argparse
import os
import pathlib
import random
import statistics
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / 'bench'), str(REPOSITORY / 'python')]
from beside_torch import Slice, head_of  # noqa: E402

PRODUCTS = ((8192, 8192), (6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336))  # n and k
ROWS = (1, 4, 16, 64, 256, 2048)
ROTATING_BYTES = 180e6
TOLERANCE = 0.02


def mxfp4(torch, n, k):
    """Codes, scales, and what they say."""
    codes = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device='cuda')
    scales = torch.randint(118, 124, (n, k // 32), dtype=torch.uint8, device='cuda')
    table = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], device='cuda')
    values = table[torch.stack((codes & 15, codes >> 4), -1).long()].view(n, k)
    return codes, scales, values * torch.exp2(scales.float() - 127).repeat_interleave(32, -1)


def int4(torch, n, k):
    """compressed-tensors, groups of 128."""
    codes = torch.randint(-2**31, 2**31 - 1, (n, k // 8), dtype=torch.int32, device='cuda')
    scales = (torch.rand(n, k // 128, device='cuda') / 64 + 2**-7).bfloat16()
    nibbles = codes.view(torch.uint8)
    values = torch.stack((nibbles & 15, nibbles >> 4), -1).view(n, k).float() - 8
    return codes, scales, values * scales.float().repeat_interleave(128, -1)


FORMATS = {'mxfp4': ('mxfp4', mxfp4), 'int4': ('compressed_tensors', int4)}


def time_in_turns(torch, options, foreign, calls, d, right, what):
    """Microseconds of each call, in turns. Its last weights, which are as all others, must give the right product first."""
    slices = {}
    for name, (call, sets) in calls.items():
        d.fill_(float('nan'))
        call(-1)
        off = ((d.float() - right).square().sum() / right.square().sum()).sqrt().item()
        if not off <= TOLERANCE:
            sys.exit(f'{name} of {what} is off by {off:.3g} of the norm.')
        slices[name] = Slice(torch, call, sets, options.slice, foreign)
    order = random.Random(1)
    for _ in range(options.rounds):
        for name in order.sample(sorted(slices), len(slices)):
            slices[name].time()
    return {name: statistics.median(one.times) for name, one in slices.items()}


def foreign_kernel(torch):
    """A kernel that stores one number, and its microseconds."""
    number = torch.zeros(1, device='cuda')
    foreign = lambda: number.fill_(1)
    alone = Slice(torch, lambda _: foreign(), 1, 2)
    return foreign, statistics.median(alone.time() for _ in range(5))


def write_csv(torch, options, foreign_us, lines):
    text = '# {device}, driver {driver}, commit {commit}, {date}; {rounds} rounds of slices of {slice_ms:g} ms; less {us:.2f} us\n'
    options.csv.write_text(text.format(us=foreign_us, **head_of(torch, options)) + '\n'.join(lines) + '\n')


def measure(torch, tilewright, options, foreign, n, k):
    """A line for each m: microseconds of four bits, of our bf16 and of torch's; with e4m3, of our e4m3 and our bf16."""
    layout, make = FORMATS[options.format]
    codes, scales, values = make(torch, n, k)
    pack = lambda: tilewright.pack_weights(codes, scales, layout=layout, activation=options.activation)
    packed = pack()
    bytes_ = packed.data.numel() * packed.data.element_size()
    copies = max(2, -(-int(ROTATING_BYTES) // bytes_))
    weights = [packed] + [pack() for _ in range(copies - 1)]
    wide = [values.bfloat16() for _ in range(max(2, -(-int(ROTATING_BYTES) // (2 * n * k))))]
    # e2m1 times scales of 2^-9 to 2^-4, made larger, is e4m3.
    narrow = [(64 * one).to(torch.float8_e4m3fn) for one in wide * 2] if options.activation == 'e4m3' else []
    smaller = tilewright.Epilogue(alpha=1 / 64)
    for m in ROWS:
        a, d = torch.randn(m, k, device='cuda').bfloat16(), torch.empty(m, n, device='cuda', dtype=torch.bfloat16)
        if narrow:
            a = a.to(torch.float8_e4m3fn).bfloat16()
        right, b = a.float() @ wide[0].float().T, a.to(torch.float8_e4m3fn)
        calls = {'own': (lambda i: tilewright.matmul_four_bit(a, weights[i], d), copies),
                 'bf16': (lambda i: tilewright.matmul(a, wide[i].T, d), len(wide)),
                 'peer': (lambda i: torch.matmul(a, wide[i].T, out=d), len(wide))}
        if narrow:
            calls = {'own': (lambda i: tilewright.matmul_four_bit(b, weights[i], d), copies), 'bf16': calls['bf16'],
                     'peer': (lambda i: tilewright.matmul(b, narrow[i].T, d, epilogue=smaller), len(narrow))}
        yield m, bytes_, time_in_turns(torch, options, foreign, calls, d, right, f'{m} x {n} x {k}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', required=True)
    parser.add_argument('--format', choices=FORMATS, default='mxfp4')
    parser.add_argument('--activation', choices=('bf16', 'e4m3'), default='bf16')
    parser.add_argument('--slice', type=float, default=10)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=1e9, help='no product is begun later')
    parser.add_argument('--commit')
    parser.add_argument('--csv', type=pathlib.Path)
    options = parser.parse_args()
    os.environ['TILEWRIGHT_LIBRARY'] = options.library
    options.set = ''
    import torch
    import tilewright
    torch.manual_seed(1)
    foreign, foreign_us = foreign_kernel(torch)
    peer = 'torch' if options.activation == 'bf16' else options.activation
    began, lines = time.monotonic(), [f'format,m,n,k,us,bf16_us,{peer}_us,tb_per_s']
    for n, k in PRODUCTS:
        if time.monotonic() - began > options.seconds:
            print(f'No time was left for {n} x {k}.')
            continue
        for m, bytes_, times in measure(torch, tilewright, options, foreign, n, k):
            us = {name: value - foreign_us for name, value in times.items()}
            rate = bytes_ / us['own'] / 1e6
            lines.append(f"{options.format},{m},{n},{k},{us['own']:.2f},{us['bf16']:.2f},{us['peer']:.2f},{rate:.2f}")
            print(f"{m} x {n} x {k}: {us['own']:.2f} us, {rate:.2f} TB/s; bf16 {us['bf16'] / us['own']:.2f}, {peer} "
                  f"{us['peer'] / us['own']:.2f} times as long", flush=True)
    if options.csv:
        write_csv(torch, options, foreign_us, lines)


if __name__ == '__main__':
    main()
