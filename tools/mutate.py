#!/usr/bin/env python3
"""Changes single lines of the device headers and asks whether the virtual GPU notices.

usage: mutate.py --plant FILE --folder FOLDER [--count N] [--seed S] [--kernels N]     (FILE: options of tests/planted/plant.py)

A mutant is a line of a header with one operator, number, condition or statement changed. It is judged by kernels of
tests/planted that execute the line (known from their coverage): random problems under random schedules. It is killed
where a checker complains, the result is wrong, or the run stops. Survivors are printed with their line; those that
tests/planted/equivalent.txt names with a reason are equivalent to the original.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests/planted'))
import plant
from bug import Bug, CONFIGS

FOLDERS = ('accumulator', 'arch', 'epilogue', 'family', 'io', 'kernel', 'op', 'pipeline', 'schedule')
# What says something of a program rather than doing it, or is checked by the compiler alone.
NOT_MUTATED = re.compile(r'^(#|//|\*|static_assert|using |template|namespace|require\(|TW_UNROLL|isa::describe|struct |class |case |default:|public|private|return;?$|[{}\]);]*$)'
                         r'|static constexpr (const )?char|[tT]race|\.name|"')
OPERATORS = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
             (r' \+ ', ' - '), (r' - ', ' + '), (r' \* ', ' + '), (r' / ', ' * '), (r' % ', ' / '), (r' && ', ' || '),
             (r' \|\| ', ' && '), (r' \? ', ' && false ? ')]
# Descriptions of problems are the host's.
DESCRIBES = re.compile(r'family/(\w+/(family|problem)|description|product|scales)\.h')
PROBLEMS = 6  # of each kernel


def mutations(line):
    """Every changed version of a line, without its indent."""
    found = []
    for pattern, to in OPERATORS:
        found += [line[:at.start()] + to + line[at.end():] for at in re.finditer(pattern, line)]
    for at in re.finditer(r'(?<![\w.:])(\d+)u?(?![\w.:])', line):
        found.append(line[:at.start()] + str(int(at.group(1)) + 1) + line[at.end():])
    condition = re.match(r'(} else )?if \((?!constexpr)(.*)\)( \{| return.*;| continue;)?$', line)
    if condition:
        found.append(f'{condition.group(1) or ""}if (!({condition.group(2)})){condition.group(3) or ""}')
    if re.match(r'[\w:.>\-]+(<[^;]*>)?\(.*\);$', line) and line.count('(') == line.count(')'):
        found.append(';')
    return found


def lines_of_headers():
    """(file under include/tilewright, line without indent, how many such lines, which of them, its number).

    The number is 0 where the line is evaluated by the compiler: no run executes it, every kernel with the header has it.
    """
    for folder in FOLDERS:
        for path in sorted((ROOT / 'include/tilewright' / folder).rglob('*.h')):
            name = str(path.relative_to(ROOT / 'include/tilewright'))
            if DESCRIBES.match(name):
                continue
            texts = [line.strip() for line in path.read_text().splitlines()]
            seen = collections.Counter()
            depth, constant_until, requires = 0, None, False
            for number, text in enumerate(texts, 1):
                if constant_until is None and 'consteval' in text:
                    constant_until = depth
                requires = requires or text.startswith(('require(', 'static_assert('))
                if not requires and not NOT_MUTATED.search(text):
                    constant = constant_until is not None or re.match(r'(static |inline )*constexpr \w', text)
                    yield name, text, texts.count(text), seen[text], 0 if constant else number
                requires = requires and not text.endswith(';')
                depth += text.count('{') - text.count('}')
                if constant_until is not None and depth <= constant_until and ('}' in text or text.endswith(';')):
                    constant_until = None
                seen[text] += 1


class Covered:
    """The plain kernels: which lines of headers each executes, and trials that it passes."""

    def __init__(self, options, folder, seed):
        self.builder = plant.Builder(options, folder / 'plain', ['--coverage'])
        self.seed = seed

    def of(self, name):
        draw = random.Random(f'{self.seed} {name}')
        folder = self.builder.folder / name
        program = self.builder.build(folder, CONFIGS[name], [])
        trials = []
        for _ in range(3 * PROBLEMS):  # a kernel may refuse a problem
            trial = ['--random', str(draw.randint(1, 1 << 30))]
            try:
                run = plant.Run(program, trial)
            except (plant.Wrong, subprocess.TimeoutExpired):
                continue
            if not (run.findings or run.incomplete or run.wrong_result):
                trials.append(trial)
            if len(trials) == PROBLEMS:
                break
        return self.executed(folder), trials

    @staticmethod
    def executed(folder):
        lines = collections.defaultdict(set)
        for data in folder.glob('*.gcda'):
            said = subprocess.run(['gcov', '--json-format', '--stdout', data.name], cwd=folder, capture_output=True, text=True)
            for document in said.stdout.splitlines():
                for file in json.loads(document)['files']:
                    if '/include/tilewright/' in file['file']:
                        header = file['file'].split('/include/tilewright/')[1]
                        lines[header] |= {line['line_number'] for line in file['lines'] if line['count'] > 0}
        return lines


def judge(builder, mutant, names, trials):
    """'killed', 'survived', or 'does not compile'; and by or with which kernels."""
    site_bug = Bug(mutant.name, '', mutant.file, mutant.line, mutant.to, [], mutant.of, mutant.occurrence)
    compiled = []
    for name in names:
        try:
            program = builder.planted(site_bug, argparse.Namespace(config=name))
        except plant.Wrong:
            continue  # a kernel for which the line no longer compiles cannot be wrong
        compiled.append(name)
        try:
            for trial in trials[name]:
                run = plant.Run(program, trial)
                if run.findings or run.incomplete or run.wrong_result:
                    return 'killed', [name]
        except (plant.Wrong, subprocess.TimeoutExpired):
            return 'killed', [name]
        finally:
            program.unlink()
    return ('survived', compiled) if compiled else ('does not compile', [])


def known_reasons():
    """file | line | changed line | reason, one in a line."""
    path = ROOT / 'tests/planted/equivalent.txt'
    rows = [line.split(' | ') for line in path.read_text().splitlines() if line and not line.startswith('#')]
    return {tuple(row[:3]): row[3] for row in rows}


def main():
    parser = argparse.ArgumentParser(prog='tw mutate')
    parser.add_argument('--plant', required=True, help=argparse.SUPPRESS)
    parser.add_argument('--folder', type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument('--count', type=int, default=150, help='mutants that compile')
    parser.add_argument('--seed', type=int, default=1, help='of the choice of mutants and of their problems')
    parser.add_argument('--kernels', type=int, default=4, help='that judge a mutant, at most')
    options = parser.parse_args()
    build = plant.parsed([f'@{options.plant}'])
    draw = random.Random(options.seed)
    covered = Covered(build, options.folder, options.seed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(CONFIGS, pool.map(covered.of, CONFIGS)))
        executed = {name: lines for name, (lines, _) in found.items()}
        trials = {name: trials for name, (_, trials) in found.items()}
        print(f'{len(CONFIGS)} kernels, {sum(map(len, trials.values()))} trials', flush=True)
        builder = plant.Builder(build, options.folder / 'mutants')
        candidates = [(line, to) for line in lines_of_headers() for to in mutations(line[1])]
        draw.shuffle(candidates)
        reasons, results = known_reasons(), collections.Counter()

        def one(item):
            index, ((file, line, of, occurrence, number), to) = item
            mutant = argparse.Namespace(name=f'mutant_{index}', file=file, line=line, to=to, of=of, occurrence=occurrence)
            names = [name for name in CONFIGS if trials[name] and (number in executed[name][file] or (number == 0 and executed[name][file]))]
            random.Random(f'{options.seed} {index}').shuffle(names)
            if not names:
                return 'unreached', mutant, []
            verdict, by = judge(builder, mutant, names[:options.kernels], trials)
            return verdict, mutant, by

        remaining = enumerate(candidates)
        while sum(results.values()) < options.count:
            batch = [item for _, item in zip(range(min(16, options.count - sum(results.values()))), remaining)]
            if not batch:
                break
            for verdict, mutant, by in pool.map(one, batch):
                if verdict == 'does not compile':
                    continue
                reason = reasons.get((mutant.file, mutant.line, mutant.to))
                if verdict != 'killed' and reason:
                    verdict = 'equivalent'
                results[verdict] += 1
                if verdict != 'killed':
                    print(f'{verdict}: {mutant.file}: `{mutant.line}` -> `{mutant.to}` ({reason or ", ".join(by) or "no kernel executes it"})', flush=True)
    total = sum(results.values())
    judged = total - results['equivalent']
    print(f'seed {options.seed}: {total} mutants, {results["killed"]} killed, {results["survived"]} survived, {results["unreached"]} unreached, '
          f'{results["equivalent"]} equivalent: {100 * results["killed"] / max(1, judged):.1f} % of those that differ are killed.')


if __name__ == '__main__':
    main()
