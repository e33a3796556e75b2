"""Unpacks the archive of ./tw package into an empty folder, builds a project that finds Tilewright there, runs its programs.

usage: consume.py ARCHIVE|BUILD PROJECT [PROGRAM...] [--finds PROGRAM WORDS] [--lists TILEWRIGHT PLUGIN WORDS] [--page FILE PROGRAM] [-D SETTING...]

With --lists ./tw list is asked for the kernels of a PLUGIN of the project, and prints a line with the words; and for those of another file, which it refuses.
Of a build folder the parts alone are installed, which need no library. A program may have arguments behind it, in one word. A program
of --finds ends with 1 and prints the words. The lines of a page of docs that call the PROGRAM of --page are executed, shortened as those
of ./tw are: a line that is followed by "tw: ..." is refused in these words. What other programs print stands behind their name, where the
page has that as a line. Blocks of the page that begin with ./tw library --prefix are executed but for that line.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'docs'))
from documents import ROOT, shortened

parser = argparse.ArgumentParser()
parser.add_argument('archive')
parser.add_argument('project')
parser.add_argument('programs', nargs='*')
parser.add_argument('--finds', nargs=2, action='append', default=[])
parser.add_argument('--lists', nargs=3, default=())
parser.add_argument('--page', nargs=2, default=())
parser.add_argument('-D', dest='settings', action='append', default=[])
request = parser.parse_args()


def run(*command, status=0, folder=None, plugin=''):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env=os.environ | {'TW_PLUGIN': str(plugin)})
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
    # The package must do without the place that it was built in.
    scripts = list(tree.rglob('*.cmake'))
    if not scripts:
        sys.exit('The package has no file for find_package(Tilewright).')
    for file in scripts:
        if str(ROOT) in file.read_text():
            sys.exit(f'{file.relative_to(tree)} points into the tree that it was built from.')
    run('cmake', '-G', 'Ninja', '-S', request.project, '-B', build, f'-DCMAKE_PREFIX_PATH={tree}',
        *(f'-D{setting}' for setting in request.settings))
    run('cmake', '--build', build)

    def command(program):
        name, *arguments = shlex.split(program)
        return [build / name, *arguments]

    shown = pathlib.Path(request.page[0]).read_text() if request.page else ''
    for program in request.programs:
        printed, name = run(*command(program)), program.split('/')[-1]
        if f'\n{name}\n' in shown and f'\n{name}\n{printed}```\n' not in shown:
            sys.exit(f'{request.page[0]} says that {name} prints other lines than these:\n{printed}')
        print(f'{program}: {printed.strip()}')
    if request.page:
        page, program = request.page
        # What a reader types once the package is there, with another home.
        for block in re.findall(r'```\n\./tw library [^\n]* --prefix ~/tilewright\n(.*?)```', shown, re.DOTALL):
            lines = block.splitlines()
            typed = [line for line in lines if line.startswith(('cmake ', 'cp '))]
            printed = run('bash', '-ec', '\n'.join([f'export HOME={folder}', f'ln -sfn {tree} ~/tilewright', *typed]), folder=ROOT)
            missing = [line for line in lines if line not in typed and line not in printed]
            if missing:
                sys.exit(f'{page} says that {typed[-1]} prints {missing}:\n{printed[-4000:]}')
            print(f'{typed[-1]}: as the page says')
        lines = shown.splitlines()
        called = [i for i, line in enumerate(lines) if line.startswith(pathlib.Path(program).name + ' ')]
        assert called, f'{page} does not call {program}'
        for i in called:
            words = shortened(shlex.split(lines[i])[1:], folder)
            refusal = lines[i + 1] if lines[i + 1].startswith('tw: ') else ''
            printed = run(build / program, *words, status=2 if refusal else 0, folder=folder)
            if refusal not in printed:
                sys.exit(f'{lines[i]} does not print "{refusal}":\n{printed[:4000]}')
            print(f'{lines[i]}: as the page says')
    for program, words in request.finds:
        printed = run(*command(program), status=1).strip()
        if words not in printed:
            sys.exit(f'{program} does not print "{words}":\n{printed[:4000]}')
        print(f'{program}: {printed}')
    if request.lists:
        tilewright, plugin, words = request.lists
        if words not in [' '.join(line.split()) for line in run(tilewright, 'list', plugin=build / plugin).splitlines()]:
            sys.exit(f'./tw list does not print "{words}" of the plug-in {plugin}.')
        refusal = run(tilewright, 'list', plugin='libm.so.6', status=2)
        if not refusal.startswith("tw: TW_PLUGIN: The plug-in 'libm.so.6' has no function tw_plugin"):
            sys.exit(f'./tw list takes libm.so.6 for a plug-in:\n{refusal}')
        print(f'./tw list: {words}')
print(f'{pathlib.Path(request.project).name} is built against {pathlib.Path(request.archive).name}.')
