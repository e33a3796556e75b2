"""Hostile calls of the Python package.

    hostile.py --library LIBRARY [--calls N] [--seed S]            stand-ins: libhostile_python.so, under the sanitizers
    hostile.py --library LIBRARY --execute [--calls N] [--seed S]  libtilewright.so: calls run on the virtual GPU and are compared
    hostile.py --library LIBRARY --seed S --case I                 one case, with all that is given and said

A case is a call of any function with 0 to 4 arguments spoilt. It may return, or raise a tilewright.Error; a TypeError is Python's own
where names of arguments are wrong. With stand-ins all memory that a problem names is touched: what is not the caller's shows. Where
calls are executed, what returns is compared with a reference of numpy, made from the arguments as they were.
"""
import argparse
import collections
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHUNK = 10000  # calls of one process: a crash costs no more
MOST_CRASHES = 5
SLOW = 20.0  # seconds of one call


def requested():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', required=True)
    parser.add_argument('--calls', type=int)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--case', type=int)
    parser.add_argument('--execute', action='store_true')
    parser.add_argument('--first', type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument('--place', help=argparse.SUPPRESS)
    return parser.parse_args()


def environment(request):
    """Of processes that make calls: a sanitizer's library must be loaded first, and Python must ask malloc for each object."""
    variables = {**os.environ, 'TILEWRIGHT_LIBRARY': request.library, 'PYTHONPATH': f'{ROOT / "python"}{os.pathsep}{pathlib.Path(__file__).parent}',
                 'PYTHONDONTWRITEBYTECODE': '1', 'OPENBLAS_NUM_THREADS': '1'}
    if request.execute:
        return variables
    needed = subprocess.run(['ldd', request.library], capture_output=True, text=True, check=True).stdout
    # The sanitizer looks for the functions of exceptions when it starts.
    first = [re.search(rf'=> (\S*{name}\S*)', needed) for name in ('libasan', r'libstdc\+\+')]
    if None in first:
        sys.exit(f'hostile: {request.library} is not built with the address sanitizer')
    return {**variables, 'LD_PRELOAD': ' '.join(found.group(1) for found in first), 'PYTHONMALLOC': 'malloc',
            'ASAN_OPTIONS': 'malloc_context_size=1:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048:quarantine_size_mb=16',
            'UBSAN_OPTIONS': 'print_stacktrace=1'}


def run_all(request):
    """Chunks of calls, each in a process of its own, which says in a file which case it is at."""
    counts, failures, crashes, first = collections.Counter(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, 'place')
        while first < request.calls:
            calls = min(CHUNK, request.calls - first)
            place.write_bytes(bytes(8))
            command = [sys.executable, __file__, '--library', request.library, '--seed', str(request.seed), '--calls', str(calls), '--first',
                       str(first), '--place', str(place)] + ['--execute'] * request.execute
            done = subprocess.run(command, env=environment(request), capture_output=True, text=True, errors='replace')
            for line in done.stdout.splitlines():
                if found := re.fullmatch(r'(.+): (\d+)', line):
                    counts[found.group(1)] += int(found.group(2))
                else:
                    print(line, flush=True)
            failures += done.stdout.count('FAILURE')
            case, = struct.unpack('<q', place.read_bytes())
            first += calls
            if done.returncode != 0:
                failures += 1
                print(f'FAILURE: case {case} ended the process ({done.returncode}).\n{done.stderr[-4000:]}', flush=True)
                first = case + 1
                crashes += 1
            if crashes > MOST_CRASHES:
                sys.exit(f'hostile: {crashes} processes have ended; no more are begun')
            if first < request.calls:
                print(f'... {first} of {request.calls} calls, {failures} failures', flush=True)
    print(f'seed {request.seed}, {request.calls} calls: {failures} failures; ' + ', '.join(f'{count} {what}' for what, count in counts.most_common()))
    return 1 if failures else 0


class Cases:
    def __init__(self, request):
        import tilewright
        self.tilewright, self.request, self.counts = tilewright, request, collections.Counter()
        self.verbose, self.calls = request.case is not None, None
        if not request.execute:
            self._touch_in_the_place_of_kernels()

    def _touch_in_the_place_of_kernels(self):
        library = self.tilewright.library()
        simulate, touch = library.tw_simulate, library.tw_touch
        touch.restype, touch.argtypes = simulate.restype, [simulate.argtypes[0]]

        def touched(problem, options):
            simulate(problem, options)  # which finds no virtual GPU, after all checks
            status = library.tw_supported(problem, options)
            if status == 0 and self.calls.arrays.wild:  # a kernel would read it, and what follows the kernel, too
                raise self.tilewright.Unsupported('No memory stands behind an array.')
            return status if status != 0 else touch(problem)

        library.tw_simulate = touched

    def run(self, index):
        draw = random.Random(f'{self.request.seed}:{index}')
        from hostile_calls import Calls
        self.calls = Calls(draw, ('sm80', 'sm80', 'sm80', 'sm90a', None) if self.request.execute else ('sm80', 'sm90a', 'sm100a', None))
        name, function, arguments = self.calls.any()
        spoils = draw.choice((0, 1, 1, 1, 2, 2, 3, 4)) if not self.request.execute else draw.choice((0, 0, 0, 0, 0, 1, 1, 2))
        for _ in range(spoils):
            self.calls.spoil(arguments)
        # numpy reads what it is given, and so does a kernel.
        if self.calls.arrays.wild and (self.request.execute or name == 'numbers'):
            return
        if self.verbose:
            from hostile_values import told
            print(f'{name}({", ".join(f"{key}={told(value)}" for key, value in arguments.items())})')
        self._call(index, name, function, arguments)

    def _call(self, index, name, function, arguments):
        started, meaning = time.monotonic(), None
        if self.request.execute:
            from hostile_values import Reference
            meaning = Reference.of(name, arguments)
        try:
            made = function(**arguments)
        except self.tilewright.Error as error:
            self._refused(index, name, error)
        except TypeError as error:
            # Python itself refuses: no line of the function was executed.
            if error.__traceback__.tb_next is None:
                self.counts["refused by Python's rules"] += 1
            else:
                self.complain(index, name, error)
        except Exception as error:
            self.complain(index, name, error)
        else:
            self.counts['returned'] += 1
            if self.verbose:
                print('it returned')
            if self.request.execute:
                self.counts[f'compared {name}' if meaning is not None else f'returned, but without a reference, {name}'] += 1
            if meaning is not None:
                wrong = meaning.wrong(made)
                if wrong:
                    print(f'FAILURE in case {index}: {name} returned what is wrong: {wrong}', flush=True)
        if time.monotonic() - started > SLOW:
            print(f'slow: case {index} of {name} took {time.monotonic() - started:.0f} s', flush=True)

    def _refused(self, index, name, error):
        kind = type(error).__name__
        self.counts[f'raised {kind}'] += 1
        if self.verbose:
            print(f'{kind}: {error}')
        if isinstance(error, self.tilewright.Found) or not str(error):
            print(f'FAILURE in case {index}: {name}: {kind}: {str(error)[:300]}', flush=True)

    def complain(self, index, name, error):
        import traceback
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(f'FAILURE in case {index}: {name} raised {type(error).__name__}: {str(error)[:200]} '
              f'({pathlib.Path(where.filename).name}, line {where.lineno})', flush=True)


def run_here(request):
    cases = Cases(request)
    if request.case is not None:
        cases.run(request.case)
        return
    with open(request.place, 'r+b') as file, mmap.mmap(file.fileno(), 8) as place:
        for index in range(request.first, request.first + request.calls):
            place[:] = struct.pack('<q', index)
            cases.run(index)
    for what, count in cases.counts.items():
        print(f'{what}: {count}')


def main():
    request = requested()
    sys.path.insert(0, str(ROOT / 'python' / 'tests'))
    import support
    support.need('numpy')
    if request.calls is None:
        request.calls = 300 if request.execute else 20000
    if request.place is None and request.case is None:
        return run_all(request)
    if request.place is None and 'HOSTILE_CASE' not in os.environ:
        return subprocess.run([sys.executable, *sys.argv], env={**environment(request), 'HOSTILE_CASE': '1'}).returncode
    run_here(request)
    return 0


if __name__ == '__main__':
    sys.exit(main())
