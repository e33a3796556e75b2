"""A family "row i of D is made of row (i + shift) mod m of A" costs at most 120 lines in at most 6 files: with them it is
listed, runs, is checked under many schedules and fuzzed, and bugs planted in it are found.

usage: added_family.py PROGRAM --root ROOT --compiler CXX --instances FOLDER --link LIBRARY...
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('program')
parser.add_argument('--root', type=pathlib.Path)
parser.add_argument('--compiler')
parser.add_argument('--instances', type=pathlib.Path)
parser.add_argument('--link', nargs='+')
request = parser.parse_args()
root = request.root
sys.dont_write_bytecode = True
sys.path[:0] = [str(root / 'tools'), str(root / 'tests/planted'), str(root / 'tests/design/rotated')]
import cost
from bug import WRONG_RESULT
from rotated_bugs import BUGS

# What stands in the family's files, and the line of src/CMakeLists.txt that registers it.
folder = root / 'tests/design/rotated'
files = [file for file in sorted(folder.rglob('*')) if file.is_file() and '__pycache__' not in file.parts]
lines = {str(file.relative_to(folder)): cost.code_lines(file.name, file.read_text()) for file in files}
print(lines)
assert len(files) + 1 <= 6, f'{len(files)} files and src/CMakeLists.txt'
assert sum(lines.values()) + 1 <= 120, f'{sum(lines.values())} lines and one that registers the family'


def run(program, *words, status=0):
    done = subprocess.run([str(program), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == status, f'{words} ends with {done.returncode}:\n{done.stdout[:3000]}'
    return done.stdout


for target in 'sm80', 'sm90a', 'sm100a':
    assert target in run(request.program, 'list')
    assert 'exact' in run(request.program, 'run', 'rotated', '--arch', target, '--epilogue', 'bias,relu')
    run(request.program, 'check', 'rotated', '--arch', target, '--schedules', '8')
print(run(request.program, 'fuzz', '--minutes', '0.05', '--seed', '1').strip())


def planted(bug, overlay):
    """The program with one line of a header changed."""
    source = folder / 'include/tilewright' / bug.file
    text = source.read_text()
    assert text.count(bug.line) == bug.of, f'{bug.file} has not {bug.of} lines `{bug.line}`'
    target = overlay / 'tilewright' / bug.file
    target.parent.mkdir(parents=True)
    target.write_text(text.replace(bug.line, bug.to))
    program = overlay / 'planted'
    sources = [*request.instances.glob('rotated_*.cpp'), request.instances / 'table.cpp', folder / 'run/rotated.cpp',
               root / 'tests/design/rotated_main.cpp']
    subprocess.run([request.compiler, '-std=c++20', '-O0', '-DTW_INSTANCE_WITH_CUDA=0', '-DTW_INSTANCE_WITH_VGPU=1', f'-I{overlay}', f'-I{folder}/include', f'-I{root}/include',
                    f'-I{root}', *map(str, sources), *request.link, '-o', str(program)], check=True)
    return program


for bug in BUGS:
    with tempfile.TemporaryDirectory() as overlay:
        program = planted(bug, pathlib.Path(overlay))
        for site in bug.sites:
            options = ['run', 'rotated', '--arch', site.config, *site.problem]
            run(request.program, *options)
            said = run(program, *options, status=1)
            expected = 'wrong result' if site.finding == WRONG_RESULT else site.finding
            assert expected in said, f'{bug.name}: expected {expected} and found\n{said}'
            print(f'{bug.name}: {site.finding}')
