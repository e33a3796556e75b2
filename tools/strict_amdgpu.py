#!/usr/bin/env python3
"""Compiles device code for an AMD target, and refuses kernels that use scratch memory or spill vector registers.

usage: strict_amdgpu.py CLANG TARGET SOURCE OUTPUT [FLAG...]

OUTPUT is the code object, OUTPUT.json what its kernels use: registers, spills, bytes of LDS that are not dynamic. Scalar
registers that spill go to lanes of vector registers; they are counted, not refused.
"""
import json
import pathlib
import re
import subprocess
import sys

FLAGS = ['-x', 'hip', '-std=c++20', '-O3', '--cuda-device-only', '--no-gpu-bundle-output', '-nogpuinc', '-nogpulib',
         '-mcode-object-version=5', '-Wall', '-Wextra', '-Werror']
FIELDS = {'vgpr_count': 'vgprs', 'agpr_count': 'agprs', 'sgpr_count': 'sgprs', 'vgpr_spill_count': 'vgpr_spills',
          'sgpr_spill_count': 'sgpr_spills', 'private_segment_fixed_size': 'scratch_bytes',
          'group_segment_fixed_size': 'lds_bytes', 'max_flat_workgroup_size': 'threads'}


def kernels(notes):
    """What the metadata of a code object says of each of its kernels."""
    found = {}
    # A kernel begins with a dash at the second level, in whatever order its fields are.
    for text in re.split(r'^  - (?=\.)', notes, flags=re.M)[1:]:
        name = re.search(r'^ *\.symbol: +(\S+)\.kd', text, re.M)
        fields = {field: re.search(rf'^ *\.{field}: +(\d+)$', text, re.M) for field in FIELDS}
        if name and all(fields.values()):
            found[name[1].strip("'")] = {FIELDS[field]: int(match[1]) for field, match in fields.items()}
    return found


def main():
    clang, target, source, output, *flags = sys.argv[1:]
    command = [clang, *FLAGS, f'--offload-arch={target}', *flags, '-c', source, '-o', output]
    if subprocess.run(command).returncode != 0:
        return 1
    tool = subprocess.run([clang, '-print-prog-name=llvm-readelf'], capture_output=True, text=True, check=True)
    notes = subprocess.run([tool.stdout.strip(), '--notes', output], capture_output=True, text=True, check=True)
    found = kernels(notes.stdout)
    refused = [] if found else [f'{output} has no kernel, or llvm-readelf does not show its metadata.']
    for name, uses in found.items():
        if uses['scratch_bytes'] != 0:
            refused.append(f'{name} uses {uses["scratch_bytes"]} bytes of scratch memory for each thread.')
        if uses['vgpr_spills'] != 0:
            refused.append(f'{name} spills {uses["vgpr_spills"]} vector registers.')
    if refused:
        pathlib.Path(output).unlink()
        print('\n'.join(refused), file=sys.stderr)
        return 1
    pathlib.Path(output + '.json').write_text(json.dumps(found, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
