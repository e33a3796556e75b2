#!/usr/bin/env python3
"""Changes single lines of the device headers and asks whether the virtual GPU notices.

usage: mutate.py --plant FILE --folder FOLDER [--count N] [--seed S] [--kernels N]     (FILE: options of tests/planted/plant.py)

A mutant is a line of a header with one operator, number, condition or statement changed (mutants.py). It is judged by kernels
that execute the line, which is known from their coverage: those of tests/planted, and of the library's those that have something
which these lack. Coverage is measured when a kernel is first asked, and asked first are kernels with a bug in the same header,
then those that name what it defines. They compute random problems under random schedules. A mutant is killed where a checker
complains, the result is wrong, the run stops or does not end, or where a static_assert or a constant expression fails. No mutants
are lines that no kernel's build contains, changes with which no line compiles, and changes that leave the objects of the kernels
byte for byte as they were: others are drawn instead. Survivors are printed with their line; those that
tests/planted/equivalent.txt names with a reason are equivalent to the original.

What was judged is kept in the folder until a header, the virtual GPU or a problem changes: a run that was stopped goes on.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from mutants import ROOT, all_mutants
sys.path.insert(0, str(ROOT / 'tests/planted'))
import plant
from bug import Bug, CONFIGS, Config
from bugs import BUGS

COVERING = 10  # problems of which a kernel's coverage is measured, random ones, and of its planted bugs at most as many
JUDGING = 14  # random problems more, for a mutant that passed these
ASKED = 12  # kernels whose coverage is measured for one mutant, at most
SECONDS = 30  # that a run may take; the slowest of unaltered kernels takes two
# What the compiler says where it evaluates our own conditions.
EVALUATED = re.compile('static assertion failed|not a constant expression|constraints not satisfied|in a constant expression')


def features(config):
    """What tells kernels apart, but for sizes: the recipe on its page, and each choice among mechanisms, types and layouts."""
    fields = config.fields
    for one, of in ('Fp16', 'Bf16'), ('E5m2', 'E4m3'), ('E2m3', 'E3m2'):
        fields = fields.replace(f'ElementType::{one}', f'ElementType::{of}')
    choices = re.findall(r'\.\w+ = \w+::\w+|\.(?:swap_ab|part_blocks|group|promote_every)\b', fields)
    cluster = re.search(r'\.cluster = \{(\d), (\d)(?:, (\d))?\}', fields)
    choices += [f'cluster along {side}' for side, ctas in zip('mnk', cluster.groups() if cluster else ()) if ctas not in (None, '1')]
    found = {(config.family, config.page, config.recipe)}
    for choice in choices:
        if 'type = ElementType' in choice:
            found |= {(config.family, choice)} if 'Bf16' not in choice else set()
        else:
            found.add((config.family, re.split(r'[._]', config.header.split('/')[-1])[0], choice))
    return found


def library_kernels():
    """Every kernel that the families' lists name."""
    for path in sorted((ROOT / 'include/tilewright/family').glob('*/instances.txt')):
        for line in path.read_text().splitlines():
            if line and not line.startswith('#'):
                page, struct, *words = line.split('|')
                at = next(i for i, word in enumerate(words) if re.fullmatch('[a-z][a-z0-9_]*', word))
                yield words[at], Config('', f'tilewright/arch/{page}.h', struct, words[at + 1], path.parent.name, words[at - 1] if at else '')


def kernels():
    """Those of tests/planted, and of the library each that has a feature which those before it lack."""
    chosen = dict(CONFIGS)
    known = set().union(*map(features, chosen.values()))
    for name, config in library_kernels():
        if not features(config) <= known:
            known |= features(config)
            chosen[f'library_{name}'] = config
    return chosen


KERNELS = kernels()


def tree():
    """What verdicts depend on."""
    digest = hashlib.sha256(repr((COVERING, JUDGING)).encode())
    for folder in 'include', 'vgpu', 'src/verify', 'src/families', 'src/instances':
        for path in sorted((ROOT / folder).rglob('*')):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def planted_problems(name):
    """Those in which bugs show: they go where random ones seldom do."""
    words = {tuple(site.words()) for bug in BUGS for site in bug.sites if site.config == name}
    return [list(one) for one in sorted(words)]


def order(seed, line, to):
    """By chance, and each mutant's by itself: the order of the others stays when a line changes."""
    return hashlib.sha256(f'{seed} | {line.file} | {line.text} | {line.occurrence} | {to}'.encode()).digest()


def is_clean(run):
    return not (run.findings or run.incomplete or run.wrong_result)


def clean(program, trial):
    try:
        return is_clean(plant.Run(program, trial, SECONDS))
    except (plant.Wrong, subprocess.TimeoutExpired):
        return False


class Covered:
    """The unaltered kernels: which lines of headers their builds contain and execute, and trials that they pass."""

    def __init__(self, options, folder):
        self.builder = plant.Builder(options, folder / 'plain', ['--coverage'])
        self.folder = folder / 'covered'
        self.folder.mkdir(parents=True, exist_ok=True)
        self.measurements = {}
        self.known = {}
        for kept in self.folder.glob('*.json'):
            found = json.loads(kept.read_text())
            if found['kernel'] == repr(KERNELS.get(kept.stem)):
                self.known[kept.stem] = found

    def of(self, name):
        if name not in self.known:
            self.known[name] = self.builder.once(self.measurements, name, lambda: self.measured(name))
        return self.known[name]

    @staticmethod
    def randoms(name):
        draw = random.Random(name)
        return [['--random', str(draw.randint(1, 1 << 30))] for _ in range(2 * COVERING + JUDGING)]

    def measured(self, name):
        folder = self.builder.folder / name
        begin = time.monotonic()
        program = self.builder.build(folder, KERNELS[name], [])
        trials = []
        # A kernel may refuse a random problem.
        for among in planted_problems(name), self.randoms(name)[:2 * COVERING]:
            passed = (trial for trial in among if self.passes(program, trial, name))
            trials += [trial for _, trial in zip(range(COVERING), passed)]
        found = {'kernel': repr(KERNELS[name]), 'trials': trials, 'seconds': time.monotonic() - begin, 'lines': self.lines(folder)}
        shutil.rmtree(folder)
        (self.folder / f'{name}.json').write_text(json.dumps(found))
        return json.loads(json.dumps(found))  # numbers of lines are words

    @staticmethod
    def passes(program, trial, name):
        try:
            run = plant.Run(program, trial, SECONDS)
        except (plant.Wrong, subprocess.TimeoutExpired):
            return False
        if not is_clean(run):
            print(f'{name} without a change is not clean with {" ".join(trial)}:\n{run.text()}', flush=True)
        return is_clean(run)

    @staticmethod
    def lines(folder):
        """{header: {number of a line: whether it was executed}}"""
        found = collections.defaultdict(dict)
        for data in folder.glob('*.gcda'):
            said = subprocess.run(['gcov', '--json-format', '--stdout', data.name], cwd=folder, capture_output=True, text=True)
            for document in said.stdout.splitlines():
                for file in json.loads(document)['files']:
                    if '/include/tilewright/' in file['file']:
                        header = found[file['file'].split('/include/tilewright/')[1]]
                        for line in file['lines']:
                            header[line['line_number']] = header.get(line['line_number'], False) or line['count'] > 0
        return found


def headers_of(name):
    """The headers that a kernel's source includes, in any way."""
    found, left = set(), [KERNELS[name].source(ROOT)]
    while left:
        for header in re.findall(r'#include "(tilewright/[^"]+|tests/planted/[^"]+)"', left.pop()):
            path = next(path for path in (ROOT / 'include' / header, ROOT / header) if path.exists())
            if header not in found:
                found.add(header)
                left.append(path.read_text())
    return {header.removeprefix('tilewright/') for header in found}


class Judge:
    def __init__(self, options, folder, covered, most_kernels):
        self.builder = plant.Builder(options, folder / 'mutants')
        self.covered = covered
        self.most_kernels = most_kernels
        self.objects = {}
        self.plain = {}
        self.choices = {name: {choice[-1] for choice in features(config) if 'type' not in choice[-1]} for name, config in KERNELS.items()}
        self.headers = {name: headers_of(name) for name in KERNELS}
        self.bugs = collections.defaultdict(set)  # kernels with a bug in a header
        for bug in BUGS:
            self.bugs[bug.file] |= {site.config for site in bug.sites}

    def reach(self, name, line):
        """None: the kernel's build does not contain the line. Otherwise whether it executes it."""
        found = self.covered.of(name)
        header = found['lines'].get(line.file)
        if not found['trials']:
            return None
        if line.constant:
            is_there = header or KERNELS[name].header == f'tilewright/{line.file}'
            return True if is_there else None
        known = [header[str(number)] for number in line.numbers if str(number) in header] if header else []
        return any(known) if known else None

    def candidates(self, line):
        """Kernels that include the header: the likeliest to execute the line, then whichever has most that those before it lack."""
        defined = set(re.findall(r'(?:struct|class) (\w+)', (ROOT / 'include/tilewright' / line.file).read_text()))
        left = [name for name in KERNELS if line.file in self.headers[name]]
        before = set()

        def distance(name):
            config, known = KERNELS[name], self.covered.known.get(name)
            executes = known is not None and self.reach(name, line)
            names = set(re.findall(r'\w+', f'{config.page} {config.recipe}'))
            return (0 if executes else 1 if known is None and name in self.bugs[line.file] else 2 if known is None and names & defined else 3,
                    -len(self.choices[name] - before), known['seconds'] if known else 10)

        while left:
            name = min(left, key=distance)
            left.remove(name)
            yield name
            if self.reach(name, line):
                before |= self.choices[name]

    def is_unaltered(self, name, altered):
        """Whether the object is that of the kernel without a change."""
        plain = self.builder.once(self.objects, name, lambda: self.builder.compile(self.builder.folder / name, KERNELS[name], []).read_bytes())
        return altered == plain

    def kills(self, program, name):
        """Whether a problem shows the change."""
        trials = self.covered.of(name)['trials']
        for trial in trials:
            if not clean(program, trial):
                return True
        plain = self.builder.folder / 'unaltered' / name
        for trial in self.covered.randoms(name)[2 * COVERING:]:
            # Whether the unaltered kernel takes the problem, and passes it, is asked where it matters.
            if not clean(program, trial) and clean(self.builder.once(self.plain, name, lambda: self.builder.build(plain, KERNELS[name], [])), trial):
                return True
        return False

    def judge(self, index, line, to):
        """'killed', 'killed by the compiler', 'survived', 'unreached', 'not built', 'does not compile' or 'unaltered'; and by or with which kernels."""
        bug = Bug(f'mutant_{index}', '', line.file, line.text, to, [], line.of, line.occurrence)
        survived, refused, asked, contained, same = [], 0, 0, False, 0
        try:
            for name in self.candidates(line):
                if name not in self.covered.known:
                    asked += 1
                    if asked > ASKED:
                        break
                executes = self.reach(name, line)
                contained = contained or executes is not None
                if not executes:
                    continue
                folder = self.builder.folder / bug.name / name
                try:
                    instance = self.builder.compile(folder, KERNELS[name], [self.builder.overlay(bug)])
                    altered = instance.read_bytes()
                    if line.constant and self.is_unaltered(name, altered):
                        same += 1
                        if same > self.most_kernels:
                            break
                        continue  # nobody knows who uses a constant
                    program = self.builder.link(instance)
                except plant.NotBuilt as error:
                    if EVALUATED.search(error.said):
                        return 'killed by the compiler', [name]
                    refused += 1
                    if refused > 2:
                        break  # operators that the types do not have
                    continue
                if self.kills(program, name):
                    return 'killed', [name]
                shutil.rmtree(folder)
                if self.is_unaltered(name, altered):
                    same += 1
                    continue
                survived.append(name)
                if len(survived) == self.most_kernels:
                    break
        finally:
            shutil.rmtree(self.builder.folder / bug.name, ignore_errors=True)
        if survived:
            return 'survived', survived
        if refused or same:
            return 'does not compile' if refused else 'unaltered', []
        return 'unreached' if contained else 'not built', []


def known_reasons():
    """file | line | changed line | reason, one in a line."""
    path = ROOT / 'tests/planted/equivalent.txt'
    rows = [line.split(' | ') for line in path.read_text().splitlines() if line and not line.startswith('#')]
    reasons = {tuple(row[:3]): row[3] for row in rows}
    for one in reasons.keys() - {(line.file, line.text, to) for line, to in all_mutants()}:
        sys.exit(f'tests/planted/equivalent.txt has `{one[1]}` of {one[0]} as `{one[2]}`, which is no mutant of that header.')
    return reasons


class Verdicts:
    """What was judged so far, in a file."""

    def __init__(self, path, again, reasons):
        self.path = path
        self.known = dict(json.loads(line) for line in path.read_text().splitlines()) if path.exists() else {}
        if again:
            self.known = {key: verdict for key, verdict in self.known.items()
                          if verdict[0] not in ('survived', 'unreached') or tuple(key.split(' | ')[:3]) in reasons}

    def add(self, key, verdict):
        self.known[key] = verdict
        with self.path.open('a') as file:
            file.write(json.dumps([key, verdict]) + '\n')


def begin(folder):
    """Empties the folder if it is another tree's."""
    stamp, now = folder / 'tree.txt', tree()
    if not stamp.exists() or stamp.read_text() != now:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(now)


def main():
    parser = argparse.ArgumentParser(prog='tw mutate')
    parser.add_argument('--plant', required=True, help=argparse.SUPPRESS)
    parser.add_argument('--folder', type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument('--count', type=int, default=150, help='mutants')
    parser.add_argument('--seed', type=int, default=1, help='of the choice of mutants')
    parser.add_argument('--kernels', type=int, default=8, help='that judge a mutant, at most')
    parser.add_argument('--jobs', type=int, default=2, help='at the same time')
    parser.add_argument('--again', action='store_true', help='judges survivors and unreached lines again, as after a kernel was added')
    parser.add_argument('--minutes', type=float, default=1e9, help='after which it stops; the same command then goes on')
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    build = plant.parsed([f'@{options.plant}'])
    begin(options.folder)
    covered = Covered(build, options.folder)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judge = Judge(build, options.folder, covered, options.kernels)
        reasons = known_reasons()
        verdicts = Verdicts(options.folder / f'verdicts_{options.seed}.txt', options.again, reasons)
        candidates = sorted(all_mutants(), key=lambda one: order(options.seed, *one))
        candidates = ((index, line, to) for index, (line, to) in enumerate(candidates))
        results, drawn_again = collections.Counter(), collections.Counter()

        def one(item):
            index, line, to = item
            key = f'{line.file} | {line.text} | {to} | {line.occurrence}'
            if key not in verdicts.known:
                if time.monotonic() > end:
                    return None, [], line, to
                verdicts.add(key, judge.judge(index, line, to))
            return *verdicts.known[key], line, to

        while sum(results.values()) < options.count:
            batch = [item for _, item in zip(range(min(8 * options.jobs, options.count - sum(results.values()))), candidates)]
            if not batch:
                break
            for verdict, by, line, to in pool.map(one, batch):
                if verdict is None:
                    sys.exit(f'{sum(results.values())} mutants so far: {dict(results)}; the same command goes on.')
                if verdict in ('does not compile', 'unaltered', 'not built'):
                    drawn_again[verdict] += 1
                    continue
                reason = reasons.get((line.file, line.text, to))
                if not verdict.startswith('killed') and reason:
                    verdict = 'equivalent'
                results[verdict] += 1
                if not verdict.startswith('killed'):
                    print(f'{verdict}: {line.file}:{line.numbers[0]}: `{line.text}` -> `{to}` ({reason or ", ".join(by) or "no kernel executes it"})', flush=True)
    total, killed = sum(results.values()), results['killed'] + results['killed by the compiler']
    print(f'seed {options.seed}: {total} mutants, {killed} killed ({results["killed by the compiler"]} by the compiler), {results["survived"]} survived, '
          f'{results["unreached"]} unreached, {results["equivalent"]} equivalent: {100 * killed / max(1, total):.1f} % are killed, '
          f'{100 * killed / max(1, total - results["equivalent"]):.1f} % of those that differ. '
          f'Drawn again: {drawn_again["not built"]} lines are in no build, {drawn_again["unaltered"]} left every object as it was, '
          f'{drawn_again["does not compile"]} do not compile.')


if __name__ == '__main__':
    main()
