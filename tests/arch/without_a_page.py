"""A target can be taken away: without arch/sm100.h and the mechanisms that only it binds, the kernels
of the other pages still compile; so do those of one vendor without the other's. And the test can fail: without what a page binds, its kernel does not.

usage: without_a_page.py --include FOLDER COMPILER
"""
import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('--include', type=pathlib.Path, required=True)
parser.add_argument('compiler')
arguments = parser.parse_args()

INSTANCE = pathlib.Path(__file__).parent / 'instance.cpp'
BLACKWELL = ['arch/sm100.h', 'op/tcgen05.h', 'pipeline/tensor_accumulators.h', 'accumulator/tensor.h']
CDNA = ['arch/gfx942.h', 'arch/gfx950.h', 'op/mfma.h', 'op/mfma_operands.h', 'op/mfma_halves.h', 'io/lds_halves.h', 'accumulator/wave.h', 'io/vector_copy.h', 'isa/amdgcn/mfma.h',
        'io/lds_loader.h', 'isa/amdgcn/wave_memory.h', 'kernel/ping_pong.h', 'pipeline/wave_counter.h',
        'pipeline/wave_steps.h', 'schedule/xcd_order.h']
# All of NVIDIA's mechanisms that the portable page of another vendor could have been bound to.
NVIDIA = BLACKWELL + ['arch/sm80.h', 'arch/sm90.h', 'op/wgmma.h', 'op/mma_sync.h', 'io/tma_loader.h', 'io/async_copy.h',
                      'pipeline/mbarrier.h', 'pipeline/turns.h', 'pipeline/exchange.h', 'pipeline/staging.h',
                      'epilogue/staged_store.h', 'epilogue/source.h', 'epilogue/source_supply.h',
                      'schedule/cluster_reduction.h', 'schedule/dynamic.h', 'isa/ptx/tma.h', 'isa/ptx/cp_async.h']
# What is deleted, which page is compiled for which target, and whether it must compile.
CASES = [
    (BLACKWELL, 'sm80', 'Sm80', True),
    (BLACKWELL, 'sm90', 'Sm90', True),
    (BLACKWELL, 'sm100', 'Sm100', False),
    (['op/wgmma.h'], 'sm90', 'Sm90', False),
    (CDNA, 'sm80', 'Sm80', True),
    (NVIDIA, 'gfx950', 'Gfx950', True),
    (['op/mfma.h'], 'gfx950', 'Gfx950', False),
]


def complaint(case):
    deleted, page, arch, must_compile = case
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder) / 'include'
        shutil.copytree(arguments.include, include)
        for name in deleted:
            (include / 'tilewright' / name).unlink()
        run = subprocess.run(
            [arguments.compiler, '-std=c++20', '-fsyntax-only', '-I', include,
             f'-DPAGE="tilewright/arch/{page}.h"', f'-DARCH={arch}', INSTANCE],
            capture_output=True, text=True)
    if (run.returncode == 0) == must_compile:
        return None
    wanted = 'does not compile' if must_compile else 'compiles all the same'
    return f'{arch} without {", ".join(deleted)} {wanted}:\n{run.stderr[:1500]}'


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    complaints = [text for text in pool.map(complaint, CASES) if text]
print('\n'.join(complaints) or f'{len(CASES)} kernels compile, or do not, as they should.')
sys.exit(1 if complaints else 0)
