"""Without a family's own files nothing else names it, and the tree is still configured: for every family but matmul, of which the other
products are made.

usage: removed_family.py --cmake CMAKE
"""
import argparse
import pathlib
import re
import tempfile

import tree
from cost import without_comments

parser = argparse.ArgumentParser()
parser.add_argument('--cmake')
cmake = parser.parse_args().cmake
SOURCES = ('.h', '.hpp', '.cpp', '.cu', '.in', '.py', '.txt', '.cmake')


def camel(family):
    return ''.join(word.capitalize() for word in family.split('_'))


def names(family):
    """How C++, C, CMake and Python name a family: its headers, types, tables, targets and modules."""
    return re.compile(rf'family/{family}/|src/families/{family}[._]|\b{camel(family)}(Family|Launch|Config|Facts)\b|\btw_{family}\b|'
                      rf'\btw_{family}_problem\b|\b{family}_(instances|trial|form)\b|tilewright_{family}\b|families\.{family}\b')


def strays(root, family):
    for name, text in tree.contents(root).items():
        if name.endswith(SOURCES) and not name.startswith('tools/'):
            for number, line in enumerate(without_comments(name, text.decode()).split('\n'), 1):
                if names(family).search(line):
                    yield f'{name}:{number}: {line.strip()}'


found = []
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder)
    tree.copy(copy)
    for family in tree.families():
        if family == 'matmul':
            continue
        own = [path for paths in tree.files_of(family, copy).values() for path in paths]
        kept = {path: path.read_bytes() for path in own}
        assert len(own) >= 6, f'{family} has the files {own}: this test looks in the wrong places.'
        tree.remove(family, copy)
        found += [f'{family} is removed, but named in {stray}' for stray in strays(copy, family)]
        tree.configure(cmake, copy)
        print(f'{family}: {len(own)} files')
        for path, text in kept.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text)
print('\n'.join(found) or 'Every family can be removed.')
raise SystemExit(1 if found else 0)
