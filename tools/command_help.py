"""What ./tw COMMAND --help says, without a build: tools/help/COMMAND.txt, and the families as their descriptions name them.

usage: command_help.py COMMAND
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DESCRIBED = re.compile(r'Description description = \{\s*"(\w+)",\s*"([^"]*)"')


def families():
    for path in sorted((ROOT / 'include/tilewright/family').glob('*/family.h'), key=lambda path: (path.parent.name != 'matmul', path)):
        yield DESCRIBED.search(path.read_text()).groups()


text = (ROOT / f'tools/help/{sys.argv[1]}.txt').read_text()
print(text.replace('@FAMILIES@\n', ''.join(f'  {name:28}{what}\n' for name, what in families())), end='')
