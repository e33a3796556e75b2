"""Runs every `./tw run` line of the corpus with the program; each must end with status 0.

usage: replay.py PROGRAM FOLDER

Lines for a GPU are skipped, visibly, where there is none. Lines that begin with # are comments.
"""
import pathlib
import shlex
import subprocess
import sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
ran = skipped = failed = 0
for path in sorted(folder.glob('*.txt')):
    if path.name == 'CMakeLists.txt':
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        words = shlex.split(line)
        if words[:2] != ['./tw', 'run']:
            sys.exit(f'{path}:{number}: is no ./tw run line')
        run = subprocess.run([program, *words[1:]], capture_output=True, text=True, timeout=120)
        if run.returncode == 2 and '--on gpu' in line:
            skipped += 1
        elif run.returncode != 0:
            failed += 1
            print(f'{path}:{number}: status {run.returncode}\n  {line}\n{run.stdout}{run.stderr}')
        else:
            ran += 1
print(f'{ran} lines of the corpus run clean, {failed} fail, {skipped} need a GPU that is not here.')
sys.exit(1 if failed else 0)
