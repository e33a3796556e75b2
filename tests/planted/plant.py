#!/usr/bin/env python3
"""Plants each bug of bugs.py in a copy of one header and judges what the virtual GPU says of it.

For every bug: the unaltered kernel is clean on the same problem and schedule; the altered one gives
the named finding, with its role and stage; it still does with every other checker switched off, and
with that checker switched off nothing is found. A run that hangs must be over within five seconds.
Every checker has a bug.

usage: plant.py --root ROOT --folder FOLDER --compiler CXX --link LIBRARY... [--only NAME...]
                [--schedules N]

--schedules prints, instead of judging, what is found with N seeds of every landing policy: that is
how the schedule of a new bug is chosen.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
from bugs import BUGS, CONFIGS

LANDINGS = ('eager', 'lazy', 'random', 'adversarial')
DEADLOCK_SECONDS = 5.0
# Kernels on a GPU cannot throw: that checker is for programs that the model refuses.
WITHOUT_BUGS = {'exception', 'unknown'}


class Wrong(Exception):
    """A bug, or the test itself, is not as the table says."""


def altered(text, bug):
    """The header with its one line changed."""
    lines = text.splitlines()
    found = [i for i, line in enumerate(lines) if line.strip() == bug.line]
    if len(found) != bug.of:
        raise Wrong(f'{bug.file} has {len(found)} lines `{bug.line}`; the table says {bug.of}')
    at = found[bug.occurrence]
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    lines[at] = indent + bug.to
    return '\n'.join(lines) + '\n'


def checkers(root):
    text = (root / 'vgpu/machine/finding.cpp').read_text()
    return set(re.findall(r'return "([a-z-]+)";', text)) - WITHOUT_BUGS


class Builder:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder

    def build(self, name, config, includes):
        """Compiles and links the instance; returns the program."""
        root = self.options.root
        program = self.folder / name / 'planted'
        instance = self.folder / name / 'instance.o'
        include_flags = [f'-I{path}' for path in [*includes, root / 'include', root]]
        self.call([self.options.compiler, '-std=c++20', '-O1', *include_flags,
                   f'-DPLANTED_CONFIG={CONFIGS[config]}', '-c',
                   root / 'tests/planted/instance.cpp', '-o', instance])
        # The instance comes first: an inline function that both have is taken from there.
        self.call([self.options.compiler, instance, *self.options.link, '-o', program])
        return program

    @staticmethod
    def call(command):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode != 0:
            raise Wrong(f'does not build:\n{result.stderr[:2000]}')

    def plain(self, config):
        (self.folder / config).mkdir(parents=True, exist_ok=True)
        return self.build(config, config, [])

    def planted(self, bug):
        source = self.options.root / 'include/tilewright' / bug.file
        overlay = self.folder / bug.name / 'include'
        target = overlay / 'tilewright' / bug.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(altered(source.read_text(), bug))
        return self.build(bug.name, bug.config, [overlay])


class Run:
    """What one run said."""

    def __init__(self, program, problem, landing, seed, off=()):
        arguments = [program, *problem, landing, seed, *off]
        begin = time.monotonic()
        result = subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                                timeout=60)
        self.seconds = time.monotonic() - begin
        if result.returncode != 0:
            raise Wrong(f'the run ended with {result.returncode}: {result.stderr.strip()[:500]}')
        said = [json.loads(line) for line in result.stdout.splitlines()]
        self.findings = [line for line in said if 'finding' in line]
        self.incomplete = [line['incomplete'] for line in said if 'incomplete' in line]
        self.wrong_result = any('wrong result' in line for line in said)

    def names(self):
        return {finding['finding'] for finding in self.findings}

    def text(self):
        lines = [f'  {f["finding"]} ({f["role"] or "no role"}, stage {f["stage"]}): {f["text"]}'
                 for f in self.findings]
        return '\n'.join(lines) or '  nothing'


def matches(finding, bug):
    return (finding['finding'] == bug.finding and finding['role'] == bug.role
            and bug.stage in ('any', finding['stage']) and bug.text in finding['text'])


def judge(bug, builder, clean):
    """The row of the table for one bug; raises Wrong."""
    program = builder.planted(bug)
    plain = Run(clean[bug.config].result(), bug.problem, bug.landing, bug.seed)
    if plain.findings or plain.incomplete or plain.wrong_result:
        raise Wrong(f'the unaltered kernel is not clean:\n{plain.text()}')
    found = Run(program, bug.problem, bug.landing, bug.seed)
    if not any(matches(finding, bug) for finding in found.findings):
        raise Wrong(f'expected {bug.finding} ({bug.role}, stage {bug.stage}) and found\n'
                    f'{found.text()}')
    if found.names() != {bug.finding, *bug.also}:
        raise Wrong(f'expected only {bug.finding} {sorted(bug.also)} and found\n{found.text()}')
    if 'deadlock' in found.names() and found.seconds >= DEADLOCK_SECONDS:
        raise Wrong(f'the deadlock was reported after {found.seconds:.1f} s')
    others = sorted(checkers(builder.options.root) - {bug.finding})
    alone = Run(program, bug.problem, bug.landing, bug.seed, others)
    if not any(matches(finding, bug) for finding in alone.findings):
        raise Wrong(f'with the other checkers off, expected {bug.finding} and found\n'
                    f'{alone.text()}')
    off = Run(program, bug.problem, bug.landing, bug.seed, [bug.finding, *bug.also])
    if off.findings:
        raise Wrong(f'found although {bug.finding} is switched off:\n{off.text()}')
    if bool(off.incomplete) != bug.stops:
        raise Wrong(f'with {bug.finding} off, the run should {"" if bug.stops else "not "}stop '
                    f'early: {off.incomplete}')
    missed = 'run stopped' if bug.stops else 'wrong result' if off.wrong_result else 'clean'
    stage = next(f['stage'] for f in found.findings if matches(f, bug))
    return [bug.name, ' + '.join([bug.finding, *sorted(bug.also)]), bug.role,
            '-' if stage < 0 else str(stage), missed, f'{found.seconds:.2f} s']


def print_table(rows):
    rows = [['bug', 'found as', 'role', 'stage', 'with the checker off', 'time'], *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def explore(bug, builder, schedules):
    """What is found with many schedules, and with which."""
    program = builder.planted(bug)
    kinds = collections.defaultdict(list)
    for landing in LANDINGS:
        for seed in range(1, 2 if landing in ('eager', 'lazy') else 1 + schedules):
            run = Run(program, bug.problem, landing, seed)
            kind = tuple(sorted({(f['finding'], f['role'], f['stage']) for f in run.findings}))
            kinds[kind].append(f'{landing} {seed}')
    lines = [f'{bug.name}: expects {bug.finding}, {bug.role}, {bug.stage}']
    for kind, where in sorted(kinds.items(), key=lambda item: len(item[0])):
        lines.append(f'  {len(where):3} schedules, such as {", ".join(where[:4])}')
        lines += [f'      {name} ({role}, stage {stage})' for name, role, stage in kind]
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', type=pathlib.Path, required=True)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    parser.add_argument('--compiler', required=True)
    parser.add_argument('--link', nargs='+', required=True)
    parser.add_argument('--only', nargs='+')
    parser.add_argument('--schedules', type=int)
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if not options.only or bug.name in options.only]
    builder = Builder(options)
    rows, complaints = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if options.schedules:
            for text in pool.map(lambda bug: explore(bug, builder, options.schedules), bugs):
                print(text, flush=True)
            return 0
        configs = {bug.config for bug in bugs}
        clean = {config: pool.submit(builder.plain, config) for config in configs}
        jobs = {bug.name: pool.submit(judge, bug, builder, clean) for bug in bugs}
        for name, job in jobs.items():
            try:
                rows.append(job.result())
            except Wrong as wrong:
                complaints.append(f'{name}: {wrong}')
    idle = set() if options.only else checkers(options.root) - {bug.finding for bug in BUGS}
    complaints += [f'{name}: no bug is planted for this checker' for name in sorted(idle)]
    print_table(rows)
    print(f'{len(rows)} of {len(bugs)} planted bugs are found, and missed with the checker off.')
    print('\n'.join(complaints))
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
