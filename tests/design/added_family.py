"""A family "row i of D is made of row (i + shift) mod m of A" is added to a copy of the tree that has matmul alone: at most 6 files and
120 lines of its own, and no other file is edited. With them it is listed, runs, is checked under many schedules, fuzzed and called
through the library, and bugs planted in it are found. Without them the tree is as it was.

usage: added_family.py --cmake CMAKE --folder FOLDER
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import tree

parser = argparse.ArgumentParser()
parser.add_argument('--cmake')
parser.add_argument('--folder', type=pathlib.Path)
request = parser.parse_args()
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(tree.ROOT / 'tests/planted'), str(HERE)]
import cost
from bug import WRONG_RESULT
from rotated_bugs import BUGS

template = HERE / 'rotated'
files = [file.relative_to(template) for file in sorted(template.rglob('*')) if file.is_file()]
lines = {str(file): cost.code_lines(file.name, (template / file).read_text()) for file in files}
print(lines)
assert len(files) <= 6, f'{len(files)} files'
assert sum(lines.values()) <= 120, f'{sum(lines.values())} lines'


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == status, f'{command} ends with {done.returncode}:\n{done.stdout[-3000:]}'
    return done.stdout


def build(*targets):
    run('ninja', '-C', copy / 'build', *targets)


copy = request.folder
tree.copy(copy)
for family in tree.families():
    if family != 'matmul':
        tree.remove(family, copy)
before = tree.contents(copy)
for file in files:
    (copy / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(template / file, copy / file)
after = tree.contents(copy)
assert sorted(set(after) - set(before)) == sorted(map(str, files)) and all(after[name] == text for name, text in before.items())

kernels = {'sm80': 'rotated_ampere', 'sm90a': 'rotated_128x128', 'sm100a': 'rotated_blackwell'}
tree.configure(request.cmake, copy, '-DTW_INSTANCES=^rotated_', '-DCMAKE_CXX_FLAGS_RELEASE=-O0')
build('tilewright_on_demand', 'tilewright_library', *(f'kernel_{name}' for name in kernels.values()))
program = copy / 'build/src/tilewright_on_demand'
listed = run(program, 'list')
for target, name in kernels.items():
    assert name in listed, listed
    assert 'exact' in run(program, 'run', 'rotated', '--arch', target, '--epilogue', 'bias,relu')
    run(program, 'check', 'rotated', '--arch', target, '--schedules', '8')
print(run(program, 'fuzz', 'rotated', '--minutes', '0.05', '--seed', '1', '--corpus', copy / 'found.txt').strip())

# The library knows it by its name.
described = run(sys.executable, '-B', '-c', f'''
import ctypes
library = ctypes.CDLL({str(copy / "build/src/library/libtilewright.so")!r})
library.tw_describe.restype = ctypes.c_char_p
print(library.tw_describe(b"rotated").decode())''')
assert '"shift"' in described, described

for bug in BUGS:
    header = copy / 'include/tilewright' / bug.file
    text = header.read_text()
    assert text.count(bug.line) == bug.of, f'{bug.file} has not {bug.of} lines `{bug.line}`'
    for site in bug.sites:
        options = ['run', 'rotated', '--arch', site.config, *site.problem]
        run(program, *options)
        header.write_text(text.replace(bug.line, bug.to))
        build(f'kernel_{kernels[site.config]}')
        said = run(program, *options, status=1)
        header.write_text(text)
        build(f'kernel_{kernels[site.config]}')
        expected = 'wrong result' if site.finding == WRONG_RESULT else site.finding
        assert expected in said, f'{bug.name}: expected {expected} and found\n{said}'
        print(f'{bug.name}: {site.finding}')

tree.remove('rotated', copy)
assert tree.contents(copy) == before, 'The family leaves something behind.'
tree.configure(request.cmake, copy)
build('tilewright_on_demand')
assert 'rotated' not in run(program, 'list')
shutil.rmtree(copy)
