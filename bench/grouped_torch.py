#!/usr/bin/env python3
"""torch's grouped matmul on the cases of `./tw bench grouped --json FILE`, beside the times in that file.

usage: grouped_torch.py FILE [--rounds 11] [--slice 30] [--json OUT]

Data are standard normal, buffers rotate beyond the L2, launches are replayed as CUDA graphs, times are medians of
rounds. Where the installed tilewright has grouped matmuls, ours runs here as well, interleaved with torch's.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import sys

MASK = (1 << 64) - 1


def sizes_of(groups, rows, seed):
    """As src/families/grouped.h: groups share the rows as squares of random numbers; the first has what is left."""
    weights, state = [], seed
    for _ in range(groups):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        bits = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & MASK
        drawn = (bits ^ bits >> 31) >> 48
        weights.append(drawn * drawn + 1)
    sizes = [rows * weight // sum(weights) for weight in weights]
    sizes[0] += rows - sum(sizes)
    return sizes


def grouped_mm(torch):
    """torch's function, under the name that this torch has for it."""
    functional = getattr(torch.nn.functional, 'grouped_mm', None)
    if functional is not None:
        return lambda a, b, ends: functional(a, b, offs=ends)
    if hasattr(torch, '_grouped_mm'):
        return lambda a, b, ends: torch._grouped_mm(a, b, offs=ends)
    sys.exit(f'torch {torch.__version__} has no grouped matmul.')


def own_grouped():
    """Ours, where the package is installed and has it."""
    try:
        import tilewright
    except ImportError:
        return None
    return getattr(tilewright, 'matmul_grouped', None)


class Buffers:
    """Sets of A, B and the groups' ends; B is stored as (group, n, k) and seen as (group, k, n)."""

    def __init__(self, torch, case):
        shape = (case['groups'], case['n'], case['k'])
        set_bytes = 2 * (case['rows'] * (case['n'] + case['k']) + math.prod(shape))
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        generator = torch.Generator('cuda').manual_seed(case['seed'])
        normal = lambda *size: torch.randn(*size, device='cuda', dtype=torch.bfloat16, generator=generator)
        self.sets = [(normal(case['rows'], case['k']), normal(*shape).transpose(1, 2))
                     for _ in range(max(2, min(64, 3 * l2_bytes // set_bytes + 1)))]
        ends = torch.tensor(case['sizes'], dtype=torch.int32).cumsum(0, dtype=torch.int32)
        self.ends = ends.cuda()


class Slice:
    """A candidate as a graph that lasts about `milliseconds`."""

    def __init__(self, torch, name, launch, buffers, milliseconds):
        self.name, self.torch, self.times = name, torch, []
        launch(*buffers.sets[0], buffers.ends)
        torch.cuda.synchronize()
        self.capture(launch, buffers, 3)
        self.capture(launch, buffers, max(len(buffers.sets), min(2000, int(1e3 * milliseconds / self.time()))))
        self.times.clear()

    def capture(self, launch, buffers, launches):
        self.graph, self.launches = self.torch.cuda.CUDAGraph(), launches
        with self.torch.cuda.graph(self.graph):
            for i in range(launches):
                launch(*buffers.sets[i % len(buffers.sets)], buffers.ends)

    def time(self):
        """Microseconds of a launch: the graph twice, the second timed."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.graph.replay()
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        self.times.append(1e3 * begin.elapsed_time(end) / self.launches)
        return self.times[-1]


def worst_difference(torch, one, other):
    """Of two products of random data, in units of the largest element."""
    return ((one.float() - other.float()).abs().max() / other.float().abs().max()).item()


def measure(torch, case, options):
    """Medians in microseconds by name."""
    buffers = Buffers(torch, case)
    candidates = {'torch': grouped_mm(torch)}
    own = own_grouped()
    if own is not None:
        candidates['tilewright'] = own
        results = [launch(*buffers.sets[0], buffers.ends) for launch in candidates.values()]
        if (difference := worst_difference(torch, *results)) > 0.02:
            sys.exit(f'Results differ by {difference:.3f} of the largest element: {case}')
    slices = [Slice(torch, name, launch, buffers, options.slice) for name, launch in candidates.items()]
    order = random.Random(1)
    for _ in range(options.rounds):
        for one in order.sample(slices, len(slices)):
            one.time()
    return {one.name: statistics.median(one.times) for one in slices}


def main():
    parser = argparse.ArgumentParser(description="torch's grouped matmul beside ours.")
    parser.add_argument('file', type=pathlib.Path, help='what ./tw bench grouped --json wrote')
    parser.add_argument('--rounds', type=int, default=11)
    parser.add_argument('--slice', type=float, default=30, help='milliseconds of a candidate in each round')
    parser.add_argument('--json', type=pathlib.Path, help='also write everything there')
    options = parser.parse_args()
    try:
        cases = [row for row in json.loads(options.file.read_text())['results'] if row['side'] == 'own' and 'groups' in row]
    except (OSError, ValueError, KeyError) as wrong:
        sys.exit(f"The file '{options.file}' has no results of ./tw bench grouped: {wrong}.")
    if not cases:
        sys.exit(f"The file '{options.file}' has no groups: it is of another family.")
    for case in cases:
        case['sizes'] = sizes_of(case['groups'], case['rows'], case['seed'])
    import torch
    ratios = []
    for case in cases:
        case['measured'] = measured = measure(torch, case, options)
        ours = measured.get('tilewright', case.get('us', math.nan))
        ratios.append(measured['torch'] / ours)
        how = 'interleaved' if 'tilewright' in measured else 'of the file'
        print(f"{case['groups']:3} groups {case['rows']:6} x {case['n']:5} x {case['k']:5}: torch {measured['torch']:9.2f} us, "
              f'ours {ours:9.2f} us ({how}), {ratios[-1]:.3f} times as fast', flush=True)
    print(f'geometric mean: {statistics.geometric_mean(ratios):.3f}')
    if options.json:
        options.json.write_text(json.dumps({'torch': torch.__version__, 'cases': cases}, indent=1) + '\n')


if __name__ == '__main__':
    main()
