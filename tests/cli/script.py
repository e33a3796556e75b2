"""./tw in a tree of a few files: paths are the caller's, one build at a time, a copied tree builds itself, and a tree of
somebody else runs.

usage: script.py SCRIPT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(sys.argv[1])

PRESETS = '''{"version": 4, "configurePresets": [
 {"name": "host", "generator": "Ninja", "binaryDir": "${sourceDir}/build/host"},
 {"name": "cuda", "generator": "Ninja", "binaryDir": "${sourceDir}/build/cuda"}]}'''
# The program says whose it is, where it runs and with which words. Building it takes long enough for others to come.
LISTS = '''cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES NONE)
file(WRITE ${CMAKE_BINARY_DIR}/made.sh "#!/bin/sh\\necho ${CMAKE_SOURCE_DIR} $PWD $TW_CHECKOUT $*\\n")
file(WRITE ${CMAKE_BINARY_DIR}/make.sh "set -e\\necho made >> '${CMAKE_SOURCE_DIR}/count'\\nsleep 1\\nmkdir -p src\\n"
  "cp made.sh src/tilewright\\nchmod +x src/tilewright\\n")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/src/tilewright COMMAND sh make.sh VERBATIM)
add_custom_target(tilewright DEPENDS ${CMAKE_BINARY_DIR}/src/tilewright)
foreach(name hostile_address hostile_thread)
  file(WRITE ${CMAKE_BINARY_DIR}/tests/library/${name} "#!/bin/sh\\necho ${name} $*\\n")
  file(CHMOD ${CMAKE_BINARY_DIR}/tests/library/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  add_custom_target(${name})
endforeach()
'''


def expect(holds, *what):
    if not holds:
        sys.exit(' '.join(map(str, what)))


def make_tree(folder):
    folder.mkdir()
    shutil.copy(SCRIPT, folder / 'tw')
    (folder / 'CMakePresets.json').write_text(PRESETS)
    (folder / 'CMakeLists.txt').write_text(LISTS)
    (folder / 'build').mkdir()
    for marker in ('.set_up', '.set_up_for_tests'):
        (folder / 'build' / marker).touch()  # nothing is installed


def start(tree, where, *words, before=(), environment={'TW_PRESET': 'host'}):
    return subprocess.Popen([*before, tree / 'tw', *words], cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **environment})


def finish(process):
    out, errors = process.communicate()
    expect(process.returncode == 0, f'Status {process.returncode}:', out, errors)
    return out.strip()


def state(tree):
    return {path: path.stat().st_mtime_ns for path in (tree / 'build').rglob('*')}


with tempfile.TemporaryDirectory() as temporary:
    base = pathlib.Path(temporary).resolve()
    base.chmod(0o755)
    tree, elsewhere = base / 'a tree', base / 'elsewhere'
    make_tree(tree)
    elsewhere.mkdir()

    # Two at once: the second waits for the first, and finds everything built.
    both = [start(tree, elsewhere, 'layout', '(8,8)', '-o', 'a.svg') for _ in range(2)]
    for words in map(finish, both):
        expect(words == f'{tree} {elsewhere} {tree} layout (8,8) -o a.svg', 'It runs where its caller is, not:', words)
    made = (tree / 'count').read_text().split()
    expect(made == ['made'], 'Two builds at once, or none:', made)

    # Hostile calls are programs of their own.
    words = finish(start(tree, elsewhere, 'fuzz', '--interface', '--calls', '9')).splitlines()
    expect(words == ['hostile_address --minutes 0.5 --calls 9',
                     'hostile_thread --minutes 0.5 --threads 8 --calls 9'], words)
    expect(finish(start(tree, elsewhere, 'fuzz', '--seed', '9')).endswith(' fuzz --seed 9'), 'fuzz is no command.')

    # Where nvcc is there and no GPU, what only runs compiles no kernels; with a GPU it does.
    for gpu, preset in ((1, 'host'), (0, 'cuda')):
        tools, fresh = base / f'tools {gpu}', base / f'fresh {gpu}'
        tools.mkdir()
        for name, status in (('nvcc', 0), ('nvidia-smi', gpu)):
            (tools / name).write_text(f'#!/bin/sh\nexit {status}\n')
            (tools / name).chmod(0o755)
        make_tree(fresh)
        finish(start(fresh, elsewhere, 'list', environment={'TW_PRESET': '', 'PATH': f'{tools}:{os.environ["PATH"]}'}))
        built = [path.name for path in (fresh / 'build').iterdir() if path.is_dir()]
        expect(built == [preset], f'nvidia-smi ends with {gpu}: built were', built)

        # On the GPU an instance is traced by a build of its own, which each instance configures anew.
        for instance in 'some_128x64', 'other':
            words = finish(start(fresh, elsewhere, 'trace', 'matmul', '--on', 'gpu', '--instance', instance,
                                 environment={'TW_PRESET': '', 'PATH': f'{tools}:{os.environ["PATH"]}'}))
            expect(words.endswith(f' trace matmul --on gpu --instance {instance}'), words)
            shutil.rmtree(fresh / 'build/traced_cuda/src')
        cache = (fresh / 'build/traced_cuda/CMakeCache.txt').read_text()
        expect('TW_TRACED:UNINITIALIZED=other\n' in cache and 'TW_INSTANCES:UNINITIALIZED=^(traced_)?other$\n' in cache, cache)

    # Tests want the compiler for AMD's GPUs, and go on where it cannot be had.
    tools, fresh = base / 'tools', base / 'fresh'
    tools.mkdir()
    for folder in reversed(os.environ['PATH'].split(':')):
        for path in pathlib.Path(folder).glob('*'):
            (tools / path.name).unlink(missing_ok=True)
            (tools / path.name).symlink_to(path)
    (tools / 'clang++-22').unlink(missing_ok=True)
    for name, body in (('dpkg-query', 'echo installed'), ('id', 'echo 0'), ('apt-get', '')):
        (tools / name).unlink(missing_ok=True)
        (tools / name).write_text(f'#!/bin/sh\n{body}\n')
        (tools / name).chmod(0o755)
    make_tree(fresh)
    (fresh / 'build/.set_up_for_tests').unlink()
    for status in (100, 0):
        (tools / 'apt-get').write_text(f'#!/bin/sh\necho $* >> "{base}/installed"\nexit {status}\n')
        finish(start(fresh, elsewhere, 'test', environment={'TW_PRESET': 'host', 'PATH': str(tools)}))
        (fresh / 'build/.set_up_for_tests').unlink()
    asked = (base / 'installed').read_text().splitlines()
    expect(asked[:2] == ['update -qq'] * 2 and asked[2].endswith(' clang-22 lld-22 llvm-22') and len(asked) == 3, asked)

    # A copy has another's build folder, and makes its own of it.
    copy = base / 'copy'
    shutil.copytree(tree, copy, symlinks=True)
    before = state(tree)
    words = finish(start(copy, elsewhere, 'list'))
    expect(words.startswith(f'{copy} '), 'The copy runs the program of', words)
    expect(state(tree) == before, 'The copy built into the tree that it was copied from.')
    expect((copy / 'count').read_text().split() == ['made', 'made'], 'The copy was not built.')

    # Built by one user, run by another who may not write.
    before = []
    for path in [tree, *tree.rglob('*')]:
        path.chmod(path.stat().st_mode & ~0o222)
    if os.geteuid() == 0:
        if shutil.which('setpriv') is None:
            sys.exit(0)
        before = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    words = finish(start(tree, elsewhere, 'list', before=before))
    expect(words.startswith(f'{tree} '), words)
    for path in [tree, *tree.rglob('*')]:
        path.chmod(path.stat().st_mode | 0o200)
