#!/usr/bin/env python3
"""Changes single lines of the device headers and asks whether the virtual GPU notices.

usage: mutate.py --plant FILE --folder FOLDER [--count N] [--seed S] [--kernels N]     (FILE: options of tests/planted/plant.py)

A mutant is a line of a header with one operator, number, condition or statement changed (mutants.py). It is judged by kernels
that execute the line, which is known from their coverage: those of tests/planted, and of the library's those that have something
which these lack. They compute random problems under random schedules. A mutant is killed where a checker complains, the
result is wrong, the run stops or does not end, or where a static_assert or a constant expression fails. No mutants are lines
that no kernel's build contains, changes with which no line compiles, and changes that leave the objects of the kernels byte for
byte as they were: others are drawn instead. Survivors are printed with their line; those that tests/planted/equivalent.txt names
with a reason are equivalent to the original.

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

PROBLEMS = 12  # random ones of each kernel, and as many of its planted bugs'
SECONDS = 30  # that a run may take; the slowest of unaltered kernels takes two
# What the compiler says where it evaluates our own conditions.
EVALUATED = re.compile('static assertion failed|not a constant expression|constraints not satisfied|in a constant expression')


def features(config):
    """What tells kernels apart, but for sizes: the recipe on its page, and each choice among mechanisms, types and layouts."""
    fields = config.fields
    for one, of in ('Fp16', 'Bf16'), ('E5m2', 'E4m3'), ('E2m3', 'E3m2'):
        fields = fields.replace(f'ElementType::{one}', f'ElementType::{of}')
    choices = re.findall(r'\.\w+ = \w+::\w+|\.(?:exchanged|part_blocks|group|promote_every)\b', fields)
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
    digest = hashlib.sha256(repr(PROBLEMS).encode())
    for folder in 'include', 'vgpu', 'src/run', 'src/family':
        for path in sorted((ROOT / folder).rglob('*')):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def planted_problems(name):
    """Those in which bugs show: they go where random ones seldom do."""
    words = {tuple(site.words()) for bug in BUGS for site in bug.sites if site.config == name}
    return [list(one) for one in sorted(words)]


class Covered:
    """The unaltered kernels: which lines of headers their builds contain and execute, and trials that they pass."""

    def __init__(self, options, folder, seed):
        self.builder = plant.Builder(options, folder / 'plain', ['--coverage'])
        self.folder, self.seed = folder / f'covered_{seed}', seed
        self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, name):
        kept = self.folder / f'{name}.json'
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get('kernel') != repr(KERNELS[name]):
            found = {'kernel': repr(KERNELS[name]), **self.measured(name)}
            kept.write_text(json.dumps(found))
        return found

    def measured(self, name):
        draw = random.Random(f'{self.seed} {name}')
        folder = self.builder.folder / name
        begin = time.monotonic()
        program = self.builder.build(folder, KERNELS[name], [])
        # A kernel may refuse a random problem.
        randoms = [['--random', str(draw.randint(1, 1 << 30))] for _ in range(2 * PROBLEMS)]
        trials = []
        for among in planted_problems(name), randoms:
            passed = (trial for trial in among if self.passes(program, trial))
            trials += [trial for _, trial in zip(range(PROBLEMS), passed)]
        lines = self.lines(folder)
        shutil.rmtree(folder)
        return {'trials': trials, 'seconds': time.monotonic() - begin, 'lines': lines}

    @staticmethod
    def passes(program, trial):
        try:
            run = plant.Run(program, trial, SECONDS)
        except (plant.Wrong, subprocess.TimeoutExpired):
            return False
        return not (run.findings or run.incomplete or run.wrong_result)

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


class Judge:
    def __init__(self, options, folder, covered, most_kernels):
        self.builder = plant.Builder(options, folder / 'mutants')
        self.covered = covered
        self.most_kernels = most_kernels
        self.objects = {}
        self.choices = {name: {choice[-1] for choice in features(KERNELS[name]) if 'type' not in choice[-1]} for name in covered}
        self.by_seconds = sorted((name for name in covered if covered[name]['trials']), key=lambda name: covered[name]['seconds'])

    def reach(self, name, line):
        """None: the kernel's build does not contain the line. Otherwise whether it executes it."""
        header = self.covered[name]['lines'].get(line.file)
        if line.constant:
            is_there = header or KERNELS[name].header == f'tilewright/{line.file}'
            return True if is_there else None
        known = [header[str(number)] for number in line.numbers if str(number) in header] if header else []
        return any(known) if known else None

    def contained(self, line):
        return any(self.reach(name, line) is not None for name in self.by_seconds)

    def chosen(self, line):
        """Kernels that execute the line: the cheapest, then whichever has most that those before it lack."""
        names = [name for name in self.by_seconds if self.reach(name, line)]
        if line.constant:
            names.sort(key=lambda name: KERNELS[name].header != f'tilewright/{line.file}')
        order, known = names[:1], set()
        left = names[1:]
        while left:
            known |= self.choices[order[-1]]
            order.append(max(left, key=lambda name: len(self.choices[name] - known)))
            left.remove(order[-1])
        return order

    def is_unaltered(self, name, altered):
        """Whether the object is that of the kernel without a change."""
        plain = self.builder.once(self.objects, name, lambda: self.builder.compile(self.builder.folder / name, KERNELS[name], []).read_bytes())
        return altered == plain

    def judge(self, index, line, to):
        """'killed', 'killed by the compiler', 'survived', 'unreached', 'does not compile' or 'unaltered'; and by or with which kernels."""
        names = self.chosen(line)
        if not names:
            return 'unreached', []
        bug = Bug(f'mutant_{index}', '', line.file, line.text, to, [], line.of, line.occurrence)
        survived, refused = [], 0
        try:
            for name in names[:2 * self.most_kernels]:
                folder = self.builder.folder / bug.name / name
                try:
                    instance = self.builder.compile(folder, KERNELS[name], [self.builder.overlay(bug)])
                    if line.constant and self.is_unaltered(name, instance.read_bytes()):
                        continue  # of a constant it is not known who uses it
                    program = self.builder.link(instance)
                except plant.NotBuilt as error:
                    if EVALUATED.search(error.said):
                        return 'killed by the compiler', [name]
                    refused += 1
                    if refused > 2:
                        break  # operators that the types do not have
                    continue
                try:
                    for trial in self.covered[name]['trials']:
                        run = plant.Run(program, trial, SECONDS)
                        if run.findings or run.incomplete or run.wrong_result:
                            return 'killed', [name]
                except (plant.Wrong, subprocess.TimeoutExpired):
                    return 'killed', [name]
                survived.append(name)
                shutil.rmtree(folder)
                if len(survived) == self.most_kernels:
                    break
        finally:
            shutil.rmtree(self.builder.folder / bug.name, ignore_errors=True)
        return ('survived', survived) if survived else ('does not compile' if refused else 'unaltered', [])


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
    parser.add_argument('--seed', type=int, default=1, help='of the choice of mutants and of their problems')
    parser.add_argument('--kernels', type=int, default=12, help='that judge a mutant, at most')
    parser.add_argument('--jobs', type=int, default=2, help='at the same time')
    parser.add_argument('--again', action='store_true', help='judges survivors and unreached lines again, as after a kernel was added')
    parser.add_argument('--minutes', type=float, default=1e9, help='after which it stops; the same command then goes on')
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    build = plant.parsed([f'@{options.plant}'])
    begin(options.folder)
    covered = Covered(build, options.folder, options.seed)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def cover(name):
            return covered.of(name) if time.monotonic() < end else None

        found = dict(zip(KERNELS, pool.map(cover, KERNELS)))
        if None in found.values():
            sys.exit(f'{sum(one is not None for one in found.values())} of {len(found)} kernels are measured; the same command goes on.')
        print(f'{len(found)} kernels, {sum(len(one["trials"]) for one in found.values())} trials', flush=True)
        judge = Judge(build, options.folder, found, options.kernels)
        reasons = known_reasons()
        verdicts = Verdicts(options.folder / f'verdicts_{options.seed}.txt', options.again, reasons)
        candidates = list(all_mutants())
        random.Random(options.seed).shuffle(candidates)
        candidates = ((index, line, to) for index, (line, to) in enumerate(candidates) if judge.contained(line))
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
                if verdict in ('does not compile', 'unaltered'):
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
          f'Drawn again: {drawn_again["unaltered"]} left every object as it was, {drawn_again["does not compile"]} do not compile.')


if __name__ == '__main__':
    main()
