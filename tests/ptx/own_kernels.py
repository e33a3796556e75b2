"""The reader takes what nvcc makes of what no kernel of ours uses.

usage: own_kernels.py FORMS_PROGRAM CHECKOUT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Calls, tables, initialisers, local memory and atomics, with debug information of both kinds.
PLAIN = r'''
__constant__ int table[4][3] = {{1, 2, 3}, {4, 5}, {7}};
__device__ int counter = 5;
__device__ int* pointer = &counter;
__device__ double doubles[] = {1.5, -2.5e-7};
struct Pair { char a; int b; double c; };
__noinline__ __device__ float scaled(float x, Pair pair) { return x * pair.b + table[pair.a][1]; }
__device__ float (*functions[2])(float, Pair) = {scaled, scaled};
__global__ void __launch_bounds__(128, 2) __cluster_dims__(2, 1, 1) plain(float* p, int n, Pair pair) {
  extern __shared__ float dynamic[];
  __shared__ int own[16];
  own[threadIdx.x % 16] = n;
  __syncthreads();
  float local[20];
  for (int i = 0; i < 20; ++i) local[i] = i * n;
  switch (n) {
    case 0: p[1] = 2; break;
    case 1: p[3] = 5; break;
    case 2: p[7] = 1; break;
    case 3: p[9] = 7; break;
    case 4: p[2] = 6; break;
  }
  p[0] = scaled(p[n], pair) + own[3] + local[n] + functions[n](p[3], pair) + dynamic[n] + *pointer + doubles[n];
  atomicAdd(&counter, 1);
  p[threadIdx.x] += __shfl_xor_sync(0xffffffffu, n, 3) + __ballot_sync(0xffffffffu, n);
  asm volatile("{ .reg .v4 .f32 v; mov.f32 v.x, %0; mov.f32 %0, v.x; }" : "+f"(p[8]));
}
'''


def main():
    forms_program, checkout = sys.argv[1:]
    nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
    if nvcc is None:
        print('Skipped: there is no nvcc that makes PTX.')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        def read(name, text, *options):
            source, made = pathlib.Path(folder) / f'{name}.cu', pathlib.Path(folder) / f'{name}.ptx'
            source.write_text(text)
            subprocess.run([nvcc, '-ptx', '-std=c++20', '--expt-relaxed-constexpr', *options, '-I', f'{checkout}/include',
                            str(source), '-o', str(made)], check=True)
            answer = subprocess.run([forms_program, str(made)], capture_output=True, text=True)
            if answer.returncode != 0:
                sys.exit(f'{name}: {answer.stderr}')
            lines = answer.stdout.splitlines()
            print(f'{name}: {lines[0]}')
            return {line.split()[1] for line in lines[1:lines.index('')]}

        for option in '-G', '-lineinfo':
            forms = read(f'plain{option}', PLAIN, '-arch=sm_90a', option)
            if not {'brx.idx', 'bra'} & forms or not any(form.startswith('call') for form in forms):
                sys.exit('The plain kernel calls nothing.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
