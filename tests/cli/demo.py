"""./tw demo shows every described family on each of its targets, a bug and a timeline, in at most 40 lines.

usage: demo.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / 'out').mkdir()
    run = subprocess.run([sys.argv[1]], capture_output=True, text=True, env={**os.environ, 'TW_CHECKOUT': folder})
    assert run.returncode == 0, run.stdout + run.stderr
    page = (pathlib.Path(folder) / 'out/demo.html').read_text()
lines = run.stdout.splitlines()
assert len(lines) <= 40, f'{len(lines)} lines'
assert max(map(len, lines)) <= 130, max(lines, key=len)
described = [path.parent.name for path in (ROOT / 'include/tilewright/family').glob('*/instances.txt')]
assert described
# The target of a page's kernels. Those of Ampere run on Hopper, too, and some on Blackwell; the table says so where there is no other.
TARGET = {'sm80': 'sm80', 'sm80_onwards': 'sm80', 'sm90': 'sm90a', 'sm100': 'sm100a',
          'gfx942': 'gfx942', 'gfx950': 'gfx950'}
header = next(line.split() for line in lines if line.split()[:1] == ['sm80'])
shown = {line.split()[0]: [line[17 + 10 * i:27 + 10 * i].strip() for i in range(len(header))]
         for line in lines if line.split()[:1] and line.split()[0] in described}
assert sorted(shown) == sorted(described), f'{sorted(set(described) - set(shown))} are missing:\n{run.stdout}'
for family, cells in shown.items():
    pages = {line.split('|')[0] for line in
             (ROOT / f'include/tilewright/family/{family}/instances.txt').read_text().splitlines()
             if line and not line.startswith('#')}
    own = {TARGET.get(page, TARGET[page.split('_')[0]]) for page in pages}
    ampere_runs_on = {'sm90a'} if 'sm80' in own else set()
    if any(page.endswith('onwards') for page in pages):
        ampere_runs_on.add('sm100a')
    for target, cell in zip(header, cells):
        expected = '3 of 3' if target in own else 'as sm80' if target in ampere_runs_on else '-'
        assert cell == expected, f'{family} on {target}: {cell}, but by its instances {expected}\n{run.stdout}'
assert 'WRONG' not in run.stdout
table = [line for line in lines[1:] if line.startswith(' ') or line.split(' ')[0] in described][:1 + len(described)]
assert len({len(line) for line in table}) == 1 and len(table) == 1 + len(described), 'The table is out of line:\n' + '\n'.join(table)
assert 'overwrite-while-read' in run.stdout and 'sets the pace' in run.stdout, run.stdout
assert '<svg' in page and 'input stage 0' in page
print(f'{len(lines)} lines show {", ".join(described)}.')
