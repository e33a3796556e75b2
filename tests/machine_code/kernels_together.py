"""Kernels that tools/compile_kernels.py compiles in one source have the machine code that nvcc gives each alone; a function and a table that one of them has
come with it, and one that loses speed, or is not there, is refused.

usage: kernels_together.py --nvcc NVCC --tools FOLDER
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools'))
import compile_kernels  # noqa: E402
import cubin  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument('--nvcc')
parser.add_argument('--tools', type=pathlib.Path)
request = parser.parse_args()

HEAD = '''#pragma once
template <class Kernel>
__global__ void entry(float* values, int at) { values[threadIdx.x] = Kernel::value(values, at); }
__constant__ float table[4] = {1, 2, 3, 5};
__device__ __noinline__ float apart(float* values, int at) {
  float sum = 0;
  for (int i = 0; i < at; ++i) sum += values[i] * values[i];
  return sum;
}
'''
BODIES = {
    'plain': 'float sum = 1; for (int i = 0; i < at; ++i) sum = sum * values[i] + 1; return sum;',
    'calling': 'return apart(values, at) + apart(values + 1, at);',
    'plain_table': 'float sum = 0; for (int i = 0; i < at; ++i) sum += table[i & 3] * values[i]; return sum;',
    'local': 'float own[64]; for (int i = 0; i < 64; ++i) own[i] = values[i]; own[at] = 1; return own[at * 7 % 64] + own[at + 1];',
}


def compile_together(folder, names, kernels):
    source = folder / 'together.cu'
    source.write_text(''.join(f'#include "{name}.cu"\n' for name in names))
    return subprocess.run([sys.executable, ROOT / 'tools/compile_kernels.py', request.nvcc, request.tools, folder, source, '--for', '80', '90a',
                           '--ptx', '80', '--kernels', *kernels], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    (folder / 'head.h').write_text(HEAD)
    for name, body in BODIES.items():
        (folder / f'{name}.cu').write_text(f'#include "head.h"\nstruct {name} {{ static __device__ float value(float* values, int at) {{ {body} }} }};\n'
                                           f'template __global__ void entry<{name}>(float*, int);\n')
    names = ['plain', 'calling', 'plain_table']
    done = compile_together(folder, names, names)
    assert done.returncode == 0, done.stderr
    for name in names:
        together = dict(cubin.images((folder / f'{name}.fatbin').read_bytes()))
        assert sorted(together) == [80, 90], f'{name} has images for {sorted(together)}'
        subprocess.run([request.nvcc, '-fatbin', '-std=c++20', '--expt-relaxed-constexpr', '-gencode', 'arch=compute_80,code=sm_80', '-gencode',
                        'arch=compute_90a,code=sm_90a', f'-I{folder}', '-o', folder / 'alone.fatbin', folder / f'{name}.cu'], check=True)
        for architecture, image in cubin.images((folder / 'alone.fatbin').read_bytes()):
            code = {section: data for section, data in cubin.sections(image) if section.startswith('.text')}
            found = {section: data for section, data in cubin.sections(together[architecture]) if section.startswith('.text')}
            assert code and found == code, f'{name} has other machine code for sm_{architecture} than alone'
    included = (folder / 'together.d').read_text()
    assert included.startswith(f'{folder}/plain.fatbin: ') and all(f'/{name}' in included for name in ('head.h', 'plain_table.cu')), included

    done = compile_together(folder, ['plain', 'local'], ['plain', 'local'])
    assert done.returncode == 1 and 'bytes stack frame' in done.stderr, done.stderr
    done = compile_together(folder, ['plain'], ['plain', 'calling'])
    assert done.returncode == 1 and 'has 0 kernels of calling, but must have 1' in done.stderr, done.stderr

# What ptxas never sees of another kernel: its own labels begin at 0, and tables of others stay away.
text = '\n'.join(['.version 9.0', '.target sm_80', '', '\t// .globl\tfirst', '.const .align 4 .b8 numbers[16] = {1, 2};', '', '.visible .entry first(', ')', '{',
                  '$L__BB0_1:', '\tbra $L__BB0_1;', '}', '\t// .globl\tsecond', '.visible .entry second(', ')', '{', '\tmov.u64 %rd1, numbers;',
                  '$L__BB1_1:', '\tbra $L__BB1_1;', '}', ''])
modules = dict(compile_kernels.kernels(text))
assert list(modules) == ['first', 'second']
assert 'numbers' not in modules['first'] and 'second' not in modules['first'] and modules['first'].startswith('.version 9.0\n.target sm_80\n')
assert 'numbers[16]' in modules['second'] and 'BB1' not in modules['second'] and modules['second'].count('$L__BB0_1') == 2
print(f'{len(names)} kernels are what they are alone.')
