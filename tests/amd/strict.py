"""tools/strict_amdgpu.py takes kernels that need registers only and wait, and refuses scratch memory and missing waits.

usage: strict.py --clang CLANG --tool FILE --folder FOLDER
"""
import argparse
import json
import pathlib
import subprocess
import sys

# An array with an index that only the run knows lies in scratch memory.
KERNEL = '''extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
kernel(float* to, const int* from) {
  float values[COUNT] = {};
  for (int i = 0; i < COUNT; ++i) values[from[i] % COUNT] += i;
  for (int i = 0; i < COUNT; ++i) to[i] = values[i];
}
'''


# A few bytes, which are touched.
SMALL = '''extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
kernel(float* to) {
  volatile float values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = to[i];
  to[0] = values[COUNT - 1];
}
'''
# A load to LDS, a wait unless LOADS_ON, reads of it, and a barrier behind which the next lap loads again.
LOOP = '''extern "C" __attribute__((global, amdgpu_flat_work_group_size(128, 128))) void
kernel(float* to, const float* from, int laps) {
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  auto* const local = (__attribute__((address_space(3))) float*)0;
  const auto resource = __builtin_amdgcn_make_buffer_rsrc(const_cast<float*>(from), 0, 1 << 20, 0x00020000);
  float sum = 0;
  for (int i = 0; i < laps; ++i) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(resource, (__attribute__((address_space(3))) void*)local, 4,
                                             4 * lane, 256 * i, 0, 0);
    asm volatile("" ::: "memory");
    if (!(LEFT_OUT & 1)) __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    asm volatile("" ::: "memory");
    const float value = local[63 - lane];
    asm volatile("" ::: "memory");
    if (!(LEFT_OUT & 2)) __builtin_amdgcn_s_waitcnt(0xc07f);
    __builtin_amdgcn_s_barrier();
    asm volatile("" ::: "memory");
    sum += value;
  }
  __builtin_amdgcn_s_waitcnt(0);
  to[lane] = sum;
}
'''


# Waves that load and read in one phase and multiply in the next. WAIT: 0 to 99 the count before the reads' barrier, 100 none,
# 101 behind it.
TURNS = '''typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef float Float4 __attribute__((ext_vector_type(4)));
#define ORDER asm volatile("" ::: "memory"); __builtin_amdgcn_sched_barrier(0)
extern "C" __attribute__((global, amdgpu_flat_work_group_size(512, 512))) void
kernel(float* to, const float* from, int laps) {
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  auto* const local = (__attribute__((address_space(3))) Half4*)0;
  const auto resource = __builtin_amdgcn_make_buffer_rsrc(const_cast<float*>(from), 0, 1 << 20, 0x00020000);
  Float4 sum = {};
  for (int i = 0; i < laps; ++i) {
    for (int j = 0; j < 2; ++j) {
      __builtin_amdgcn_raw_ptr_buffer_load_lds(resource, (__attribute__((address_space(3))) void*)local, 4,
                                               4 * lane, 256 * (i + j), 0, 0);
    }
    ORDER;
    const Half4 value = local[lane];
    ORDER;
    if (WAIT < 100) __builtin_amdgcn_s_waitcnt(WAIT % 16 | 0x0f70 | WAIT / 16 << 14);
    ORDER;
    __builtin_amdgcn_s_waitcnt(0xc07f);
    __builtin_amdgcn_s_barrier();
    ORDER;
    if (WAIT == 101) __builtin_amdgcn_s_waitcnt(0x0f72);
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(value, value, sum, 0, 0, 0);
    ORDER;
    __builtin_amdgcn_s_barrier();
    ORDER;
  }
  __builtin_amdgcn_s_waitcnt(0);
  *(Float4*)(to + 4 * lane) = sum;
}
'''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--clang', required=True)
    parser.add_argument('--tool', required=True)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    source, output = options.folder / 'kernel.hip', options.folder / 'kernel.hsaco'

    def strict(count, text=KERNEL, macro='COUNT'):
        source.write_text(text)
        output.unlink(missing_ok=True)
        return subprocess.run([sys.executable, options.tool, options.clang, 'gfx942', source, output,
                               f'-D{macro}={count}'], capture_output=True, text=True)

    wrong = []
    good = strict(1)
    uses = json.loads((options.folder / 'kernel.hsaco.json').read_text()) if good.returncode == 0 else {}
    if good.returncode != 0 or not output.exists():
        wrong.append(f'A kernel without scratch memory is refused: {good.stderr}')
    elif uses.get('kernel', {}).get('threads') != 64 or uses['kernel']['vgprs'] < 1:
        wrong.append(f'The kernel is said to use {uses}.')
    bad = strict(512)
    if bad.returncode == 0 or 'bytes of scratch memory' not in bad.stderr or output.exists():
        wrong.append(f'A kernel with scratch memory is taken: {bad.stderr}')
    few = strict(4, SMALL)
    if few.returncode == 0 or 'bytes of scratch memory' not in few.stderr or output.exists():
        wrong.append(f'A kernel that touches a few bytes of scratch memory is taken: {few.stderr}')
    for left_out, words in enumerate([None, 'no s_waitcnt vmcnt waits for', 'before s_waitcnt lgkmcnt(0)']):
        loop = strict(left_out, LOOP, 'LEFT_OUT')
        if words is None and loop.returncode != 0:
            wrong.append(f'A kernel that waits is refused: {loop.stderr}')
        if words is not None and (loop.returncode == 0 or words not in loop.stderr or output.exists()):
            wrong.append(f'Without wait {left_out} the kernel is taken: {loop.stderr}')
    # Two loads of 2 KB: 16 such stages fit, of whose 32 loads the last but one must have landed.
    for wait, words in ((2, None), (31, None), (0, 's_waitcnt vmcnt(0) stands in the loop'), (32, 'at most 31 may be on their way'),
                        (100, 's_waitcnt vmcnt is missing'),
                        (101, 'stands in a phase of products')):
        turns = strict(wait, TURNS, 'WAIT')
        if words is None and turns.returncode != 0:
            wrong.append(f'Turns with wait {wait} are refused: {turns.stderr}')
        if words is not None and (turns.returncode == 0 or words not in turns.stderr or output.exists()):
            wrong.append(f'Turns with wait {wait} are taken, or not for that: {turns.stderr}')
    print('\n'.join(wrong) or 'Four kernels are taken, eight refused.')
    return 1 if wrong else 0


sys.exit(main())
