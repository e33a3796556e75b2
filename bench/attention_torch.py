#!/usr/bin/env python3
"""Attention by libtilewright beside torch's flash and cuDNN attention, in interleaved rounds.

usage: attention_torch.py [--library FILE] [--csv FILE] [--rounds N] [--e4m3 | --decode] [INSTANCE...]      with torch, on a GPU

Measures the library's own choice and each INSTANCE that takes a problem; what one refuses is printed. 32 heads share 8
of keys, at 4 x 4096 and 2 x 8192 tokens. Before, each is compared with float64: its error may be 1.25 times that of
torch in bf16. TFLOP/s count half of the products where the mask is causal.

--e4m3: queries, keys and values are e4m3; peers and the library's bf16 kernel take the same numbers as bf16 (cuDNN's own attention
of e4m3 is the peer of ./tw bench attention --type e4m3). The library's error may be 6 % of the result, in the root of the
mean square: weights of e4m3 miss by up to 6 % each, at random. INSTANCEs may have sums of any length (sums_join_every), and
are compared with them.

--decode: one query of each sequence, 4096 and 32768 keys, which lie one behind the other and in pages of 16 tokens.
Ten calls are one CUDA graph, beside torch's choice of a kernel; TB/s count keys and values once.
"""
import argparse
import ctypes
import math
import pathlib
import statistics
from ctypes import Structure, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

PEERS = {'flash': SDPBackend.FLASH_ATTENTION, 'cudnn': SDPBackend.CUDNN_ATTENTION}
OWN = 'tilewright'


class Matrix(Structure):
    _fields_ = [('data', c_void_p), ('row_stride', c_int64), ('column_stride', c_int64), ('batch_stride', c_int64),
                ('type', c_int)]


class Attention(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('heads', c_int64), ('key_heads', c_int64),
                ('head_size', c_int64), ('value_size', c_int64), ('sequences', c_int64), ('queries', c_int64),
                ('keys', c_int64), ('query_ends', c_void_p), ('key_ends', c_void_p), ('causal', c_int),
                ('window', c_int64), ('scale', c_float), ('softcap', c_float),
                ('q', Matrix), ('k', Matrix), ('v', Matrix), ('output', Matrix), ('sinks', c_void_p),
                ('log_sums', Matrix), ('page_size', c_int64), ('pages', c_int64), ('table_pitch', c_int64),
                ('page_table', c_void_p), ('heads_in_pages', c_int), ('q_scales', c_void_p), ('k_scales', c_void_p),
                ('v_scales', c_void_p), ('values_in_keys', c_int), ('range_begins', c_void_p), ('range_ends', c_void_p),
                ('sums_join_every', c_int64)]


class Options(Structure):
    _fields_ = [('size', c_size_t), ('batch_invariant', c_int), ('fast_accumulation', c_int),
                ('workspace_is_ready', c_int), ('workspace_limit', c_size_t), ('instance', c_char_p),
                ('target', c_char_p)]


class Library:
    """The functions of tilewright.h that are called here."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.tw_message.restype = c_char_p
        self.functions.tw_plan_command.restype = c_char_p
        self.functions.tw_plan_workspace_size.restype = c_size_t

    def must(self, status):
        if status != 0:
            raise SystemExit(self.functions.tw_message().decode())


class Problem:
    """Tensors of random numbers, (batch,head,token,column) for torch and (batch,token,head,column) for the library."""

    def __init__(self, batch, heads, key_heads, queries, keys, columns, causal, is_e4m3=False):
        self.numbers = (batch, heads, key_heads, queries, keys)
        self.columns, self.causal = columns, causal
        self.q = torch.randn(batch, heads, queries, columns, device='cuda').bfloat16()
        self.k, self.v = (torch.randn(batch, key_heads, keys, columns, device='cuda').bfloat16() for _ in range(2))
        if is_e4m3:
            self.q, self.k, self.v = (tensor.to(torch.float8_e4m3fn).bfloat16() for tensor in (self.q, self.k, self.v))
        self.by_token = [tensor.transpose(1, 2).contiguous() for tensor in (self.q, self.k, self.v)]
        self.as_e4m3 = [tensor.to(torch.float8_e4m3fn) for tensor in self.by_token] if is_e4m3 else None

    def caller(self, library, instance=None, is_e4m3=False, sums_join_every=0):
        """The call, where it leaves the output by head, and the line that repeats it."""
        batch, heads, key_heads, queries, keys = self.numbers
        output = torch.full_like(self.by_token[0], math.nan)
        inputs = self.as_e4m3 if is_e4m3 else self.by_token
        problem, options = Attention(), Options()
        library.must(library.functions.tw_init(b'attention', byref(problem), c_size_t(ctypes.sizeof(problem)),
                                               byref(options)))
        problem.heads, problem.key_heads, problem.head_size = heads, key_heads, self.columns
        problem.sequences, problem.queries, problem.keys, problem.causal = batch, queries, keys, int(self.causal)
        problem.sums_join_every = sums_join_every
        for name, tensor in zip(('q', 'k', 'v', 'output'), (*inputs, output)):
            count = tensor.shape[2]
            tensor_type = 0 if tensor.dtype == torch.bfloat16 else 4  # TW_BF16, TW_E4M3
            setattr(problem, name, Matrix(tensor.data_ptr(), count * self.columns, 1, self.columns, tensor_type))
        options.workspace_is_ready = 1
        options.instance = instance.encode() if instance else None
        plan = c_void_p()
        status = library.functions.tw_plan_create(byref(plan), byref(problem), byref(options))
        if status != 0 and instance:
            print(f'{instance} is not measured with {self.columns} columns: {library.functions.tw_message().decode()}', flush=True)
            return None
        library.must(status)
        workspace = torch.zeros(max(library.functions.tw_plan_workspace_size(plan), 1), dtype=torch.uint8, device='cuda')

        def call(_kept=output):  # a graph is captured on a stream of its own
            library.must(library.functions.tw_plan_run(plan, byref(problem), c_void_p(workspace.data_ptr()),
                                                       c_size_t(workspace.numel()),
                                                       c_void_p(torch.cuda.current_stream().cuda_stream)))
        line = library.functions.tw_plan_command(plan).decode()
        return call, output.transpose(1, 2), line

    def torch_call(self, backend):
        def call():
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(self.q, self.k, self.v, is_causal=self.causal,
                                                               enable_gqa=True)
        return call

    def exact(self):
        ratio = self.numbers[1] // self.numbers[2]
        k, v = (tensor.double().repeat_interleave(ratio, 1) for tensor in (self.k, self.v))
        scores = self.q.double() @ k.transpose(-1, -2) / math.sqrt(self.columns)
        if self.causal:
            seen = torch.ones(scores.shape[-2:], device='cuda', dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
            scores = scores.masked_fill(~seen, -math.inf)
        return torch.softmax(scores, -1) @ v


class Decode:
    """One query for each sequence, (sequence,token,head,column), keys in a row and in pages of 16 in another order."""

    def __init__(self, batch, keys, heads=32, key_heads=8, columns=128):
        self.numbers = (batch, keys, heads, key_heads, columns)
        self.q = torch.randn(batch, 1, heads, columns, device='cuda').bfloat16()
        self.k, self.v = (torch.empty(batch, keys, key_heads, columns, device='cuda', dtype=torch.bfloat16).normal_()
                          for _ in range(2))
        self.order = torch.randperm(batch * keys // 16, device='cuda').int()
        self.lengths = torch.full((batch,), keys, device='cuda', dtype=torch.int32)
        self.pages = []
        if self.k.numel() < 1 << 30:
            for tensor in (self.k, self.v):
                pages = torch.empty(batch * keys // 16, 16 * key_heads * columns, device='cuda', dtype=torch.bfloat16)
                pages[self.order.long()] = tensor.view(pages.shape)
                self.pages.append(pages)

    def caller(self, library, instance, paged):
        """The call, its output, and the kernel's name."""
        batch, keys, heads, key_heads, columns = self.numbers
        output = torch.full_like(self.q, math.nan)
        problem, options = Attention(), Options()
        library.must(library.functions.tw_init(b'attention', byref(problem), c_size_t(ctypes.sizeof(problem)),
                                               byref(options)))
        problem.heads, problem.key_heads, problem.head_size = heads, key_heads, columns
        problem.sequences, problem.queries, problem.keys, problem.causal = batch, 1, keys, 1
        for name, tensor, count in (('q', self.q, heads), ('output', output, heads),
                                    *zip('kv', self.pages if paged else (self.k, self.v), (key_heads, key_heads))):
            setattr(problem, name, Matrix(tensor.data_ptr(), count * columns, 1, columns, 0))
        if paged:
            problem.page_size, problem.pages, problem.table_pitch = 16, batch * keys // 16, keys // 16
            problem.page_table, problem.key_ends = self.order.data_ptr(), self.lengths.data_ptr()
        options.workspace_limit, options.workspace_is_ready = 1 << 30, 1
        options.instance = instance.encode() if instance else None
        plan = c_void_p()
        library.must(library.functions.tw_plan_create(byref(plan), byref(problem), byref(options)))
        workspace = torch.zeros(max(library.functions.tw_plan_workspace_size(plan), 1), dtype=torch.uint8, device='cuda')

        def call(_kept=output):
            library.must(library.functions.tw_plan_run(plan, byref(problem), c_void_p(workspace.data_ptr()),
                                                       c_size_t(workspace.numel()),
                                                       c_void_p(torch.cuda.current_stream().cuda_stream)))
        return call, output, library.functions.tw_plan_command(plan).decode().split('--instance ')[1].split()[0]

    def torch_call(self):
        q, k, v = (tensor.transpose(1, 2) for tensor in (self.q, self.k, self.v))
        return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2)


def graph_of(call, calls=10):
    """Keeps what the call has."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return lambda _kept=call: graph.replay()


def measure_decode(library, instances, rounds):
    lines = ['batch,keys,pages,kernel,us,tb_per_s']
    for batch, keys in ((1, 4096), (16, 4096), (64, 4096), (1, 32768), (16, 32768), (64, 32768)):
        problem = Decode(batch, keys)
        right = problem.torch_call()
        replays = {('torch', 0): graph_of(problem.torch_call)}
        for paged in (False, True) if problem.pages else (False,):
            for instance in (None, *instances):
                call, output, name = problem.caller(library, instance, paged)
                if (name, 16 if paged else 0) in replays:
                    continue
                replays[name, 16 if paged else 0] = graph_of(call)
                error = (output.float() - right.float()).abs().max().item()
                if not error <= 2**-7 * right.float().abs().max().item():
                    raise SystemExit(f'{name} differs from torch by {error:.2e}.')
        times = {name: [] for name in replays}
        for _ in range(rounds):
            for name, replay in replays.items():
                replay()
                times[name].append(milliseconds(replay, 1) / 10)
        for (name, pages), of in times.items():
            us = statistics.median(of) * 1e3
            speed = 2 * problem.k.numel() * 2 / us / 1e6
            lines.append(f'{batch},{keys},{pages},{name},{us:.2f},{speed:.2f}')
            print(f'{batch} x {keys} keys{", pages of 16" if pages else ""}: {name} {us:.1f} us, {speed:.2f} TB/s', flush=True)
    return lines


def check(library, instance):
    for columns in (64, 128):
        for causal in (False, True):
            problem = Problem(2, 8, 2, 1001, 1001, columns, causal)
            called = problem.caller(library, instance)
            if called is None:
                continue
            called[0]()
            exact = problem.exact()
            error = (called[1].double() - exact).abs().max().item()
            allowed = 1.25 * (problem.torch_call(PEERS['flash'])().double() - exact).abs().max().item()
            if not error <= allowed:
                raise SystemExit(f'{called[2]} errs by {error:.2e}; {allowed:.2e} are allowed.')


def relative_error(output, exact):
    """The root of the mean square, of that of `exact`."""
    return ((output.double() - exact).square().mean() / exact.square().mean()).sqrt().item()


def check_e4m3(library, instances):
    keys = 4099
    for columns in (64, 128):
        for causal in (False, True):
            problem = Problem(2, 8, 2, 1001, keys, columns, causal, True)
            exact = problem.exact()
            for instance in (None, *instances):
                called = problem.caller(library, instance, True, keys if instance else 0)
                if called is None:
                    continue
                call, output, line = called
                call()
                error = relative_error(output, exact)
                if not error <= 0.06:
                    raise SystemExit(f'{line} errs by {100 * error:.1f} %; 6 are allowed.')
                print(f'{columns} columns, {"causal" if causal else "full"}: {line.split("--instance ")[1].split()[0]} errs by '
                      f'{100 * error:.2f} %', flush=True)


def milliseconds(call, repeats):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats


def measure_prefill(library, instances, rounds, is_e4m3):
    if is_e4m3:
        check_e4m3(library, instances)
    else:
        for instance in (None, *instances):
            check(library, instance)
    lines = ['batch,tokens,heads,key_heads,columns,causal,kernel,us,tflops']
    for batch, tokens in ((4, 4096), (2, 8192)):
        for columns in (128, 64):
            for causal in (False, True):
                problem = Problem(batch, 32, 8, tokens, tokens, columns, causal, is_e4m3)
                calls = {name: problem.torch_call(backend) for name, backend in PEERS.items()}
                calls[OWN], _, line = problem.caller(library, None, is_e4m3)
                if is_e4m3:
                    calls['as bf16'] = problem.caller(library)[0]
                chosen = line.split('--instance ')[1].split()[0]
                for instance in instances:
                    called = problem.caller(library, instance, is_e4m3, tokens if is_e4m3 else 0)  # with any sums of e4m3
                    if called is not None and instance != chosen:
                        calls[instance] = called[0]
                times = {name: [] for name in calls}
                for name, call in calls.items():
                    milliseconds(call, 3)
                for _ in range(rounds):
                    for name, call in calls.items():
                        times[name].append(milliseconds(call, 10))
                flop = 4 * batch * 32 * tokens * tokens * columns * (0.5 if causal else 1)
                speed = {name: flop / statistics.median(of) / 1e9 for name, of in times.items()}
                peer = max(speed[name] for name in PEERS)
                print(f'{batch} x {tokens}, {columns} columns, {"causal" if causal else "full"}: ' +
                      ', '.join(f'{name} {value:.0f}' for name, value in speed.items()) +
                      f'; {chosen} is {speed[OWN] / peer:.3f} of the faster peer', flush=True)
                lines += [f'{batch},{tokens},32,8,{columns},{int(causal)},{chosen if name == OWN else name},'
                          f'{statistics.median(times[name]) * 1e3:.2f},{value:.1f}' for name, value in speed.items()]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', default='build/cuda/src/library/libtilewright.so')
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--e4m3', action='store_true')
    parser.add_argument('--decode', action='store_true')
    parser.add_argument('instances', nargs='*', metavar='INSTANCE')
    options = parser.parse_args()
    torch.manual_seed(1)
    library = Library(options.library)
    if options.decode:
        lines = measure_decode(library, options.instances, options.rounds)
    else:
        lines = measure_prefill(library, options.instances, options.rounds, options.e4m3)
    if options.csv:
        options.csv.write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
