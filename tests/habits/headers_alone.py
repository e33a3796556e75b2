"""Every header compiles alone, without what others would have included before it.

A header that another includes first is compiled alone there: only those that none includes first are compiled. Standard
headers before it are not seen through.

usage: headers_alone.py COMPILER FOLDER   (FOLDER has the headers that the build makes)
"""
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / 'include'
NEEDS_NVCC = {'tilewright/kernel/entry.h'}


def first_include(header):
    found = re.search(r'^#include "(.+?)"', header.read_text(), re.M)
    return found and found.group(1)


headers = {str(header.relative_to(INCLUDE)): first_include(header) for kind in ('*.h', '*.hpp') for header in sorted(INCLUDE.rglob(kind))}
alone = [name for name in headers if name not in headers.values() and name not in NEEDS_NVCC]
with tempfile.TemporaryDirectory() as folder:
    sources = []
    for number, name in enumerate(alone):
        sources.append(pathlib.Path(folder, f'{number}.cpp'))
        sources[-1].write_text(f'#include "{name}"\n')
    command = [sys.argv[1], '-std=c++20', '-fsyntax-only', '-w', f'-I{INCLUDE}', f'-I{sys.argv[2]}', *sources]
    done = subprocess.run(command, capture_output=True, text=True)
if done.returncode != 0:
    sys.exit(f'Headers do not compile alone:\n{done.stderr}')
print(f'{len(alone)} of {len(headers)} headers were compiled, of which the others are the first.')
