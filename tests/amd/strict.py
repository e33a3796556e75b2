"""tools/strict_amdgpu.py takes a kernel that needs registers only, and refuses one that needs scratch memory.

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--clang', required=True)
    parser.add_argument('--tool', required=True)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    source, output = options.folder / 'kernel.hip', options.folder / 'kernel.hsaco'
    source.write_text(KERNEL)

    def strict(count):
        output.unlink(missing_ok=True)
        return subprocess.run([sys.executable, options.tool, options.clang, 'gfx942', source, output,
                               f'-DCOUNT={count}'], capture_output=True, text=True)

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
    print('\n'.join(wrong) or 'One kernel is taken, one refused.')
    return 1 if wrong else 0


sys.exit(main())
