"""./tw demo shows every described family on each of its targets, a bug and a timeline, in at most 40 lines.

usage: demo.py PROGRAM
"""
import os
import pathlib
import re
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
described = re.findall(r'^ *tw_described_family\((\w+) ', (ROOT / 'src/CMakeLists.txt').read_text(), re.MULTILINE)
assert described
for family in described:
    assert any(line.startswith(family + ' ') and '3 of 3' in line for line in lines), f'{family}:\n{run.stdout}'
assert 'WRONG' not in run.stdout
table = [line for line in lines[1:] if line.startswith(' ') or line.split(' ')[0] in described][:1 + len(described)]
assert len({len(line) for line in table}) == 1 and len(table) == 1 + len(described), 'The table is out of line:\n' + '\n'.join(table)
assert 'overwrite-while-read' in run.stdout and 'sets the pace' in run.stdout, run.stdout
assert '<svg' in page and 'input stage 0' in page
print(f'{len(lines)} lines show {", ".join(described)}.')
