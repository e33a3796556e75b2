"""Bugs planted in kernels that Triton compiled: each line of planted.txt names a kernel, a change at a line of its PTX, and findings, of
which the virtual GPU must report one.

usage: planted.py [--update [CHANGE...]]   (--update: writes the lines of all changes, or of these, anew where something is found)
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
try:
    import numpy
except ImportError:
    print('numpy is not installed.')
    sys.exit(77)

import cases
from tilewright.triton import Compiled

FOLDER = pathlib.Path(__file__).parent
FACTS = json.loads((FOLDER / 'ptx/launches.json').read_text())
TABLE = FOLDER / 'planted.txt'

# What may go wrong, as a change of one line: the name, what the line looks like, and what stands there then.
CHANGES = [
    ('no barrier', r'bar\.sync \d+(, \d+)?;', ''),
    ('another barrier', r'bar\.sync (\d+), (\d+);', r'bar.sync 9, \2;'),
    ('too many threads', r'bar\.sync (\d+), 64;', r'bar.sync \1, 96;'),
    ('no wait', r'mbarrier\.try_wait\.parity\S+ complete, \[\S+\], \S+;', 'setp.eq.u32 complete, 0, 0;'),
    ('the other phase', r'(mbarrier\.try_wait\.parity\S+ complete, \[\S+\]), \S+;', r'\1, 1;'),
    ('half of the bytes', r'(@\S+ mbarrier\.arrive\.expect_tx\S+ _, \[\S+\]), 16384;', r'\1, 8192;'),
    ('too many bytes', r'(@\S+ mbarrier\.arrive\.expect_tx\S+ _, \[\S+\]), 16384;', r'\1, 16400;'),
    ('no arrival', r'(@\S+ )?mbarrier\.arrive\.shared\S+ _, \[\S+\];', ''),
    ('no expected bytes', r'(@\S+ )?mbarrier\.arrive\.expect_tx\S+ _, \[\S+\], \d+;', ''),
    ('too many arrivals', r'(@\S+ mbarrier\.init\S+ \[\S+\]), 1;', r'\1, 2;'),
    ('no init', r'@\S+ mbarrier\.init\S+ \[\S+\], 1;', ''),
    ('no copy', r'@\S+ cp\.async\.bulk\.tensor\.2d\.shared\S+ .*;', ''),
    ('no proxy fence', r'fence\.proxy\.async\.shared::cta;', ''),
    ('no wait for stores', r'cp\.async\.bulk\.wait_group(\.read)? 0;', ''),
    ('no commit of stores', r'cp\.async\.bulk\.commit_group;', ''),
    ('waits for too few copies', r'cp\.async\.wait_group (\d);', 'cp.async.wait_group 6;'),
    ('no commit of copies', r'cp\.async\.commit_group;', ''),
    ('no fence of products', r'wgmma\.fence\.sync\.aligned;', ''),
    ('no commit of products', r'wgmma\.commit_group\.sync\.aligned;', ''),
    ('waits for too few products', r'wgmma\.wait_group\.sync\.aligned \d;', 'wgmma.wait_group.sync.aligned 7;'),
    ('no commit of tensor products', r'(@\S+ )?tcgen05\.commit\S+ \[\S+\];', ''),
    ('no wait for tensor stores', r'tcgen05\.wait::st\.sync\.aligned;', ''),
    ('nothing is freed', r'@\S+ tcgen05\.dealloc\S+ .*;', ''),
    ('too few columns', r'(@\S+ tcgen05\.alloc\S+ \[\S+\]), (64|128|256);', r'\1, 32;'),
    ('no mask', r'@%p\d+ (st\.global\S+ .*;)', r'\1'),
    ('no mask of loads', r'@%p\d+ (ld\.global\S+ .*;)', r'\1'),
]
KERNELS = ['matmul_sm90', 'matmul_sm100', 'matmul_tma_sm90', 'matmul_tma_sm100', 'matmul_persistent_sm90', 'matmul_persistent_sm100',
           'matmul_specialised_sm90', 'matmul_specialised_sm100', 'attention_sm90', 'matmul_tma_device_sm90', 'softmax_sm90', 'layer_norm_sm90',
           'scans_sm90', 'sort_rows_sm90', 'transpose_sm90', 'convolution_sm100', 'matmul_scaled_sm100']
MOST_OF_A_KIND = 2  # in one kernel


def run(kernel, text):
    """The names of what the first landing that finds something finds."""
    name, target = kernel.rsplit('_sm', 1)
    case = cases.CASES[name](numpy.random.default_rng(1))
    args = [one for one in case.args if not (isinstance(one, int) and one == 1)]
    compiled = Compiled(text, FACTS[f'{kernel}.ptx'])
    for landing in 'eager', 'random', 'adversarial':
        report = compiled.launch(case.grid, args, landing=landing, raises=False)
        if report.findings:
            break
    return sorted({finding for finding, _ in report.findings})


def texts():
    return {kernel: (FOLDER / f'ptx/{kernel}.ptx').read_text().split('\n') for kernel in KERNELS}


def changed(lines, change, number):
    pattern, into = next((pattern, into) for name, pattern, into in CHANGES if name == change)
    line, count = re.subn(f'^{pattern}$', into, lines[number - 1])
    assert count == 1, f'line {number} is {lines[number - 1]!r}: {change} changes nothing there'
    return '\n'.join([*lines[:number - 1], line, *lines[number:]])


def update(wanted):
    rows = [row for row in TABLE.read_text().splitlines() if wanted and row.split('|')[2].strip() not in wanted]
    for kernel, lines in texts().items():
        for change, pattern, _ in CHANGES:
            if wanted and change not in wanted:
                continue
            places = [number for number, line in enumerate(lines, 1) if re.fullmatch(pattern, line)]
            for number in places[:MOST_OF_A_KIND]:
                found = run(kernel, changed(lines, change, number))
                row = f'{kernel} | {number} | {change} | {" ".join(found)}'
                print(row, flush=True)
                if found:
                    rows.append(row)
    TABLE.write_text('\n'.join(sorted(rows)) + '\n')


def main():
    if '--update' in sys.argv:
        update(sys.argv[sys.argv.index('--update') + 1:])
        return 0
    known, wrong, rows = texts(), 0, TABLE.read_text().splitlines()
    for row in rows:
        kernel, number, change, expected = (part.strip() for part in row.split('|'))
        found = run(kernel, changed(known[kernel], change, int(number)))
        if not set(found) & set(expected.split()):
            wrong += 1
            print(f'{row}: found {" ".join(found) or "nothing"}')
    kinds = {row.split('|')[2].strip() for row in rows}
    print(f'{len(rows) - wrong} of {len(rows)} planted bugs of {len(kinds)} kinds are found by their names.')
    return 1 if wrong or len(rows) < 100 else 0


sys.exit(main())
