#!/usr/bin/env python3
"""Compiles device code for an AMD target, and refuses kernels that use scratch memory, spill vector registers, or do not wait.

usage: strict_amdgpu.py CLANG TARGET SOURCE OUTPUT [FLAG...]

OUTPUT is the code object, OUTPUT.json what its kernels use: registers, spills, bytes of LDS that are not dynamic. Scalar
registers that spill go to lanes of vector registers; they are counted, not refused.

The compiler waits for no load to LDS, and may move the wait for a read of LDS behind a barrier. So of the machine code is
asked, on every path: from a load to LDS, a wait for vmcnt comes before the kernel ends and before the same load comes again;
from a read of LDS, a wait for lgkmcnt(0) comes before a barrier.
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


def instructions(listing):
    """(address, text) of a disassembly, and where each address stands in it."""
    found = [(int(match[2], 16), match[1].strip()) for match in
             re.finditer(r'^\s+(\S[^/]*?)\s*// ([0-9A-F]{8,}):', listing, re.M)]
    return found, {address: index for index, (address, _) in enumerate(found)}


def without_wait(code, places, start, wait, end):
    """Whether a path from instruction `start` comes to `end`, a test of index and text, before it comes to a `wait`."""
    seen, open_paths = set(), [start + 1]
    while open_paths:
        index = open_paths.pop()
        while index < len(code) and index not in seen:
            seen.add(index)
            address, text = code[index]
            if end(index, text):
                return True
            if wait(text):
                break
            branch = re.match(r's_c?branch\S* (\d+)', text)
            if branch:
                distance = int(branch[1])
                open_paths.append(places.get(address + 4 + 4 * (distance - (distance >> 15 << 16)), len(code)))
            if text.startswith(('s_branch', 's_endpgm', 's_setpc')):
                break
            index += 1
    return False


def missing_waits(listing):
    """Sentences about loads to LDS and reads of LDS that are not waited for."""
    code, places = instructions(listing)
    for index, (address, text) in enumerate(code):
        if re.match(r'(buffer|global)_load\S* .*\blds\b', text) and without_wait(
                code, places, index, lambda text: text.startswith('s_waitcnt') and 'vmcnt' in text,
                lambda at, text: at == index or text.startswith('s_endpgm')):
            yield f'{text} at {address:#x} is a load to LDS that no s_waitcnt vmcnt waits for.'
        if text.startswith('ds_read') and without_wait(
                code, places, index, lambda text: text.startswith('s_waitcnt') and 'lgkmcnt(0)' in text,
                lambda _, text: text.startswith('s_barrier')):
            yield f'{text} at {address:#x} comes to a barrier before s_waitcnt lgkmcnt(0).'


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
    tool = subprocess.run([clang, '-print-prog-name=llvm-objdump'], capture_output=True, text=True, check=True)
    listing = subprocess.run([tool.stdout.strip(), '-d', output], capture_output=True, text=True, check=True)
    refused += missing_waits(listing.stdout)
    if refused:
        pathlib.Path(output).unlink()
        print('\n'.join(refused), file=sys.stderr)
        return 1
    pathlib.Path(output + '.json').write_text(json.dumps(found, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
