"""Unpacks the archive of ./tw package into an empty folder, builds a project that finds Tilewright there, runs its programs.

usage: consume.py ARCHIVE|BUILD PROJECT [PROGRAM...] [--finds PROGRAM WORDS] [-D SETTING...]

Of a build folder the parts alone are installed, which need no library. A program may have arguments behind it, in one word. A program of --finds ends with 1 and prints the words.
"""
import argparse
import pathlib
import shlex
import subprocess
import sys
import tarfile
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('archive')
parser.add_argument('project')
parser.add_argument('programs', nargs='*')
parser.add_argument('--finds', nargs=2, action='append', default=[])
parser.add_argument('-D', dest='settings', action='append', default=[])
request = parser.parse_args()


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != status:
        sys.exit(f'{" ".join(map(str, command))} ends with {done.returncode}:\n{done.stdout[:4000]}')
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    tree, build = pathlib.Path(folder) / 'tree', pathlib.Path(folder) / 'build'
    if pathlib.Path(request.archive).is_dir():
        run('cmake', '--install', request.archive, '--component', 'parts', '--prefix', tree)
    else:
        with tarfile.open(request.archive) as archive:
            archive.extractall(tree)
        [tree] = tree.iterdir()
    run('cmake', '-G', 'Ninja', '-S', request.project, '-B', build, f'-DCMAKE_PREFIX_PATH={tree}',
        *(f'-D{setting}' for setting in request.settings))
    run('cmake', '--build', build)

    def command(program):
        name, *arguments = shlex.split(program)
        return [build / name, *arguments]

    for program in request.programs:
        print(f'{program}: {run(*command(program)).strip()}')
    for program, words in request.finds:
        printed = run(*command(program), status=1).strip()
        if words not in printed:
            sys.exit(f'{program} does not print "{words}":\n{printed[:4000]}')
        print(f'{program}: {printed}')
print(f'{pathlib.Path(request.project).name} is built against {pathlib.Path(request.archive).name}.')
