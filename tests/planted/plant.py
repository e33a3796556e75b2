#!/usr/bin/env python3
"""Plants each bug of bugs.py in a copy of one header and judges what the virtual GPU says of it.

For every bug, on every site: the unaltered kernel is clean on the same problem and schedule; the
altered one gives the named finding, with its role and stage; it still does with every other checker
switched off, and with that checker switched off nothing is found. Where no checker can tell, the
result must be wrong, or the run stopped with a sentence. A run that hangs must be over within five
seconds. Every checker has a bug. In a run of all, bugs of one instance that may be behind switches
are in one program (together.py), which is the unaltered one where none is chosen.

usage: plant.py @OPTIONS, a file with a word in each line, or
       plant.py --root ROOT --folder FOLDER --compiler CXX --link LIBRARY...
                [--only NAME...] [--schedules N] [--gallery]

--schedules prints, instead of judging, what is found with N seeds of every landing policy: that is
how the schedule of a new bug is chosen. --only takes names of bugs, or bug@config. --gallery runs
one bug for each checker and writes docs/bugs.md of what was said; a run of all compares it.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
from bug import CONFIGS, CONSEQUENCES, STOPPED, WRONG_RESULT
from bugs import BUGS
import gallery
import precompiled
import together

LANDINGS = ('eager', 'lazy', 'random', 'adversarial')
DEADLOCK_SECONDS = 5.0
# Kernels on a GPU cannot throw: that checker is for programs that the model refuses.
WITHOUT_BUGS = {'exception', 'unknown'}


class Wrong(Exception):
    """A bug, or the test itself, is not as the table says."""


class NotBuilt(Wrong):
    """The compiler refuses; `said` is all that it said."""

    def __init__(self, said):
        super().__init__(f'does not build:\n{said[:2000]}')
        self.said = said


def place_of(lines, bug):
    """Which line is changed."""
    found = [i for i, line in enumerate(lines) if line.strip() == bug.line]
    if len(found) != bug.of:
        raise Wrong(f'{bug.file} has {len(found)} lines `{bug.line}`; the table says {bug.of}')
    return found[bug.occurrence]


def altered(text, bug):
    """The header with its one line changed."""
    lines = text.splitlines()
    at = place_of(lines, bug)
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    lines[at] = indent + bug.to
    return '\n'.join(lines) + '\n'


def checkers(root):
    text = (root / 'vgpu/machine/finding.cpp').read_text()
    return set(re.findall(r'return "([a-z-]+)";', text)) - WITHOUT_BUGS


class Builder:
    """Compiles without optimisation: building takes longer than all runs."""

    def __init__(self, options, folder=None, more_flags=(), common=None):
        """`common` are includes that no altered header is among; without it those of common.h."""
        self.options = options
        self.folder = (folder or options.folder) / 'built'
        self.flags = ['-std=c++20', '-O0', '-DTW_INSTANCE_WITH_CUDA=0', '-DTW_INSTANCE_WITH_VGPU=1', *more_flags]
        shutil.rmtree(self.folder, ignore_errors=True)  # headers altered by bugs of another day
        self.folder.mkdir(parents=True)
        self.common = self.folder / 'common.h'
        self.common.write_text(common or (options.root / 'tests/planted/common.h').read_text())
        self.call([options.compiler, *self.flags, f'-I{options.root / "include"}', f'-I{options.root}', '-x', 'c++-header', self.common, '-o',
                   self.folder / 'common.h.gch'])
        self.lock = threading.Lock()
        self.plain_programs = {}
        self.plain_runs = {}
        self.numbers = {}  # switches' numbers, by bug and config

    def compile(self, folder, config, includes):
        """The instance's object. Neither `folder` nor `includes` stands in it: equal programs are equal bytes."""
        root = self.options.root
        folder.mkdir(parents=True, exist_ok=True)
        instance = folder / 'instance.o'
        include_flags = [f'-I{path}' for path in [*includes, root / 'include', root]]
        include_flags += [f'-ffile-prefix-map={path}={root / "include"}' for path in includes]
        source = folder / 'instance.cpp'
        source.write_text(config.source(root))
        switches = [word for path in includes if (path / together.SWITCH).exists() for word in ('-include', path / together.SWITCH)]
        self.call([self.options.compiler, *self.flags, '-include', self.common, *switches, *include_flags, '-c', source, '-o',
                   instance])
        return instance

    def link(self, instance):
        program = instance.parent / 'planted'
        # The instance comes first: an inline function that both have is taken from there.
        self.call([self.options.compiler, *self.flags, instance, *self.options.link, '-o', program])
        instance.unlink()
        return program

    def build(self, folder, config, includes):
        """Compiles and links the instance; returns the program."""
        return self.link(self.compile(folder, config, includes))

    @staticmethod
    def call(command):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode != 0:
            raise NotBuilt(result.stderr)

    def once(self, known, key, make):
        """make(), by the first who asks for `key`; the others wait for it."""
        with self.lock:
            mine = key not in known
            future = known.setdefault(key, concurrent.futures.Future())
        if mine:
            try:
                future.set_result(make())
            except Exception as exception:
                future.set_exception(exception)
        return future.result()

    def plain_run(self, site):
        """What the unaltered kernel says."""
        program = self.once(self.plain_programs, site.config,
                            lambda: self.build(self.folder / site.config, CONFIGS[site.config], []))
        words = site.words()
        return self.once(self.plain_runs, (site.config, *words), lambda: Run(program, words))

    def overlay(self, bug):
        """A folder of headers that has the altered one."""
        overlay = self.folder / bug.name / 'include'
        target = overlay / 'tilewright' / bug.file
        text = altered((self.options.root / 'include/tilewright' / bug.file).read_text(), bug)
        with self.lock:
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
        return overlay

    def build_together(self, config, bugs):
        """The program of an instance with bugs behind switches; those that the compiler refuses there are left out."""
        numbered = dict(enumerate(bugs, 1))
        overlay = self.folder / config / 'together'
        while numbered:
            shutil.rmtree(overlay, ignore_errors=True)
            overlay.mkdir(parents=True)
            (overlay / together.SWITCH).write_text(together.SWITCH_TEXT)
            for file in {bug.file for bug in numbered.values()}:
                here = [(number, bug) for number, bug in numbered.items() if bug.file == file]
                text, elsewhere = together.header((self.options.root / 'include/tilewright' / file).read_text(), place_of, here)
                numbered = {number: bug for number, bug in numbered.items() if number not in elsewhere}
                target = overlay / 'tilewright' / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            try:
                program = self.build(self.folder / config, CONFIGS[config], [overlay])
            except NotBuilt as refused:
                for number in together.blamed(refused.said, set(numbered)):
                    del numbered[number]
                continue
            with self.lock:
                self.plain_programs[config] = concurrent.futures.Future()
                self.plain_programs[config].set_result(program)
                self.numbers.update({(bug.name, config): number for number, bug in numbered.items()})
            return

    def planted(self, bug, site):
        """The program with the bug, and the number of its switch; 0 where it has none."""
        if number := self.numbers.get((bug.name, site.config), 0):
            return self.plain_programs[site.config].result(), number
        return self.build(self.folder / bug.name / site.config, CONFIGS[site.config], [self.overlay(bug)]), 0


class Run:
    """What one run said."""

    def __init__(self, program, words, timeout=120, number=0):
        begin = time.monotonic()
        result = subprocess.run([program, *words], capture_output=True, text=True, timeout=timeout,
                                env={**os.environ, 'TW_PLANTED_BUG': str(number)})
        self.seconds = time.monotonic() - begin
        if result.returncode != 0:
            raise Wrong(f'the run ended with {result.returncode}: {result.stderr.strip()[:500]}')
        said = [json.loads(line) for line in result.stdout.splitlines()]
        self.findings = [line for line in said if 'finding' in line]
        self.incomplete = [line['incomplete'] for line in said if 'incomplete' in line]
        self.wrong_result = ''.join(line['wrong result'] for line in said if 'wrong result' in line)

    def names(self):
        return {finding['finding'] for finding in self.findings}

    def text(self):
        lines = [f'  {f["finding"]} ({f["role"] or "no role"}, stage {f["stage"]}): {f["text"]}'
                 for f in self.findings]
        lines += [f'  incomplete: {text}' for text in self.incomplete]
        if self.wrong_result:
            lines.append(f'  {WRONG_RESULT}: {self.wrong_result}')
        return '\n'.join(lines) or '  nothing'


def matches(finding, site):
    return (finding['finding'] == site.finding and finding['role'] == site.role
            and site.stage in ('any', finding['stage']) and site.text in finding['text'])


def judge_result(found):
    """Where only the comparison can tell: it does, no checker blames anything, the run ends."""
    if found.findings or found.incomplete or not found.wrong_result:
        raise Wrong(f'expected a wrong result only and found\n{found.text()}')
    return '-', 'wrong result'


def judge_stop(found, site):
    """Where the virtual GPU does not know what would happen: it stops there, with a sentence."""
    if not any(site.text in text for text in found.incomplete) or found.names() != {*site.also}:
        raise Wrong(f'expected to be stopped by `{site.text}` and found\n{found.text()}')
    return '-', 'run stopped'


def judge_finding(found, run, site, root):
    if not any(matches(finding, site) for finding in found.findings):
        raise Wrong(f'expected {site.finding} ({site.role}, stage {site.stage}) and found\n'
                    f'{found.text()}')
    if found.names() != {site.finding, *site.also}:
        raise Wrong(f'expected only {site.finding} {sorted(site.also)} and found\n{found.text()}')
    if 'deadlock' in found.names() and found.seconds >= DEADLOCK_SECONDS:
        raise Wrong(f'the deadlock was reported after {found.seconds:.1f} s')
    alone = run(sorted(checkers(root) - {site.finding}))
    if not any(matches(finding, site) for finding in alone.findings):
        raise Wrong(f'with the other checkers off, expected {site.finding} and found\n'
                    f'{alone.text()}')
    off = run([site.finding, *site.also])
    if off.findings:
        raise Wrong(f'found although {site.finding} is switched off:\n{off.text()}')
    if bool(off.incomplete) != site.stops:
        raise Wrong(f'with {site.finding} off, the run should {"" if site.stops else "not "}stop '
                    f'early: {off.incomplete}')
    stage = next(f['stage'] for f in found.findings if matches(f, site))
    return ('-' if stage < 0 else str(stage),
            'run stopped' if site.stops else 'wrong result' if off.wrong_result else 'clean')


def judge(bug, site, builder):
    """The row of the table for one bug on one site, and what the run said; raises Wrong."""
    program, number = builder.planted(bug, site)
    plain = builder.plain_run(site)
    if plain.findings or plain.incomplete or plain.wrong_result:
        raise Wrong(f'the unaltered kernel is not clean:\n{plain.text()}')
    run = lambda off: Run(program, site.words() + (['--off', *off] if off else []), number=number)
    found = run([])
    if site.finding == WRONG_RESULT:
        stage, missed = judge_result(found)
    elif site.finding == STOPPED:
        stage, missed = judge_stop(found, site)
    else:
        stage, missed = judge_finding(found, run, site, builder.options.root)
    if number == 0:
        program.unlink()
    return [bug.name, CONFIGS[site.config].target, site.config,
            ' + '.join([site.finding, *sorted(site.also)]), site.role or '-', stage, missed,
            f'{found.seconds:.2f} s'], found


def print_table(rows):
    rows = [['bug', 'target', 'instance', 'found as', 'role', 'stage', 'with the checker off',
             'time'], *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def explore(bug, site, builder, schedules):
    """What is found with many schedules, and with which."""
    program, _ = builder.planted(bug, site)
    kinds = collections.defaultdict(list)
    for landing in LANDINGS:
        for seed in range(1, 2 if landing in ('eager', 'lazy') else 1 + schedules):
            run = Run(program, dataclasses.replace(site, landing=landing, seed=seed).words())
            kind = {(f['finding'], f['role'], f['stage']) for f in run.findings}
            if run.incomplete:
                kind.add(('incomplete', '', -1))
            if run.wrong_result:
                kind.add((WRONG_RESULT, '', -1))
            kinds[tuple(sorted(kind))].append(f'{landing} {seed}')
    lines = [f'{bug.name}@{site.config}: expects {site.finding}, {site.role}, {site.stage}']
    for kind, where in sorted(kinds.items(), key=lambda item: len(item[0])):
        lines.append(f'  {len(where):3} schedules, such as {", ".join(where[:4])}')
        lines += [f'      {name} ({role}, stage {stage})' for name, role, stage in kind]
    return '\n'.join(lines)


def print_counts(cases):
    by_target = collections.Counter(CONFIGS[site.config].target for _, site in cases)
    by_checker = collections.Counter(site.finding for _, site in cases)
    for counts in (by_target, by_checker):
        print(', '.join(f'{name} {count}' for name, count in sorted(counts.items())))


def parsed(words=None):
    parser = argparse.ArgumentParser(fromfile_prefix_chars='@')
    parser.add_argument('--root', type=pathlib.Path, required=True)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    parser.add_argument('--compiler', required=True)
    parser.add_argument('--link', nargs='+', required=True)
    parser.add_argument('--only', nargs='+')
    parser.add_argument('--schedules', type=int)
    parser.add_argument('--gallery', action='store_true')
    return parser.parse_args(words)


def main():
    options = parsed()
    begin = time.monotonic()
    shown = gallery.chosen(BUGS)
    every = [(bug, site) for bug in BUGS for site in bug.sites]
    cases = [(bug, site) for bug, site in every if not options.only
             or bug.name in options.only or f'{bug.name}@{site.config}' in options.only]
    if options.gallery:
        cases = shown
    headers = precompiled.Headers(options.root, {bug.file for bug in BUGS})
    builder = Builder(options, common=headers.common(config.source(options.root) for config in CONFIGS.values()))
    rows, complaints, texts = [], [], {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if cases == every:
            groups = collections.defaultdict(dict)
            for bug, site in cases:
                if together.may_be_switched(bug):
                    groups[site.config][bug.name] = bug
            for job in [pool.submit(builder.build_together, config, bugs.values()) for config, bugs in groups.items()]:
                try:
                    job.result()
                except Wrong as wrong:  # the table is wrong; where a bug is judged it is told, too
                    complaints.append(str(wrong))
        if options.schedules:
            for text in pool.map(lambda case: explore(*case, builder, options.schedules), cases):
                print(text, flush=True)
            return 0
        jobs = [(bug, site, pool.submit(judge, bug, site, builder)) for bug, site in cases]
        for bug, site, job in jobs:
            name = f'{bug.name}@{site.config}'
            try:
                row, found = job.result()
                rows.append(row)
                texts[name] = [f['text'] for f in found.findings if matches(f, site)]
            except Wrong as wrong:
                complaints.append(f'{name}: {wrong}')
    complaints += [f'{bug.name}: CONSEQUENCES does not say why {name} follows'
                   for bug, site in cases for name in site.also if name not in CONSEQUENCES]
    planted = {site.finding for bug in BUGS for site in bug.sites}
    idle = set() if options.only or options.gallery else checkers(options.root) - planted
    complaints += [f'{name}: no bug is planted for this checker' for name in sorted(idle)]
    if not options.only and not complaints:
        page = options.root / 'docs/bugs.md'
        pages = gallery.page([(bug, site, texts[f'{bug.name}@{site.config}'][0]) for bug, site in shown])
        if options.gallery:
            page.write_text(pages)
        elif page.read_text() != pages:
            complaints.append('docs/bugs.md is not what these bugs give; plant.py --gallery writes it.')
    print_table(rows)
    print_counts(cases)
    unnamed = sum(site.finding in (WRONG_RESULT, STOPPED) for _, site in cases)
    print(f'{len({bug.name for bug, _ in cases})} bugs, planted in {len(cases)} instances: '
          f'{len(rows)} are as the table says ({time.monotonic() - begin:.0f} s). A checker names '
          f'{len(cases) - unnamed}, which are missed with it off; {unnamed} show only as a wrong '
          f'result or a stopped run, without role and stage. {len(builder.numbers)} are behind switches.')
    print('\n'.join(complaints))
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
