#!/usr/bin/env python3
"""Compiles device code for an AMD target, and refuses kernels that use scratch memory, spill vector registers, or do not wait.

usage: strict_amdgpu.py CLANG TARGET SOURCE OUTPUT [FLAG...]

OUTPUT is the code object, OUTPUT.json what its kernels use: registers, spills, bytes of LDS that are not dynamic. Scalar
registers that spill go to lanes of vector registers; they are counted, not refused. So are bytes of scratch memory that clang
reserves, at most 64, where no instruction can touch them.

The compiler waits for no load to LDS, and may move the wait for a read of LDS behind a barrier. So of the machine code is
asked, on every path: from a load to LDS, a wait for vmcnt comes before the kernel ends and before the same load comes again;
from a read of LDS, a wait for lgkmcnt(0) comes before a barrier. Where waves load, read and multiply in turns (a loop of products
with loads to LDS and barriers), the wait for loads stands before the barrier of a phase that reads, never in one that multiplies;
its count is not 0, for then nothing is on its way while products are made, and not more than leaves landed what is read next.
"""
import collections
import heapq
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


LDS_BYTES = {'gfx942': 65536, 'gfx950': 163840}  # a workgroup has at most


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


def loop_of(code, places):
    """Indices of the instructions of a turn of the smallest loop with all products."""
    products = [index for index, (_, text) in enumerate(code) if text.startswith('v_mfma')]
    starts, follows = {0}, {}
    for index, (address, text) in enumerate(code):
        branch = re.match(r's_c?branch\S* (\d+)', text)
        if branch:
            distance = int(branch[1])
            target = places[address + 4 + 4 * (distance - (distance >> 15 << 16))]
            starts |= {target, index + 1}
            follows[index] = {target} | (set() if text.startswith('s_branch') else {index + 1})
        elif text.startswith(('s_endpgm', 's_setpc')):
            starts.add(index + 1)
            follows[index] = set()
    ordered = sorted(start for start in starts if start < len(code))
    blocks = {start: range(start, end) for start, end in zip(ordered, ordered[1:] + [len(code)])}
    after = {start: {at for at in follows.get(block[-1], {block[-1] + 1}) if at in blocks}
             for start, block in blocks.items()}
    before = collections.defaultdict(set)
    for start, targets in after.items():
        for target in targets:
            before[target].add(start)
    first = max(start for start in blocks if start <= products[0])

    def reached(edges):
        seen, todo = set(), [first]
        while todo:
            for target in edges[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        return seen
    # A loop is what reaches itself; without the ways back to where it is entered, the loops inside of it are left.
    whole, innermost = {start: set(targets) for start, targets in after.items()}, set()
    while True:
        loop = reached(after) & reached(before)
        if not all(any(at in blocks[start] for start in loop) for at in products):
            break
        innermost = loop
        for head in [start for start in loop if before[start] - loop]:
            for start in before[head] & loop:
                after[start] = after[start] - {head}
            before[head] = before[head] - loop
    # The shortest way round by all products and loads to LDS: what is done seldom stands beside it.
    stations = {start for start in innermost
                if any(re.match(r'v_mfma|.* lds$', code[at][1]) for at in blocks[start])}
    way, at = [], first
    while stations:
        ways, todo = {}, [(0, at, [])]
        while todo:
            length, start, before_it = heapq.heappop(todo)
            for target in whole[start] & innermost - ways.keys():
                ways[target] = before_it + [target]
                heapq.heappush(todo, (length + len(blocks[target]), target, ways[target]))
        others = stations - {first} or {first}
        at = min(others & ways.keys(), key=lambda station: sum(len(blocks[start]) for start in ways[station]))
        stations -= {at}
        way += ways[at]
    return [index for start in way for index in blocks[start]]


def wrong_counts(texts, target, waves):
    """Sentences about the loop over k of waves that load, read and multiply in turns between barriers."""
    is_load = lambda text: ' lds' in text and 'load' in text  # noqa: E731
    kinds = [any(map(is_load, texts)), any(text.startswith('s_barrier') for text in texts), any(text.startswith('v_mfma') for text in texts)]
    if not all(kinds):
        return
    # A phase lies between two barriers; the last of a turn goes on where the next turn begins.
    phases = [[]]
    for text in texts:
        phases[-1].append(text)
        if text.startswith('s_barrier'):
            phases.append([])
    phases[0] = phases.pop() + phases[0]
    loads = sum(map(is_load, texts))
    bytes_of_turn = sum(64 * waves * (16 if 'dwordx4' in text else 4) for text in texts if is_load(text))
    stages = LDS_BYTES[target] // bytes_of_turn
    most = stages * loads - loads // 2
    waited = False
    for phase in phases:
        counts = [int(count) for text in phase for count in re.findall(r'^s_waitcnt.*\bvmcnt\((\d+)\)', text)]
        waited = waited or bool(counts)
        if counts and any(text.startswith('v_mfma') for text in phase):
            yield 's_waitcnt vmcnt stands in a phase of products: the other waves read before its barrier.'
        if 0 in counts:
            yield 's_waitcnt vmcnt(0) stands in the loop over k: all loads are waited for.'
        if any(count > most for count in counts):
            yield (f's_waitcnt vmcnt({max(counts)}) is too short: {stages} stages of {loads} loads are in LDS, and when half of a tile is '
                   f'read and half of one is next, at most {most} may be on their way.')
        if any(text.startswith('ds_read') for text in phase) and not counts:
            yield 'A phase reads LDS, and its barrier tells nobody of loads: s_waitcnt vmcnt is missing before it.'
    if not waited:
        yield 'No s_waitcnt vmcnt is in the loop over k.'


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
    tool = subprocess.run([clang, '-print-prog-name=llvm-objdump'], capture_output=True, text=True, check=True)
    listing = subprocess.run([tool.stdout.strip(), '-d', output], capture_output=True, text=True, check=True)
    # clang keeps a slot for a scalar that it then loads again instead: no instruction touches such bytes.
    touched = re.search(r'\bscratch_|\bflat_|src_private_base|\bbuffer_(load|store)\S* .*\boff, s\[', listing.stdout)
    for name, uses in found.items():
        if uses['scratch_bytes'] > 64 or (uses['scratch_bytes'] != 0 and touched):
            refused.append(f'{name} uses {uses["scratch_bytes"]} bytes of scratch memory for each thread.')
        if uses['vgpr_spills'] != 0:
            refused.append(f'{name} spills {uses["vgpr_spills"]} vector registers.')
    refused += missing_waits(listing.stdout)
    code, places = instructions(listing.stdout)
    if any(text.startswith('v_mfma') for _, text in code):
        waves = max(uses['threads'] for uses in found.values()) // 64
        refused += wrong_counts([code[index][1] for index in loop_of(code, places)], target, waves)
    if refused:
        pathlib.Path(output).unlink()
        print('\n'.join(refused), file=sys.stderr)
        return 1
    pathlib.Path(output + '.json').write_text(json.dumps(found, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
