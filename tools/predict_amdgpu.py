#!/usr/bin/env python3
"""How long the loop over k of a kernel for an AMD target should take, by its machine code. Nothing is measured.

usage: predict_amdgpu.py CODE_OBJECT TARGET WAVES TILE [--clang CLANG] [--clock GHZ] [--size N] [--least-share PERCENT]
                         [--least-mca PERCENT]

The loop is the one with the products; what it does once in a while stands beside the shortest way round, and is left out. WAVES of a CU run it,
a quarter of them on each SIMD; a turn of it makes one k-tile of a TILE (256x256). Of each pipe the busy cycles are counted: of
a SIMD its products, other vector and scalar instructions, of the CU reads of LDS (128 bytes a cycle, 256 on gfx950), loads to LDS
(which write 128 bytes a cycle) and loads (64 bytes a cycle from L1). The longest bounds the turn. llvm-mca, whose cycles are four clocks, tells how
long one wave takes alone, and its products without the rest; f8f6f4 with an operand of 8 bits it charges half, which is mended.
Then the waves of a SIMD run side by side: an instruction is issued every four clocks of a wave, products wait for the SIMD's
matrix unit, reads of LDS stand in line with those of all waves of the CU, waits for them wait, and where the loop has barriers two
groups are one barrier apart. Loads are waited for by nobody: their memory is taken for fast enough.
With --size N, the rate of a product of N by N by N is told: whole rounds of tiles over all CUs, each turn of which takes as
long as the longest pipe, or as the waves side by side where that is longer. Filling the first stages and storing are left out.
Where PERCENT are given, the products' share of the turn with all waves side by side, and of llvm-mca's cycles, must not be less.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import strict_amdgpu  # noqa: E402

CLOCK = {'gfx942': 2.1, 'gfx950': 2.4}  # GHz
UNITS = {'gfx942': 304, 'gfx950': 256}  # CUs of an MI300X, an MI355X
# Bytes that LDS gives in a cycle: 32 and 64 banks of 4 bytes (HIP's documentation of the hardware, ROCm/rocm-systems 3114).
LDS_BYTES = {'gfx942': 128, 'gfx950': 256}


def product_cycles(text):
    """Of v_mfma on its SIMD: 16 by 16 takes 16 cycles, 32 by 32 takes 32; f8f6f4 with an operand of 8 bits twice that."""
    rows = 32 if '32x32' in text else 16
    narrow = re.search(r'cbsz:[234]', text) and re.search(r'blgp:[234]', text)
    return rows * (2 if 'f8f6f4' in text and not narrow else 1)


def busy(texts, waves, target):
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
            width = re.match(r'ds_read(2?)\w*?_b(\d+)', operation)
            read_bytes = 8 * int(width[2]) * (2 if width[1] else 1) if width else 256
            cycles['LDS'] += read_bytes * waves // LDS_BYTES[target]
        elif ' lds' in text:
            words = 4 if 'dwordx4' in operation else 1
            cycles['LDS'] += 2 * words * waves
            cycles['loads'] += 4 * words * waves
    return cycles


LATENCY = 64  # clocks from the last byte's turn in LDS to the wave


def lds_clocks(text, waves, target):
    """What one instruction of each of `waves` waves takes of the CU's LDS."""
    return busy([text], waves, target)['LDS']


def side_by_side(texts, waves, target):
    """Clocks of a turn when all waves of a CU run: those of one SIMD, with the LDS of all of them."""
    groups = 2 if any(text.startswith('s_barrier') for text in texts) else 1
    together = waves // groups  # waves that do the same at the same time
    turns, lds, matrix_free = 8, 0, 0
    clocks, at, reads = [0] * groups, [0] * groups, [[] for _ in range(groups)]
    ends = []

    def run_to_barrier(group):
        """Until the group comes to a barrier, or to its end."""
        nonlocal matrix_free, lds
        now = clocks[group]
        while at[group] < turns * len(texts):
            text = texts[at[group] % len(texts)]
            at[group] += 1
            if group == 0 and at[group] % len(texts) == 0:
                ends.append(now)
            if text.startswith('s_barrier'):
                break
            count = re.search(r'lgkmcnt\((\d+)\)', text) if text.startswith('s_waitcnt') else None
            if text.startswith('v_mfma'):
                now = max(now, matrix_free)
                matrix_free = now + product_cycles(text)
            elif count and len(reads[group]) > int(count[1]):
                now = max(now, reads[group][-1 - int(count[1])] + LATENCY)
            elif text.startswith('ds_read') or ' lds' in text:
                lds = max(lds, now) + lds_clocks(text, together, target)
                if text.startswith('ds_read'):
                    reads[group].append(lds)
            now += 4
        clocks[group] = now
    if groups == 1:
        run_to_barrier(0)
    else:
        # The first group reads before the second begins.
        run_to_barrier(0)
        while at[0] < turns * len(texts):
            clocks[0] = clocks[1] = max(clocks)
            # Who multiplies holds the SIMD first, as its priority says.
            multiplies_first = (0, 1) if texts[at[0] % len(texts)].startswith('s_setprio 1') else (1, 0)
            for group in multiplies_first:
                run_to_barrier(group)
    return (ends[-1] - ends[1]) / (len(ends) - 2)


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
    halved = sum(product_cycles(text) == 32 and '16x16x128' in text for text in texts)
    return int(total[1]) / 8 + 4 * halved


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
    texts = [code[index][1] for index in strict_amdgpu.loop_of(code, places)]
    kinds = collections.Counter(
        'v_mfma' if text.startswith('v_mfma') else 'load to LDS' if ' lds' in text else
        re.match(r'ds_read|s_barrier|s_waitcnt|v_|s_|', text)[0] for text in texts)
    cycles = busy(texts, options.waves, options.target)
    longest = max(cycles.values())
    beside = side_by_side(texts, options.waves, options.target)
    share = 100 * cycles['products'] / max(longest, beside)
    alone = single_wave(texts, options.target, options.clang)
    own = single_wave([text for text in texts if text.startswith('v_mfma')], options.target, options.clang)
    print(', '.join(f'{count} {kind}' for kind, count in kinds.most_common()))
    print(', '.join(f'{name} {count}' for name, count in cycles.most_common()) + ' cycles a turn.')
    print(f'Products are {100 * cycles["products"] / longest:.0f} % of the longest pipe, {share:.0f} % of the {beside:.0f} clocks of all '
          f'waves side by side; of one wave alone {100 * own / alone:.0f} % of the {alone:.0f} cycles that llvm-mca tells.')
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
        turn = max(longest, beside)
        seconds = rounds * -(-size // depth) * turn / clock / 1e9
        print(f'{size} by {size} by {size}: {rounds} rounds of tiles, {turn:.0f} clocks a turn: {2 * size ** 3 / seconds / 1e12:.0f} TFLOP/s.')
    return 1 if share < options.least_share or 100 * own / alone < options.least_mca else 0


if __name__ == '__main__':
    sys.exit(main())
