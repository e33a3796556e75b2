#!/usr/bin/env python3
"""A set of attention, grouped or streamed shapes by libtilewright's own choice, beside torch, in interleaved slices of CUDA graphs.

usage: beside_torch.py SET --library FILE [--between] [--slice 20] [--rounds 3] [--seconds N]
                       [--fa3 FILE] [--csv FILE] [--json FILE] [--prepare]

SET is a file as in bench/held_out. Attention: the peer is the fastest of torch's flash, cuDNN's and memory-efficient kernels that
run, and with --fa3 of what a shared library computes (docs/attention.md names its function), found in a pass of its own for
each column; products of groups: torch's grouped matmul; rms_norm, rotary and quantisers: torch.compile's, which --prepare
makes without measuring anything. Data are standard normal, buffers
rotate beyond the L2, times are medians of rounds. --between puts a small kernel (torch's fill of one number) behind each launch
of both sides; its own time is measured as a graph of it alone. Ours runs by a plan with a workspace that is ready. Results
are compared: a difference above 2 % of the norm counts as wrong.
"""
import argparse
import ctypes
import datetime
import gc
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / 'bench'), str(REPOSITORY / 'python')]
import columns  # noqa: E402
import grouped_torch  # noqa: E402
import streams_torch  # noqa: E402

MOST_LAUNCHES = 400  # of a graph
CHOOSING_MS = 2
TOLERANCE = 0.02


def attention_shape(shape):
    """Of a set, or of bench/suites, where queries and keys are as many."""
    if 'seq' not in shape:
        return shape
    heads = shape['heads']
    return {'batch': shape['batch'], 'heads': heads, 'key_heads': shape.get('kv_heads', heads), 'queries': shape['seq'],
            'keys': shape['seq'], 'columns': shape['dim'], 'causal': shape['causal']}


def kind_of(shape):
    return 'decode' if shape['queries'] == 1 else 'causal' if shape['causal'] else 'full'


def words_of(shape):
    if 'family' in shape:
        return streams_torch.words_of(shape)
    if 'groups' in shape:
        return '{groups} groups, {rows} x {n} x {k}'.format(**shape)
    heads = '{heads} heads of {key_heads}'.format(**shape)
    return '{batch} x {queries} x {keys}, '.format(**shape) + f"{heads}, {shape['columns']} columns, {kind_of(shape)}"


def sets_of(torch, bytes_):
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    return max(2, min(64, 3 * l2_bytes // bytes_ + 1))


def function_of(path):
    """The function of a shared library that attends: tw_peer_attention. OSError, or a sentence in ValueError."""
    function = getattr(ctypes.CDLL(str(path)), 'tw_peer_attention', None)
    if function is None:
        raise ValueError(f'{path} has no function tw_peer_attention.')
    function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 6 + [ctypes.c_int, ctypes.c_void_p]
    function.restype = ctypes.c_int
    return function


def call_function(function, addresses, shape, is_causal, stream):
    """`addresses` are those of output, q, k and v."""
    sizes = (shape[name] for name in ('batch', 'heads', 'key_heads', 'queries', 'keys', 'columns'))
    status = function(*addresses, *sizes, int(is_causal), stream)
    if status != 0:
        raise RuntimeError(f'tw_peer_attention returned {status}')


class Attention:
    def __init__(self, torch, shape, function=None):
        self.torch, self.shape, self.function = torch, shape, function
        batch, columns_, causal = shape['batch'], shape['columns'], shape['causal']
        normal = lambda tokens, heads: torch.randn(batch, tokens, heads, columns_, device='cuda', dtype=torch.bfloat16)
        bytes_ = 4 * batch * columns_ * (shape['heads'] * shape['queries'] + shape['key_heads'] * shape['keys'])
        self.sets = []
        for _ in range(sets_of(torch, bytes_)):
            q, k, v = normal(shape['queries'], shape['heads']), *(normal(shape['keys'], shape['key_heads']) for _ in range(2))
            self.sets.append((q, k, v, torch.empty_like(q)))
        self.is_causal = causal and shape['queries'] > 1

    def peers(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        shared = self.shape['heads'] != self.shape['key_heads']

        def caller(backend):
            def call(index):
                q, k, v = (tensor.transpose(1, 2) for tensor in self.sets[index][:3])
                with sdpa_kernel(backend):
                    return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal,
                                                                                 enable_gqa=shared).transpose(1, 2)
            return call
        backends = {'flash': SDPBackend.FLASH_ATTENTION, 'cudnn': SDPBackend.CUDNN_ATTENTION,
                    'efficient': SDPBackend.EFFICIENT_ATTENTION}
        calls = {name: caller(backend) for name, backend in backends.items()}

        def call_fa3(index):
            *inputs, output = self.sets[index]
            addresses = [tensor.data_ptr() for tensor in (output, *inputs)]
            call_function(self.function, addresses, self.shape, self.is_causal, self.torch.cuda.current_stream().cuda_stream)
            return output
        return {**calls, 'fa3': call_fa3} if self.function else calls

    def problem(self, index, new_problem):
        shape, problem = self.shape, new_problem('attention')
        problem.heads, problem.key_heads, problem.head_size = shape['heads'], shape['key_heads'], shape['columns']
        problem.sequences, problem.queries, problem.keys = shape['batch'], shape['queries'], shape['keys']
        problem.causal = int(self.is_causal)
        for name, tensor in zip(('q', 'k', 'v', 'output'), self.sets[index]):
            matrix = getattr(problem, name)
            matrix.data, matrix.column_stride, matrix.type = tensor.data_ptr(), 1, 0
            matrix.row_stride, matrix.batch_stride = tensor.shape[2] * shape['columns'], shape['columns']
        return problem

    def output(self, index):
        return self.sets[index][3]


def problem_of(torch, shape, function=None):
    if 'family' in shape:
        return streams_torch.Streams(torch, shape, sets_of)
    return Groups(torch, shape) if 'groups' in shape else Attention(torch, shape, function)


class Groups:
    def __init__(self, torch, shape):
        self.torch, self.shape = torch, shape
        groups, rows, n, k = (shape[name] for name in ('groups', 'rows', 'n', 'k'))
        normal = lambda *size: torch.randn(*size, device='cuda', dtype=torch.bfloat16)
        bytes_ = 2 * (rows * (n + k) + groups * n * k)
        self.sets = [(normal(rows, k), normal(groups, n, k), torch.empty(rows, n, device='cuda', dtype=torch.bfloat16))
                     for _ in range(sets_of(torch, bytes_))]
        sizes = grouped_torch.sizes_of(groups, rows, 1)
        self.ends = torch.tensor(sizes, dtype=torch.int32).cumsum(0, dtype=torch.int32).cuda()

    def peers(self):
        function = grouped_torch.grouped_mm(self.torch)
        return {'torch': lambda index: function(self.sets[index][0], self.sets[index][1].transpose(1, 2), self.ends)}

    def problem(self, index, new_problem):
        shape, problem = self.shape, new_problem('grouped')
        matmul = problem.matmul
        matmul.m, matmul.n, matmul.k, matmul.batch = shape['rows'], shape['n'], shape['k'], shape['groups']
        a, b, d = self.sets[index]
        for matrix, tensor, strides in ((matmul.a, a, (shape['k'], 1, 0)), (matmul.b, b, (1, shape['k'], shape['n'] * shape['k'])),
                                        (matmul.d, d, (shape['n'], 1, 0))):
            matrix.data, matrix.type = tensor.data_ptr(), 0
            matrix.row_stride, matrix.column_stride, matrix.batch_stride = strides
        problem.rows = self.ends.data_ptr()
        return problem

    def output(self, index):
        return self.sets[index][2]


def own_caller(torch, problem):
    """The library's own choice; its name."""
    from tilewright import _library
    problems = [problem.problem(index, _library.new_problem) for index in range(len(problem.sets))]
    plan = _library.Plan(problems[0], _library.new_options(False, True, None, workspace_is_ready=1))
    library, bytes_ = _library.library(), plan.workspace_bytes
    workspace = torch.zeros(max(bytes_, 1), dtype=torch.uint8, device='cuda')

    def call(index):
        _library.check(library.tw_plan_run(plan.handle, problems[index], workspace.data_ptr(), bytes_,
                                           torch.cuda.current_stream().cuda_stream))
        return problem.output(index)
    return call, library.tw_plan_command(plan.handle).decode().split('--instance ')[1].split()[0]


class Slice:
    """Calls as a graph that is replayed for about so many milliseconds."""

    def __init__(self, torch, call, sets, milliseconds, foreign=None):
        self.torch, self.times, self.replays = torch, [], 1
        for _ in range(2):
            call(0)
        torch.cuda.synchronize()
        self.capture(call, sets, 3, foreign)
        wanted = 1e3 * milliseconds / self.time()
        self.capture(call, sets, max(sets, min(MOST_LAUNCHES, int(wanted))), foreign)
        self.replays = max(1, round(wanted / self.launches))
        self.times.clear()

    def capture(self, call, sets, launches, foreign):
        self.graph, self.launches = self.torch.cuda.CUDAGraph(), launches
        with self.torch.cuda.graph(self.graph):
            for launch in range(launches):
                call(launch % sets)
                if foreign is not None:
                    foreign()

    def time(self):
        """Microseconds of a launch: the slice twice, the second timed."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        for is_timed in (False, True):
            if is_timed:
                begin.record()
            for _ in range(self.replays):
                self.graph.replay()
        end.record()
        end.synchronize()
        self.times.append(1e3 * begin.elapsed_time(end) / self.launches / self.replays)
        return self.times[-1]


def measure(torch, problem, options, foreign):
    """A row of columns.py, with names and spreads."""
    sets, calls, refused = len(problem.sets), {}, []
    own, name = own_caller(torch, problem)
    expected = own(0).float().clone()
    for peer, call in problem.peers().items():
        try:
            result = call(0).float()
            torch.cuda.synchronize()
        except RuntimeError as error:
            refused.append(f'{peer}: {str(error).splitlines()[0][:80]}')
            continue
        calls[peer] = call
        difference = ((result - expected).square().sum() / result.square().sum()).sqrt().item()
        if not difference <= TOLERANCE:
            raise ValueError(f'{name} differs from {peer} by {difference:.3g} of the norm')
    del expected
    row = {'own': name, 'peer': '', 'peer_between': '', 'refused': '; '.join(refused), 'tried': len(calls)}
    slices = {}
    for between in (False, True) if options.between else (False,):
        column = 'between_' if between else ''
        behind = foreign if between else None
        chosen = None
        if calls:
            looks = {peer: Slice(torch, call, sets, CHOOSING_MS, behind) for peer, call in calls.items()}
            chosen = min(looks, key=lambda peer: statistics.median(looks[peer].time() for _ in range(3)))
            del looks
            slices['peer_' + column] = Slice(torch, calls[chosen], sets, options.slice, behind)
        row['peer_between' if between else 'peer'] = chosen or ''
        slices['own_' + column] = Slice(torch, own, sets, options.slice, behind)
    order = random.Random(1)
    for _ in range(options.rounds):
        for key in order.sample(sorted(slices), len(slices)):
            slices[key].time()
    for key in ('peer_', 'own_', 'peer_between_', 'own_between_'):
        times = slices[key].times if key in slices else [0.0]
        row[key + 'us'], row[key + 'low_us'], row[key + 'high_us'] = statistics.median(times), min(times), max(times)
    return row


def prepare(torch, shapes):
    for shape in shapes:
        problem = problem_of(torch, shape)
        for call in problem.peers().values():
            call(0)
        torch.cuda.synchronize()


def head_of(torch, options):
    def run(*words):
        try:
            return subprocess.run(words, capture_output=True, text=True).stdout.strip()
        except OSError:
            return ''
    commit = options.commit
    if not commit:
        commit = run('git', '-C', str(REPOSITORY), 'rev-parse', 'HEAD') or 'unknown'
        if run('git', '-C', str(REPOSITORY), 'status', '--porcelain', '--untracked-files=no'):
            commit += ', and changes'
    driver = run('nvidia-smi', '--query-gpu=driver_version', '--format=csv,noheader')
    return {'device': torch.cuda.get_device_name(0), 'driver': f'{driver}, torch {torch.__version__}, cuDNN '
            f'{torch.backends.cudnn.version()}', 'commit': commit, 'rounds': options.rounds, 'slice_ms': options.slice,
            'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M:%S UTC'),
            'command': 'bench/beside_torch.py ' + ' '.join(sys.argv[1:]), 'suite': str(options.set)}


def csv_of(head, family, rows):
    fields = ('own', 'peer', 'peer_between', 'tried', 'own_us', 'own_low_us', 'own_high_us', 'peer_us', 'peer_low_us', 'peer_high_us',
              'own_between_us', 'own_between_low_us', 'own_between_high_us', 'peer_between_us', 'peer_between_low_us',
              'peer_between_high_us', 'foreign_us')
    lines = ['# {device}, driver {driver}, commit {commit}, {date}; {rounds} rounds of slices of {slice_ms:g} ms'.format(**head),
             '# ' + head['command'], ','.join(('family', 'shape', *fields))]
    for row in rows:
        cells = [f'{row[field]:.3f}' if isinstance(row[field], float) else str(row[field]) for field in fields]
        lines.append(f'{family},"{row["shape"]}",' + ','.join(cells))
    return '\n'.join(lines) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('set', type=pathlib.Path)
    parser.add_argument('--library', help='libtilewright.so; without it, the one that the package finds')
    parser.add_argument('--fa3', type=pathlib.Path, help='a shared library with tw_peer_attention, one more peer of attention')
    parser.add_argument('--between', action='store_true')
    parser.add_argument('--prepare', action='store_true', help='only compile what torch makes of the shapes, into its cache')
    parser.add_argument('--slice', type=float, default=20)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=1e9, help='no shape is begun later; those left out are named')
    parser.add_argument('--commit', help='what the report says in place of what the repository answers')
    parser.add_argument('--csv', type=pathlib.Path)
    parser.add_argument('--json', type=pathlib.Path)
    options = parser.parse_args()
    given = json.loads(options.set.read_text())
    if options.library:
        os.environ['TILEWRIGHT_LIBRARY'] = options.library
    function = None
    if options.fa3:
        try:
            function = function_of(options.fa3)
        except (OSError, ValueError) as error:
            print(f'beside_torch.py: --fa3: {error}', file=sys.stderr)
            sys.exit(2)
    import torch
    torch.manual_seed(1)
    gc.freeze()  # torch may collect before each capture, and finds little then
    first = given['shapes'][0]
    family = 'streams' if 'family' in first else 'grouped' if 'groups' in first else 'attention'
    if options.prepare:
        return prepare(torch, given['shapes'])
    head, rows, failed, left_out = head_of(torch, options), [], [], []
    marker = torch.zeros(1, device='cuda')
    foreign = lambda *_: marker.fill_(1)
    foreign_us = 0.0
    if options.between:
        alone = Slice(torch, foreign, 1, options.slice)
        foreign_us = statistics.median(alone.time() for _ in range(options.rounds))
    begin = time.monotonic()
    for shape in given['shapes']:
        shape = attention_shape(shape) if family == 'attention' else shape
        words = words_of(shape)
        if time.monotonic() - begin > options.seconds:
            left_out.append(words)
            continue
        try:
            row = measure(torch, problem_of(torch, shape, function), options, foreign)
        except Exception as error:  # one shape that fails is said, and does not end the run
            failed.append(f'{words}: {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ""}')
            print(f'{words}: not computed, or wrong: {failed[-1]}', flush=True)
            torch.cuda.empty_cache()
            continue
        row |= {'shape': words, 'foreign_us': foreign_us} | (
            {'kind': shape['family'] if family == 'streams' else kind_of(shape)} if family != 'grouped' else {'m': shape['rows']})
        rows.append(row)
        torch.cuda.empty_cache()
        ratios = [f'{times[0] / times[1]:.3f}' for column in columns.COLUMNS if (times := columns.times_of(row, column))]
        print(f"{words}: {row['own']} {row['own_us']:.2f} us, {row['peer'] or 'no peer'} {row['peer_us']:.2f} us, ratios "
              f"{', '.join(ratios)}; {time.monotonic() - begin:.0f} s, {len(rows)} of {len(given['shapes'])}", flush=True)
        classes = columns.classes_of(rows)
        if options.csv:
            options.csv.write_text(csv_of(head, family, rows))
        if options.json:
            summary = {'foreign_us': foreign_us, 'failed': failed, 'left_out': left_out, 'shapes': len(rows)}
            options.json.write_text(json.dumps({**head, 'family': family, 'summary': summary, 'classes': classes, 'results': rows},
                                               indent=1) + '\n')
    if options.json and rows:
        report = json.loads(options.json.read_text())
        report['summary'] |= {'failed': failed, 'left_out': left_out}
        options.json.write_text(json.dumps(report, indent=1) + '\n')
    print('\n' + columns.text_of(columns.classes_of(rows)))
    print(f'{len(rows)} of {len(given["shapes"])} shapes measured; the foreign kernel takes {foreign_us:.2f} us.')
    for words in failed:
        print(f'Not computed, or wrong: {words}')
    if left_out:
        print(f'No time was left for {len(left_out)} shapes: {"; ".join(left_out)}.')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
