"""./tw COMMAND --help tells the options of every command without a build: in a tree of the script, tools/ and sources, without cmake and
ninja. What it tells of programs is what they take.

usage: help.py SCRIPT PROGRAM PTX_PROGRAM PROVE_PROGRAM [--update]   (--update: writes what they print to tools/help)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCRIPT, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
OWN_PROGRAMS = {'ptx': sys.argv[3], 'prove': sys.argv[4]}
ROOT = SCRIPT.parent
NAMES = [path.parent.name for path in (ROOT / 'include/tilewright/family').glob('*/family.h')]
OF_PROGRAM = (*OWN_PROGRAMS, 'run', 'check', 'trace', 'fuzz', 'explain', 'list', 'layout')


def options_in(text):
    return set(re.findall(r'^ +(?:-\w,)?(--[\w-]+)', text, re.MULTILINE)) - {'--help'}


def printed(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, **how)
    assert done.returncode == 0 and done.stderr == '', f'{command}: {done}'
    return done.stdout


environment = {name: value for name, value in os.environ.items() if name != 'TW_CHECKOUT'}
for command in OF_PROGRAM:
    file = ROOT / f'tools/help/{command}.txt'
    asked = [OWN_PROGRAMS[command]] if command in OWN_PROGRAMS else [PROGRAM, command]
    text = printed(*asked, '--help', env=environment)
    if '--update' in sys.argv:
        families = re.compile(rf'(?:^  (?:{"|".join(NAMES)}) +.*\n)+', re.MULTILINE)
        file.write_text(families.sub('@FAMILIES@\n', text))
    assert printed(sys.executable, ROOT / 'tools/command_help.py', command) == text, f'{file} is not what {asked} --help prints; tests/cli/help.py {" ".join(sys.argv[1:5])} --update writes it.'

commands = re.findall(r'^  (\w+) ', printed(SCRIPT, 'help'), re.MULTILINE)
assert len(commands) >= 16, commands
told = {}
with tempfile.TemporaryDirectory() as folder:
    tree, tools = pathlib.Path(folder) / 'tree', pathlib.Path(folder) / 'bin'
    tools.mkdir()
    for name in 'bash', 'env', 'dirname', 'readlink', 'cat', 'python3':
        (tools / name).symlink_to(shutil.which(name))
    for part in 'tools', 'src/bench', 'tests/planted', 'include/tilewright/family':
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(SCRIPT, tree / 'tw')
    before = sorted(tree.rglob('*'))
    bare = {'PATH': str(tools), 'PYTHONDONTWRITEBYTECODE': '1'}
    for words in [[command] for command in commands] + [['fuzz', '--interface'], ['bench', 'matmul'], ['test', '--all'], ['library', '--parts']]:
        for option in '--help', '-h':
            text = printed(tree / 'tw', *words, option, env=bare)
            assert re.search(r'usage: ', text, re.IGNORECASE) and '--help' in text, f'{words}: {text}'
        told[' '.join(words)] = options_in(text)
    assert sorted(tree.rglob('*')) == before, 'Asking for help wrote something.'

for command, file in ('bench', 'options.cpp'), ('tune', 'tune_command.cpp'):
    source = (ROOT / 'src/bench/harness' / file).read_text()
    takes = set(re.findall(r'add_(?:option|flag)\(\s*"!?(--[\w-]+)"', source))
    assert takes == told[command], f'{command}: {takes ^ told[command]}'
assert told['fuzz --interface'] == set(re.findall(r'name == "(--\w+)"', (ROOT / 'tests/hostile/main.cpp').read_text())), told
script = SCRIPT.read_text()
for command in 'demo', 'info', 'test', 'library', 'package':
    assert all(option in script for option in told[command]), f'{command}: {told[command]}'
assert told['library'] == {'--prefix', '--parts'} and told['package'] == {'--to'} and told['test'] == {'--all'} and told['demo'] == set(), told
print(f'{len(commands)} commands tell {sum(map(len, told.values()))} options.')
