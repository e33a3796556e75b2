"""Pictures in docs/ are what ./tw layout and ./tw explain draw: every command that a page shows is run again.

usage: pictures.py ROOT PROGRAM
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
COMMAND = re.compile(r"\./tw ((?:layout '[^'\n]+'[^\n]* -o|explain \w+ --svg) docs/(pictures/\w+\.svg))$", re.M)

drawn = set()
for page in sorted((root / 'docs').glob('*.md')):
    text = page.read_text()
    for command, picture in COMMAND.findall(text):
        with tempfile.TemporaryDirectory() as folder:
            words = shlex.split(command)
            fresh = pathlib.Path(folder) / 'fresh.svg'
            subprocess.run([program, *words[:-1], fresh], check=True, capture_output=True)
            if fresh.read_text() != (root / 'docs' / picture).read_text():
                sys.exit(f'docs/{picture} is not what is drawn now; run: ./tw {command}')
        if f']({picture})' not in text:
            sys.exit(f'{page.name} draws {picture}, but does not show it.')
        drawn.add(picture)
there = {f'pictures/{file.name}' for file in (root / 'docs/pictures').iterdir()}
if not drawn or drawn != there:
    sys.exit(f'No page says how these were drawn: {sorted(there - drawn)}')
print(f'{len(drawn)} pictures are fresh.')
