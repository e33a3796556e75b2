"""Compiles device code for an AMD target and counts the matrix instructions in its assembly.

usage: instructions.py --clang CLANG --include FOLDER --target gfx942|gfx950 SOURCE
"""
import argparse
import collections
import re
import subprocess
import sys

# What every target has, and what gfx950 alone has.
COMMON = ['f32_16x16x16_bf16', 'f32_32x32x8_bf16', 'f32_16x16x16_f16', 'f32_32x32x8_f16',
          'i32_16x16x32_i8', 'i32_32x32x16_i8'] + [
              f'f32_{shape}_{a}_{b}' for shape in ('16x16x32', '32x32x16')
              for a in ('fp8', 'bf8') for b in ('fp8', 'bf8')]
OWN = {'gfx942': [],
       'gfx950': ['f32_16x16x32_bf16', 'f32_32x32x16_bf16', 'f32_16x16x32_f16', 'f32_32x32x16_f16'] +
                 4 * ['f32_16x16x128_f8f6f4'] + 4 * ['scale_f32_16x16x128_f8f6f4']}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--clang', required=True)
    parser.add_argument('--include', required=True)
    parser.add_argument('--target', required=True, choices=OWN)
    parser.add_argument('source')
    arguments = parser.parse_args()
    compiled = subprocess.run(
        [arguments.clang, '-x', 'hip', '-std=c++20', '-O3', f'--offload-arch={arguments.target}',
         '--cuda-device-only', '-nogpuinc', '-nogpulib', '-Wall', '-Wextra', '-Werror',
         f'-I{arguments.include}', '-S', arguments.source, '-o', '-'],
        stdout=subprocess.PIPE, text=True)
    if compiled.returncode != 0:
        return 1
    found = collections.Counter(re.findall(r'^\s+v_mfma_(\w+)', compiled.stdout, re.M))
    expected = collections.Counter(COMMON + OWN[arguments.target])
    if found != expected:
        print(f'Missing: {dict(expected - found)}. Not expected: {dict(found - expected)}.')
        return 1
    print(f'{len(expected)} products of {arguments.target}, each one instruction.')
    return 0


sys.exit(main())
