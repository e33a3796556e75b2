#!/usr/bin/env python3
"""Whatever Held holds is released at its end. usage: held.py NVCC

nvcc 13.0 forgets elements of an array whose class has a [[no_unique_address]] member, where it
writes the destructor itself: stages were never announced, and readers waited for ever, on the GPU
only. So the machine code is asked."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
INCLUDE = HERE.parent.parent / 'include'
TOKENS = 3


def released(nvcc, include, folder):
    output = pathlib.Path(folder) / 'held.ptx'
    subprocess.run([nvcc, '-std=c++20', '--expt-relaxed-constexpr', '-arch=sm_90a', '-ptx', f'-I{include}', '-o', output,
                    HERE / 'held.cu'], check=True)
    return output.read_text().count('// released')


def main():
    nvcc = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        count = released(nvcc, INCLUDE, folder)
        print(f'{count} of {TOKENS} tokens are released.')
        if count != TOKENS:
            sys.exit(1)
        copy = pathlib.Path(folder) / 'include'
        shutil.copytree(INCLUDE, copy)
        ring = copy / 'tilewright/pipeline/ring.h'
        text = ring.read_text()
        planted = re.sub(r'  TW_DEVICE ~Held\(\) {.*?\n  }\n', '', text, flags=re.DOTALL)
        if planted == text:
            sys.exit('Nothing to plant: Held of pipeline/ring.h has changed.')
        ring.write_text(planted)
        count = released(nvcc, copy, folder)
        print(f'Planted, left to the compiler: {count} of {TOKENS}.')
        if count == TOKENS:
            sys.exit('The compiler no longer forgets: Held needs no destructor of its own.')


if __name__ == '__main__':
    main()
