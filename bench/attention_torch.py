#!/usr/bin/env python3
"""Attention kernels of sm_90a beside torch's flash and cuDNN attention, in interleaved rounds.

usage: attention_torch.py [--csv FILE] [--rounds N]      in the repository root, with nvcc and torch

Compiles bench/attention_kernel.cu for each line of KERNELS, compares each with float64 (its error may be
1.25 times that of torch in bf16), then measures 32 heads that share 8 of keys, at 4 x 4096 and 2 x 8192 tokens.
TFLOP/s count half of the products where the mask is causal.
"""
import argparse
import concurrent.futures
import ctypes
import math
import pathlib
import statistics
import subprocess

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

FOLDER = pathlib.Path('build/attention')
# Name: rows, keys, columns, staged bytes, cluster, dynamic. Those in clusters take (batch,head,token,column).
KERNELS = {
    'd128_k128': (128, 128, 128, 128, 1, 0), 'd128_k128_dynamic': (128, 128, 128, 128, 1, 1),
    'd128_k176': (128, 176, 128, 64, 1, 0), 'd128_2x1_k128': (128, 128, 128, 128, 2, 0),
    'd128_2x1_k176': (128, 176, 128, 64, 2, 0), 'd64_r192_k112': (192, 112, 64, 128, 1, 0),
    'd64_r192_k96': (192, 96, 64, 128, 1, 0), 'd64_2x1_r192_k112': (192, 112, 64, 128, 2, 0),
}
PEERS = {'flash': SDPBackend.FLASH_ATTENTION, 'cudnn': SDPBackend.CUDNN_ATTENTION}


def build(name):
    rows, keys, columns, staged, cluster, dynamic = KERNELS[name]
    library = FOLDER / f'{name}.so'
    subprocess.run(['nvcc', '-std=c++20', '--expt-relaxed-constexpr', '-gencode', 'arch=compute_90a,code=sm_90a',
                    '-O3', '-Iinclude', '-shared', '-Xcompiler', '-fPIC', f'-DROWS={rows}', f'-DKEYS={keys}',
                    f'-DCOLUMNS={columns}', f'-DSTAGED={staged}', f'-DCLUSTER={cluster}', f'-DDYNAMIC={dynamic}',
                    '-o', library, 'bench/attention_kernel.cu'], check=True)
    return ctypes.CDLL(library.absolute()).attention


class Problem:
    """Tensors of random numbers, for torch by head and for kernels in either order."""

    def __init__(self, batch, heads, key_heads, queries, keys, columns, causal):
        self.numbers = (batch, heads, key_heads, queries, keys)
        self.columns, self.causal = columns, causal
        self.scale = 1 / math.sqrt(columns)
        self.q = torch.randn(batch, heads, queries, columns, device='cuda').bfloat16()
        self.k, self.v = (torch.randn(batch, key_heads, keys, columns, device='cuda').bfloat16() for _ in range(2))
        self.by_token = [tensor.transpose(1, 2).contiguous() for tensor in (self.q, self.k, self.v)]
        self.counter = torch.zeros(1, dtype=torch.int32, device='cuda')

    def caller(self, function, tokens_first):
        """The call, and where it leaves the output, by head."""
        given = self.by_token if tokens_first else [self.q, self.k, self.v]
        output = torch.full_like(given[0], math.nan)
        addresses = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (*given, output)]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        def call():
            if function(*addresses, ctypes.c_void_p(0), ctypes.c_void_p(self.counter.data_ptr()), *self.numbers,
                        int(tokens_first), int(self.causal), ctypes.c_float(self.scale), stream) != 0:
                raise SystemExit('A kernel refused a problem of this benchmark.')
        return call, output.transpose(1, 2) if tokens_first else output

    def torch_call(self, backend):
        def call():
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(self.q, self.k, self.v, is_causal=self.causal,
                                                               enable_gqa=True)
        return call

    def exact(self):
        ratio = self.numbers[1] // self.numbers[2]
        k, v = (tensor.double().repeat_interleave(ratio, 1) for tensor in (self.k, self.v))
        scores = self.q.double() @ k.transpose(-1, -2) * self.scale
        if self.causal:
            seen = torch.ones(scores.shape[-2:], device='cuda', dtype=torch.bool).tril()
            scores = scores.masked_fill(~seen, -math.inf)
        return torch.softmax(scores, -1) @ v


def check(name, function):
    columns, cluster = KERNELS[name][2], KERNELS[name][4]
    for causal in (False, True):
        problem = Problem(2, 8, 2, 1001, 1001, columns, causal)
        call, output = problem.caller(function, cluster == 1)
        call()
        exact = problem.exact()
        error = (output.double() - exact).abs().max().item()
        allowed = 1.25 * (problem.torch_call(PEERS['flash'])().double() - exact).abs().max().item()
        if not error <= allowed:
            raise SystemExit(f'{name} errs by {error:.2e}; {allowed:.2e} are allowed.')


def milliseconds(call, repeats):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=5)
    options = parser.parse_args()
    torch.manual_seed(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        functions = dict(zip(KERNELS, pool.map(build, KERNELS)))
    for name, function in functions.items():
        check(name, function)
    lines = ['batch,tokens,heads,key_heads,columns,causal,kernel,us,tflops']
    for batch, tokens in ((4, 4096), (2, 8192)):
        for columns in (128, 64):
            for causal in (False, True):
                problem = Problem(batch, 32, 8, tokens, tokens, columns, causal)
                calls = {name: problem.torch_call(backend) for name, backend in PEERS.items()}
                calls |= {name: problem.caller(function, KERNELS[name][4] == 1)[0]
                          for name, function in functions.items() if KERNELS[name][2] == columns}
                times = {name: [] for name in calls}
                for name, call in calls.items():
                    milliseconds(call, 3)
                for _ in range(options.rounds):
                    for name, call in calls.items():
                        times[name].append(milliseconds(call, 10))
                flop = 4 * batch * 32 * tokens * tokens * columns * (0.5 if causal else 1)
                speed = {name: flop / statistics.median(of) / 1e9 for name, of in times.items()}
                print(f'{batch} x {tokens}, {columns} columns, {"causal" if causal else "full"}: ' +
                      ', '.join(f'{name} {value:.0f}' for name, value in speed.items()), flush=True)
                lines += [f'{batch},{tokens},32,8,{columns},{int(causal)},{name},'
                          f'{statistics.median(times[name]) * 1e3:.2f},{value:.1f}' for name, value in speed.items()]
    if options.csv:
        options.csv.write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
