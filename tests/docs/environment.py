"""docs/environment.md names every variable of the environment and of CMake that the code reads, and no other.

usage: environment.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('include', 'src', 'vgpu', 'python', 'tools', 'tests', 'bench', 'examples')
READ = [re.compile(r'''(?:getenv\(|environ(?:\.get)?[\[(])\s*['"]((?:TW|TILEWRIGHT)_[A-Z0-9_]+)['"]''')]
IN_SHELL = re.compile(r'\$\{?((?:TW|TILEWRIGHT)_[A-Z0-9_]+)')
IN_CMAKE = re.compile(r'^\s*(?:option|find_program|find_library|find_path)\((TW_[A-Z_]+)|^\s*set\((TW_[A-Z_]+) [^)]*?\bCACHE\b', re.MULTILINE)


def files():
    yield from (ROOT / 'tw', ROOT / 'CMakeLists.txt', ROOT / '.ci/run')
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob('*') if path.is_file() and '__pycache__' not in path.parts)


def names_in(path):
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return set()
    if path.name == 'CMakeLists.txt':
        return {one or other for one, other in IN_CMAKE.findall(text)}
    found = {name for pattern in READ for name in pattern.findall(text)}
    return found | set(IN_SHELL.findall(text)) if text.startswith('#!/usr/bin/env bash') else found


read = {name: path for path in files() for name in names_in(path)}
table = re.findall(r'^\| (`[^|]*) \|', (ROOT / 'docs/environment.md').read_text(), re.MULTILINE)
told = {name for cell in table for name in re.findall(r'`([A-Z0-9_]+)`', cell)}
assert len(read) > 15, read
wrong = [f'docs/environment.md has no {name}, which {path.relative_to(ROOT)} reads.' for name, path in sorted(read.items()) if name not in told]
wrong += [f'docs/environment.md has {name}, which nothing reads.' for name in sorted(told - set(read))]
if wrong:
    sys.exit('\n'.join(wrong))
print(f'{len(told)} variables.')
