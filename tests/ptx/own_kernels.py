"""The reader takes what nvcc makes of kernels of every mechanism, and of what they do not use.

usage: own_kernels.py FORMS_PROGRAM CHECKOUT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Instances of each target, and forms that their text must have.
KERNELS = [
    ('sm_80', 'sm80', 'rms_norm', 'Streaming<RmsNorm<Sm80, named>>', 'RmsNormConfig', '',
     ['shfl.sync.idx.b32', 'sqrt.rn.f32', 'barrier.sync.aligned', 'st.global.v4.u32']),
    ('sm_90a', 'sm90', 'matmul', 'WarpSpecialized<Matmul<Sm90, named>>', 'MatmulConfig',
     '.tiling = {.m = 64, .n = 64}, .multiply_groups = 1',
     ['wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16', 'setmaxnreg.inc.sync.aligned.u32',
      'mbarrier.try_wait.parity.shared::cta.b64', 'cp.async.bulk.commit_group']),
    ('sm_100a', 'sm100', 'matmul', 'WarpSpecialized<Matmul<Sm100, named>>', 'MatmulConfig',
     '.multiply_groups = 1',
     ['tcgen05.mma.cta_group::1.kind::f16', 'tcgen05.ld.sync.aligned.32x32b.x32.b32',
      'tcgen05.wait::ld.sync.aligned']),
]

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


def entry(page, family, kernel, config_type, config):
    return f'''#include "tilewright/arch/{page}.h"
#include "tilewright/family/{family}/kernel.h"
#include "tilewright/kernel/entry.h"
namespace tw {{
struct named {{ static constexpr {config_type} config = {{{config}}}; }};
using Named = kernel::{kernel};
template __global__ void kernel::entry<Named>(const __grid_constant__ Named::Params);
}}
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

        for kernel in KERNELS:
            target, *_, wanted = kernel
            missing = set(wanted) - read(f'{kernel[2]}_{target}', entry(*kernel[1:-1]), f'-arch={target}', '-lineinfo')
            if missing:
                sys.exit(f'{kernel[2]} for {target} has no {", ".join(sorted(missing))}.')
        for option in '-G', '-lineinfo':
            forms = read(f'plain{option}', PLAIN, '-arch=sm_90a', option)
            if not {'brx.idx', 'bra'} & forms or not any(form.startswith('call') for form in forms):
                sys.exit('The plain kernel calls nothing.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
