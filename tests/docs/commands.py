"""docs/commands.md has the tables of commands, families and targets that the programs and headers give, and a sentence for
each family that a target has no kernel for; docs/random_problems.md has the same cells.

usage: commands.py TILEWRIGHT [--update]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))
import cost  # noqa: E402
import random_problems  # noqa: E402
PAGE = ROOT / 'docs/commands.md'
BEGIN, END = '<!-- made by tests/docs/commands.py -->\n', '<!-- end -->\n'

parser = argparse.ArgumentParser()
parser.add_argument('tilewright')
parser.add_argument('--update', action='store_true')
request = parser.parse_args()


def run(*words):
    return subprocess.run([request.tilewright, *words], capture_output=True, text=True)


def text(path):
    return (ROOT / path).read_text()


def has_subcommand(command, family):
    """A family of its own, or matmul, which is meant where none is named."""
    help_text = run(command, '--help').stdout
    listed = re.search(rf'^  {family}\b', help_text.partition('Subcommands')[2], re.MULTILINE)
    return bool(listed) or (family == 'matmul' and 'matmul' in help_text)


def first_of(family):
    return next(entry['instance'] for entry in entries if entry['family'] == family)


def is_fuzzed(family):
    with tempfile.TemporaryDirectory() as folder:
        done = run('fuzz', '--instance', first_of(family), '--minutes', '0.01', '--seed', '1', '--corpus', f'{folder}/found.txt')
    return done.returncode == 0


def is_traced(family):
    """A configuration of its own needs the field that TW_TRACED sets."""
    kernel = text(f'include/tilewright/family/{family}/kernel.h')
    return re.search(r'^struct \w+Config', kernel, re.MULTILINE) is None or 'Tracing tracing' in kernel


entries = json.loads(run('list', '--json').stdout.splitlines()[-1])
families = sorted({entry['family'] for entry in entries})
described = cost.families()
ROWS = {
    './tw list': lambda family: True,
    './tw explain': lambda family: run('explain', first_of(family)).returncode == 0,
    './tw run': lambda family: has_subcommand('run', family),
    './tw run --on gpu': lambda family: bool(re.search(r'--on .*\n?.*gpu', run('run', family, '--help').stdout)),
    './tw check': lambda family: has_subcommand('check', family),
    './tw fuzz': is_fuzzed,
    './tw trace': lambda family: has_subcommand('trace', family),
    './tw trace --on gpu': is_traced,
    './tw demo': lambda family: family in described,
    './tw bench': lambda family: family in described,
    './tw bench beside peers': lambda family: (ROOT / f'src/families/{family}_bench.cpp').exists(),
    './tw cost': lambda family: family in cost.families(),
    'C, C++': lambda family: (ROOT / f'include/tilewright/family/{family}/problem.h').exists(),
    'a Python function': lambda family: (ROOT / f'python/tilewright/families/{family}.py').exists(),
}
table = {row: {family: has(family) for family in families} for row, has in ROWS.items()}
lines = ['| | ' + ' | '.join(families) + ' |', '|---' * (len(families) + 1) + '|']
lines += [f'| `{row}` |' .replace('`C, C++`', 'C, C++').replace('`a Python function`', 'a Python function')
          + ''.join(' yes |' if cells[family] else ' no |' for family in families) for row, cells in table.items()]
holes = [f'{row.removeprefix("./tw ")} of {family}' for row, cells in table.items() for family in families if not cells[family]]
lines += ['', f'Missing: {", ".join(holes) or "nothing"}.']

# The targets of pages, and what runs on devices of others.
TARGETS = re.findall(r'TargetFacts \w+ = \{"(\w+)"', text('include/tilewright/arch/target.h'))
OLDER = {'sm90a': ('sm80', 'sm80_onwards'), 'sm100a': ('sm80_onwards',)}


def cell(family, target):
    listed = text(f'include/tilewright/family/{family}/instances.txt')
    pages = {line.partition('|')[0] for line in listed.splitlines() if '|' in line and not line.startswith('#')}
    if any(re.fullmatch(target.rstrip('a') + r'a?(_\w+)?', page) for page in pages):
        return 'yes'
    return 'as sm80' if pages & set(OLDER.get(target, ())) else '-'


cells = {(family, target): cell(family, target) for family in families for target in TARGETS}
lines += ['', '| | ' + ' | '.join(families) + ' |', '|---' * (len(families) + 1) + '|']
lines += [f'| {target} |' + ''.join(f' {cells[family, target]} |' for family in families) for target in TARGETS]
empty = {f'{family} on {target}' for (family, target), what in cells.items() if what == '-'}


def wrapped(line):
    if line.startswith('|'):
        return line
    result = ['']
    for word in line.split():
        if len(result[-1]) + len(word) > 98:
            result.append('')
        result[-1] += (' ' if result[-1] else '') + word
    return '\n'.join(result)


made = BEGIN + '\n'.join(wrapped(line) for line in lines) + '\n' + END
page = PAGE.read_text()
begin, end = page.index(BEGIN), page.index(END) + len(END)
told = set(re.findall(r'^- `(\w+ on \w+)`: ', page[end:], re.MULTILINE))
if request.update:
    for filled in told - empty:
        page = re.sub(rf'^- `{filled}`: .*\n(?:  .*\n)*', '', page, flags=re.MULTILINE)
    told &= empty
MOST_EMPTY = 6
if len(empty) > MOST_EMPTY:
    sys.exit(f'The table of families by targets has {len(empty)} empty cells, but at most {MOST_EMPTY}: {sorted(empty)}.')
if told != empty:
    sys.exit(f'docs/commands.md has no sentence for {sorted(empty - told)}, and one too many for {sorted(told - empty)}.')
drawn = random_problems.table(random_problems.PAGE.read_text())
undrawn = sorted(f'{family} on {target}' for (family, target), what in cells.items()
                 if (what == 'yes') != (drawn.get((family, target), random_problems.NONE) != random_problems.NONE))
if undrawn:
    sys.exit(f'docs/random_problems.md has not the cells of this table: {undrawn}; tools/random_problems.py writes it.')
if request.update:
    PAGE.write_text(page[:begin] + made + page[end:])
elif page[begin:end] != made:
    sys.exit(f'docs/commands.md is not what the programs give; tests/docs/commands.py TILEWRIGHT --update writes:\n{made}')
print(f'{len(families)} families, {len(ROWS)} commands, {len(holes)} holes.')
