#!/usr/bin/env python3
"""Decoding with values that are columns of the keys, by libtilewright on a GPU: 576 columns, of which 512 are values.

usage: latent_torch.py [--library FILE] [--csv FILE] [--rounds N] [--e4m3] [INSTANCE...]      with torch, on a GPU

One query of each sequence, one head of keys, pages of 64 tokens in any order. Ten calls are one CUDA graph; graphs of the
library's own choice and of each INSTANCE are replayed in turns. TB/s count the keys once. Before, each is compared with torch in
float32: the error may be 2^-7 of the largest element.

--e4m3: the cache is e4m3 with a scale, and each INSTANCE is of that; the library's choice for the same numbers in bf16 takes its
turns beside them.
"""
import argparse
import math
import pathlib
import statistics
from ctypes import byref, c_size_t, c_void_p, sizeof

import torch

from attention_torch import Attention, Library, Matrix, Options, graph_of, milliseconds

COLUMNS, VALUES, PAGE = 576, 512, 64
SCALE = 0.5  # of the keys in e4m3; bf16 has the products as well
CASES = ((16, 64, 4096), (16, 64, 4000), (16, 128, 4096), (16, 16, 4096), (16, 1, 4096), (16, 4, 32768), (16, 1, 131072),
         (16, 128, 1024), (8, 64, 4096), (32, 64, 4096), (64, 64, 4096), (128, 64, 4096))


class Latent:
    def __init__(self, heads, batch, keys, lengths=None, is_e4m3=False):
        self.numbers = (heads, batch, keys)
        pages = (keys + PAGE - 1) // PAGE
        self.q = torch.randn(batch, 1, heads, COLUMNS, device='cuda').bfloat16()
        self.cache = torch.empty(batch * pages, PAGE, COLUMNS, device='cuda', dtype=torch.bfloat16).normal_()
        self.bytes, self.scales = None, torch.full((1,), SCALE, device='cuda')
        if is_e4m3:
            self.bytes = (self.cache / SCALE).to(torch.float8_e4m3fn)
            self.cache = self.bytes.bfloat16() * SCALE
        self.table = torch.randperm(batch * pages, device='cuda').int().view(batch, pages)
        self.counts = lengths or [keys] * batch
        self.lengths = torch.tensor(self.counts, device='cuda', dtype=torch.int32)

    def caller(self, library, instance, of_bytes=False):
        """The call, its output, and the kernel's name; None where it does not take the problem."""
        heads, batch, keys = self.numbers
        output = torch.full((batch, 1, heads, VALUES), math.nan, device='cuda', dtype=torch.bfloat16)
        problem, options = Attention(), Options()
        library.must(library.functions.tw_init(b'attention', byref(problem), c_size_t(sizeof(problem)), byref(options)))
        problem.heads, problem.key_heads, problem.head_size, problem.value_size = heads, 1, COLUMNS, VALUES
        problem.sequences, problem.queries, problem.keys, problem.values_in_keys = batch, 1, keys, 1
        problem.q = Matrix(self.q.data_ptr(), heads * COLUMNS, 1, COLUMNS, 0)
        problem.k = Matrix((self.bytes if of_bytes else self.cache).data_ptr(), COLUMNS, 1, COLUMNS, 4 if of_bytes else 0)
        if of_bytes:
            problem.k_scales = self.scales.data_ptr()
        problem.output = Matrix(output.data_ptr(), heads * VALUES, 1, VALUES, 0)
        problem.page_size, problem.pages, problem.table_pitch = PAGE, self.cache.shape[0], self.table.shape[1]
        problem.page_table, problem.key_ends = self.table.data_ptr(), self.lengths.data_ptr()
        options.workspace_limit, options.workspace_is_ready = 1 << 30, 1
        options.instance = instance.encode() if instance else None
        plan = c_void_p()
        status = library.functions.tw_plan_create(byref(plan), byref(problem), byref(options))
        if status != 0 and instance:
            return None
        library.must(status)
        workspace = torch.zeros(max(library.functions.tw_plan_workspace_size(plan), 1), dtype=torch.uint8, device='cuda')

        def call(_kept=output):
            library.must(library.functions.tw_plan_run(plan, byref(problem), c_void_p(workspace.data_ptr()),
                                                       c_size_t(workspace.numel()),
                                                       c_void_p(torch.cuda.current_stream().cuda_stream)))
        line = library.functions.tw_plan_command(plan).decode()
        return call, output, ' '.join(line.split('--instance ')[1].split()[0:1] + [word for word in line.split() if 'split' in word])

    def right(self):
        batch = self.numbers[1]
        rows = []
        for i in range(batch):
            k = self.cache[self.table[i].long()].view(-1, COLUMNS)[:self.counts[i]].float()
            scores = self.q[i, 0].float() @ k.T / math.sqrt(COLUMNS)
            rows.append((torch.softmax(scores, -1) @ k[:, :VALUES])[None])
        return torch.stack(rows)


def check(name, output, right):
    error, largest = (output.float() - right).abs().max().item(), right.abs().max().item()
    if not error <= 2**-7 * largest:
        raise SystemExit(f'{name} differs from torch by {error:.2e}, of {largest:.2e}.')


def check_lengths(library, instances, is_e4m3):
    """Sequences of different lengths, among them none, and heads that leave columns of a tile to nobody."""
    problem = Latent(20, 9, 1500, [0, 1, 63, 64, 65, 777, 1024, 1499, 1500], is_e4m3)
    problem.cache[problem.table[0].long()] = math.nan
    if is_e4m3:
        problem.bytes.view(torch.uint8)[problem.table[0].long()] = 0x7f  # no number
    right = problem.right()
    for instance in (None, *instances):
        called = problem.caller(library, instance, is_e4m3)
        if called is not None:
            called[0]()
            check(f'{called[2]} of different lengths', called[1], right)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', default='build/cuda/src/library/libtilewright.so')
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--e4m3', action='store_true')
    parser.add_argument('instances', nargs='*', metavar='INSTANCE')
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    library = Library(options.library)
    check_lengths(library, options.instances, options.e4m3)
    lines = ['heads,batch,keys,kernel,us,tb_per_s']
    for case in CASES:
        heads, batch, keys = case
        problem = Latent(*case, is_e4m3=options.e4m3)
        right = problem.right()
        replays = {}
        asked = [(instance, options.e4m3) for instance in (None, *options.instances)] + [(None, False)]
        element = {}
        for instance, of_bytes in asked:
            called = problem.caller(library, instance, of_bytes)
            if called is None or called[2] in replays:
                continue
            call, output, name = called
            replays[name], element[name] = graph_of(call), 1 if of_bytes else 2
            check(name, output, right)
        times = {name: [] for name in replays}
        for _ in range(options.rounds):
            for name, replay in replays.items():
                replay()
                times[name].append(milliseconds(replay, 1) / 10)
        for name, of in times.items():
            us = statistics.median(of) * 1e3
            speed = batch * keys * COLUMNS * element[name] / us / 1e6
            lines.append(f'{heads},{batch},{keys},{name},{us:.2f},{speed:.2f}')
            print(f'{heads} heads, {batch} x {keys} keys: {name} {us:.1f} us, {speed:.2f} TB/s', flush=True)
        del problem, replays, call, output, called
        torch.cuda.empty_cache()
    if options.csv:
        options.csv.write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
