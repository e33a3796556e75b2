"""Kernels that Triton compiled for Hopper and Blackwell run on the virtual GPU: without a finding, and with the right results. Triton is
not needed.

usage: run.py [--time] [NAME...]   (TILEWRIGHT_PTX_LIBRARY is the library; only these cases)
"""
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
try:
    import numpy
except ImportError:
    print('numpy is not installed.')
    sys.exit(77)

import cases
from tilewright import from_bf16
from tilewright.ptx import In
from tilewright.triton import Compiled, Descriptor

FOLDER = pathlib.Path(__file__).parent / 'ptx'
FACTS = json.loads((FOLDER / 'launches.json').read_text())
SEED = 1


def written(case):
    for argument in case.args:
        array = argument.array if isinstance(argument, Descriptor) else argument
        if isinstance(array, In) and array.flow == 'in':
            continue
        array = array.array if isinstance(array, In) else array
        if isinstance(array, numpy.ndarray):
            yield array


def numbers(array):
    kind = getattr(array, 'type', None)
    return from_bf16(array).astype('f8') if kind == 'bf16' else cases.E4M3_VALUES[array] if kind == 'e4m3' else array.astype('f8')


def wrong(case):
    """A sentence about the first result that differs, or nothing."""
    for place, (array, wanted) in enumerate(zip(written(case), case.wanted, strict=True)):
        if isinstance(wanted, tuple):
            wanted, bound = wanted
            off = ~(numpy.abs(numbers(array) - wanted) <= bound)
        else:
            off = numpy.asarray(array).view(numpy.ndarray) != numpy.asarray(wanted).view(numpy.ndarray)
        if off.any():
            at = tuple(int(i) for i in numpy.argwhere(off)[0])
            return f'result {place} at {at} is {numbers(array)[at]}, and not {numbers(wanted)[at]}: {off.sum()} of {off.size} differ'
    return ''


def main():
    words = [word for word in sys.argv[1:] if not word.startswith('--')]
    failed, runs, steps = [], 0, 0
    for name in words or cases.CASES:
        for target in (90, 100):
            file = f'{name}_sm{target}.ptx'
            case = cases.CASES[name](numpy.random.default_rng(SEED))
            if target not in case.targets:
                continue
            begun = time.process_time()
            args = [one for one in case.args if not (isinstance(one, int) and one == 1)]
            report = Compiled((FOLDER / file).read_text(), FACTS[file]).launch(case.grid, args, schedules=case.schedules, raises=False)
            names = {name for name, _ in report.findings}
            if case.finding:
                complaint = '' if case.finding in names else f'{case.finding} is not found: {report}'
            else:
                complaint = str(report) if report.verdict != 'clean' else wrong(case)
            runs, steps = runs + report.schedules, steps + report.steps
            if '--time' in sys.argv:
                print(f'{file}: {time.process_time() - begun:.2f} s, {report.steps} steps')
            if complaint:
                failed.append(file)
                print(f'{file}: {complaint}')
    print(f'{len(failed)} of {runs} runs of {len(words or cases.CASES)} kernels failed: {" ".join(failed)}' if failed else
          f'{runs} runs of {len(words or cases.CASES)} kernels are as they must be; data of seed {SEED}.')
    return 1 if failed else 0


sys.exit(main())
