#!/usr/bin/env python3
"""How long the loop over k of a kernel for an AMD target should take, by its machine code. Nothing is measured.

usage: predict_amdgpu.py CODE_OBJECT TARGET WAVES TILE [--clang CLANG] [--clock GHZ] [--size N] [--least-share PERCENT]
                         [--least-mca PERCENT]

The loop is the one with the products; what it does once in a while stands beside the shortest way round, and is left out. WAVES of a CU run it,
a quarter of them on each SIMD; a turn of it makes one k-tile of a TILE (256x256). Of each pipe the busy cycles are counted: of
a SIMD its products, other vector and scalar instructions, of the CU reads of LDS, loads to LDS (which write 128 bytes a
cycle) and loads (64 bytes a cycle from L1). The longest bounds the turn. llvm-mca, whose cycles are four clocks, tells how
long one wave takes alone, and its products without the rest.
With --size N, the rate of a product of N by N by N is told: whole rounds of tiles over all CUs, each turn of which takes as
long as the longest pipe, or as one wave alone where that is longer. Filling the first stages and storing are left out.
Where PERCENT are given, the products' share of the longest pipe, and of llvm-mca's cycles, must not be less.
"""
import argparse
import collections
import heapq
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import strict_amdgpu  # noqa: E402

CLOCK = {'gfx942': 2.1, 'gfx950': 2.4}  # GHz
UNITS = {'gfx942': 304, 'gfx950': 256}  # CUs of an MI300X, an MI355X


def product_cycles(text):
    """Of v_mfma on its SIMD: 16 by 16 takes 16 cycles, 32 by 32 takes 32; f8f6f4 with an operand of 8 bits twice that."""
    rows = 32 if '32x32' in text else 16
    narrow = re.search(r'cbsz:[234]', text) and re.search(r'blgp:[234]', text)
    return rows * (2 if 'f8f6f4' in text and not narrow else 1)


def loop_of(code, places):
    """Indices of the instructions of a turn of the smallest loop with all products."""
    products = [index for index, (_, text) in enumerate(code) if text.startswith('v_mfma')]
    starts, follows = {0}, {}
    for index, (address, text) in enumerate(code):
        branch = re.match(r's_c?branch\S* (\d+)', text)
        if branch:
            distance = int(branch[1])
            target = places[address + 4 + 4 * (distance - (distance >> 15 << 16))]
            starts |= {target, index + 1}
            follows[index] = {target} | (set() if text.startswith('s_branch') else {index + 1})
        elif text.startswith(('s_endpgm', 's_setpc')):
            starts.add(index + 1)
            follows[index] = set()
    ordered = sorted(start for start in starts if start < len(code))
    blocks = {start: range(start, end) for start, end in zip(ordered, ordered[1:] + [len(code)])}
    after = {start: {at for at in follows.get(block[-1], {block[-1] + 1}) if at in blocks}
             for start, block in blocks.items()}
    before = collections.defaultdict(set)
    for start, targets in after.items():
        for target in targets:
            before[target].add(start)
    first = max(start for start in blocks if start <= products[0])

    def reached(edges):
        seen, todo = set(), [first]
        while todo:
            for target in edges[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        return seen
    # A loop is what reaches itself; without the ways back to where it is entered, the loops inside of it are left.
    whole, innermost = {start: set(targets) for start, targets in after.items()}, set()
    while True:
        loop = reached(after) & reached(before)
        if not all(any(at in blocks[start] for start in loop) for at in products):
            break
        innermost = loop
        for head in [start for start in loop if before[start] - loop]:
            for start in before[head] & loop:
                after[start] = after[start] - {head}
            before[head] = before[head] - loop
    # The shortest way round by all products and loads to LDS: what is done seldom stands beside it.
    stations = {start for start in innermost
                if any(re.match(r'v_mfma|.* lds$', code[at][1]) for at in blocks[start])}
    way, at = [], first
    while stations:
        ways, todo = {}, [(0, at, [])]
        while todo:
            length, start, before_it = heapq.heappop(todo)
            for target in whole[start] & innermost - ways.keys():
                ways[target] = before_it + [target]
                heapq.heappush(todo, (length + len(blocks[target]), target, ways[target]))
        others = stations - {first} or {first}
        at = min(others & ways.keys(), key=lambda station: sum(len(blocks[start]) for start in ways[station]))
        stations -= {at}
        way += ways[at]
    return [index for start in way for index in blocks[start]]


def busy(texts, waves):
    """Cycles of each pipe for one turn of all waves."""
    cycles = collections.Counter()
    for text in texts:
        operation = text.split()[0]
        if operation.startswith('v_mfma'):
            cycles['products'] += product_cycles(text) * waves // 4
        elif operation.startswith('v_'):
            cycles['other vector instructions'] += 4 * waves // 4
        elif operation.startswith('s_'):
            cycles['scalar instructions'] += 1 * waves // 4
        elif operation.startswith('ds_read'):
            cycles['LDS'] += {'b128': 8, 'b64': 4}.get(re.search(r'_b(64|128)|$', operation)[0][1:], 2) * waves
        elif ' lds' in text:
            words = 4 if 'dwordx4' in operation else 1
            cycles['LDS'] += 2 * words * waves
            cycles['loads'] += 4 * words * waves
    return cycles


def tool(clang, name):
    """The path of one of LLVM's tools, as the compiler knows it."""
    return subprocess.run([clang, f'-print-prog-name={name}'], capture_output=True, text=True, check=True).stdout.strip()


def single_wave(texts, target, clang):
    """llvm-mca's cycles of one turn of one wave."""
    given = ['s_nop 0' if text.startswith(('s_cbranch', 's_branch')) else text for text in texts]
    told = subprocess.run([tool(clang, 'llvm-mca'), '-mtriple=amdgcn', f'-mcpu={target}', '-iterations=8'], input='\n'.join(given),
                          capture_output=True, text=True)
    total = re.search(r'Total Cycles:\s+(\d+)', told.stdout)
    if total is None:
        raise SystemExit(told.stderr)
    return int(total[1]) / 8


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('code_object')
    parser.add_argument('target', choices=CLOCK)
    parser.add_argument('waves', type=int)
    parser.add_argument('tile')
    parser.add_argument('--clang', default='clang++-22')
    parser.add_argument('--clock', type=float)
    parser.add_argument('--size', type=int)
    parser.add_argument('--least-share', type=float, default=0)
    parser.add_argument('--least-mca', type=float, default=0)
    options = parser.parse_args()
    listing = subprocess.run([tool(options.clang, 'llvm-objdump'), '-d', options.code_object], capture_output=True, text=True, check=True)
    code, places = strict_amdgpu.instructions(listing.stdout)
    texts = [code[index][1] for index in loop_of(code, places)]
    kinds = collections.Counter(
        'v_mfma' if text.startswith('v_mfma') else 'load to LDS' if ' lds' in text else
        re.match(r'ds_read|s_barrier|s_waitcnt|v_|s_|', text)[0] for text in texts)
    cycles = busy(texts, options.waves)
    longest = max(cycles.values())
    share = 100 * cycles['products'] / longest
    alone = single_wave(texts, options.target, options.clang)
    own = single_wave([text for text in texts if text.startswith('v_mfma')], options.target, options.clang)
    print(', '.join(f'{count} {kind}' for kind, count in kinds.most_common()))
    print(', '.join(f'{name} {count}' for name, count in cycles.most_common()) + ' cycles a turn.')
    print(f'Products are {share:.0f} % of the longest pipe; of one wave alone {100 * own / alone:.0f} % of the {alone:.0f} '
          'cycles that llvm-mca tells.')
    rows, columns = map(int, options.tile.split('x'))
    depth = sum(int(re.search(r'x(\d+)_', text)[1]) * int(re.search(r'_(\d+)x', text)[1]) ** 2
                for text in texts if text.startswith('v_mfma')) * options.waves // (rows * columns)
    clock = options.clock or CLOCK[options.target]
    rate = 2 * rows * columns * depth * UNITS[options.target] * clock / longest / 1000
    print(f'k of a turn: {depth}. If all {UNITS[options.target]} CUs run at {clock} GHz and nothing else holds them: at most '
          f'{rate:.0f} TFLOP/s.')
    if options.size:
        size = options.size
        rounds = -(-(-(-size // rows) * -(-size // columns)) // UNITS[options.target])
        turn = max(longest, 4 * alone)
        seconds = rounds * -(-size // depth) * turn / clock / 1e9
        print(f'{size} by {size} by {size}: {rounds} rounds of tiles, {turn:.0f} clocks a turn: {2 * size ** 3 / seconds / 1e12:.0f} TFLOP/s.')
    return 1 if share < options.least_share or 100 * own / alone < options.least_mca else 0


if __name__ == '__main__':
    sys.exit(main())
