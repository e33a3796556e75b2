"""./tw in a tree of a few files: paths are the caller's, one build of a folder at a time, who waits says so, a copied tree builds
itself, and a tree of somebody else runs without a build.

usage: script.py SCRIPT
"""
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCRIPT = pathlib.Path(sys.argv[1])

PRESETS = '''{"version": 4, "configurePresets": [
 {"name": "host", "generator": "Ninja", "binaryDir": "${sourceDir}/build/host"},
 {"name": "cuda", "generator": "Ninja", "binaryDir": "${sourceDir}/build/cuda"}]}'''
# The program says whose it is, where it runs and with which words. Building it takes long enough for others to come.
LISTS = '''cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES NONE)
file(WRITE ${CMAKE_BINARY_DIR}/made.sh "#!/bin/sh\\necho ${CMAKE_SOURCE_DIR} $PWD $TW_CHECKOUT $*\\n")
file(WRITE ${CMAKE_BINARY_DIR}/make.sh "set -e\\necho made >> '${CMAKE_SOURCE_DIR}/count'\\nsleep 2\\nmkdir -p src\\n"
  "cp made.sh src/$1\\nchmod +x src/$1\\n")
foreach(name tilewright tilewright_on_demand tilewright_demo kernel_some)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/src/${name} COMMAND sh make.sh ${name} VERBATIM)
  add_custom_target(${name} DEPENDS ${CMAKE_BINARY_DIR}/src/${name})
endforeach()
add_custom_target(kernels_of_known COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_SOURCE_DIR}/kernels_of_known)
# glob checks make ninja write its log at every start
file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*.txt)
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
    shutil.copytree(SCRIPT.parent / 'tools', folder / 'tools', ignore=shutil.ignore_patterns('__pycache__'))
    (folder / 'include/tilewright/family/known').mkdir(parents=True)
    (folder / 'include/tilewright/family/known/instances.txt').touch()
    (folder / 'CMakePresets.json').write_text(PRESETS)
    (folder / 'CMakeLists.txt').write_text(LISTS)
    (folder / 'build').mkdir()
    for marker in ('.set_up', '.set_up_for_tests'):
        (folder / 'build' / marker).touch()  # nothing is installed


def start(tree, where, *words, before=(), environment={'TW_PRESET': 'host'}):
    return subprocess.Popen([*before, tree / 'tw', *words], cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **environment})


def finish_with(process):
    out, errors = process.communicate()
    expect(process.returncode == 0, f'Status {process.returncode}:', out, errors)
    return out.strip(), errors


def finish(process):
    return finish_with(process)[0]


def is_running(process):
    """Whether it is, a moment after it was told to end; one that nobody waited for is not."""
    for _ in range(50):
        try:
            if pathlib.Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1].split()[0] == 'Z':
                return False
        except (FileNotFoundError, ProcessLookupError):
            return False
        time.sleep(0.1)
    return True


def state(tree):
    return {path: path.stat().st_mtime_ns for path in (tree / 'build').rglob('*')}


with tempfile.TemporaryDirectory() as temporary:
    base = pathlib.Path(temporary).resolve()
    base.chmod(0o755)
    tree, elsewhere = base / 'a tree', base / 'elsewhere'
    make_tree(tree)
    elsewhere.mkdir()

    # Two at once: the second waits for the first, and finds everything built.
    quick = {'TW_PRESET': 'host', 'TW_PROGRESS_SECONDS': '0.4'}
    both = [start(tree, elsewhere, 'layout', '(8,8)', '-o', 'a.svg', environment=quick) for _ in range(2)]
    said = ''
    for words, errors in map(finish_with, both):
        expect(words == f'{tree} {elsewhere} {tree} layout (8,8) -o a.svg', 'It runs where its caller is, not:', words)
        said += errors
    expect(f'tw: another ./tw builds in {tree}/build/host; waiting for it\n' in said, 'Nobody says that it waits:', said)
    expect('tw: waiting for another ./tw that builds in' in said and ' s so far' in said and 'tw: building, ' in said, 'Nobody says it again:', said)
    made = (tree / 'count').read_text().split()
    expect(made == ['made'], 'Two builds at once, or none:', made)

    # Hostile calls are programs of their own.
    words = finish(start(tree, elsewhere, 'fuzz', '--interface', '--calls', '9')).splitlines()
    expect(words == ['hostile_address --minutes 0.5 --calls 9',
                     'hostile_thread --minutes 0.5 --threads 8 --calls 9'], words)
    expect(finish(start(tree, elsewhere, 'fuzz', '--seed', '9')).endswith(' fuzz --seed 9'), 'fuzz is no command.')
    expect((tree / 'build/host/src/tilewright').exists(), 'fuzz of all has not all kernels.')
    expect(finish(start(tree, elsewhere, 'fuzz', 'known', '--seed', '9')).endswith(' fuzz known --seed 9'), 'fuzz takes no family.')
    expect((tree / 'kernels_of_known').exists(), 'fuzz of a family has not compiled its kernels.')

    # Another folder is another lock: a build of one is no obstacle to the other.
    slow = start(tree, elsewhere, 'list', environment={'TW_PRESET': 'cuda'})
    _, errors = finish_with(start(tree, elsewhere, 'list'))
    expect('waiting' not in errors, errors)
    finish(slow)
    shutil.rmtree(tree / 'build/cuda')

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
        program = 'tilewright_on_demand' if gpu else 'tilewright'  # kernels on demand are for the virtual GPU
        expect((fresh / 'build' / preset / 'src' / program).exists(), f'nvidia-smi ends with {gpu}: no {program}')

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

    # Some kernels are compiled for tests, with --all every one, for which torch's environment is made; others are asked what they need.
    tested = base / 'tested'
    make_tree(tested)
    (tested / 'tools/torch_environment.sh').write_text(f'#!/bin/sh\necho made >> "{base}/torch"\n')
    for words, compiled in (['test'], 'some'), (['test', '--all'], 'all'), (['list'], 'all'), (['test', '-R', 'none'], 'some'):
        out = finish(start(tested, elsewhere, *words))
        cache = (tested / 'build/host/CMakeCache.txt').read_text()
        expect(f'TW_COMPILED:UNINITIALIZED={compiled}\n' in cache, words, cache)
        expect(('TW_KERNELS_TOGETHER:UNINITIALIZED=8\n' in cache) == (words != ['test']), words, cache)
        if words[0] == 'test':
            expect(f'TW_COMPILED was {compiled}.' in out and 'tw: building took ' in out, out)
    # What another configured is asked for anew, also where as many kernels are compiled.
    subprocess.run(['cmake', '-DTW_COMPILED=all', '-DTW_KERNELS_TOGETHER=1', tested / 'build/host'], check=True, capture_output=True)
    for words, together in (['list'], 1), (['test', '--all'], 8), (['list'], 8):
        finish(start(tested, elsewhere, *words))
        cache = (tested / 'build/host/CMakeCache.txt').read_text()
        expect(f'TW_KERNELS_TOGETHER:UNINITIALIZED={together}\n' in cache, words, cache)
    expect((base / 'torch').read_text() == 'made\nmade\n', 'torch was asked for more often than for --all, or never.')

    # Where the build fails or is interrupted, what makes torch's environment ends, too. Configuring waits until it has begun.
    alone = base / 'alone'
    make_tree(alone)
    (alone / 'tools/torch_environment.sh').write_text(f'#!/bin/sh\nsleep 60 &\necho $$ $! > "{base}/begun.new"\nmv "{base}/begun.new" "{base}/begun"\nwait\n')
    for ended_by in None, signal.SIGINT, signal.SIGTERM:
        (alone / 'CMakeLists.txt').write_text(f"""cmake_minimum_required(VERSION 3.25)
project(Fails LANGUAGES NONE)
execute_process(COMMAND sh -c "while [ ! -e '{base}/begun' ]; do sleep 0.1; done; sleep {20 if ended_by else 0}")
message(FATAL_ERROR "It fails.")
""")
        (base / 'begun').unlink(missing_ok=True)
        process = subprocess.Popen([alone / 'tw', 'test', '--all'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, 'TW_PRESET': 'host'})
        if ended_by:
            while not (base / 'begun').exists():
                time.sleep(0.1)
            os.killpg(process.pid, ended_by)  # a terminal does so
        process.wait(15)
        expect(process.returncode != 0, f'Ended by {ended_by}, it is good.')
        left = [number for number in (base / 'begun').read_text().split() if is_running(number)]
        expect(not left, f'Ended by {ended_by}, torch\'s environment is still made by', left)

    # One at a time makes torch's environment.
    python = alone / 'build/torch/bin/python3'
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\n')
    python.chmod(0o755)
    shutil.copy(SCRIPT.parent / 'tools/torch_environment.sh', alone / 'tools')
    with open(alone / 'build/torch.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([alone / 'tools/torch_environment.sh'], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect('waiting for it' in process.stderr.readline() and process.poll() is None, 'It does not wait for the other one.')
    expect(finish(process) == str(python), 'It does not find the environment.')

    # A copy has another's build folder, and makes its own of it.
    copy = base / 'copy'
    shutil.copytree(tree, copy, symlinks=True)
    before = state(tree)
    words = finish(start(copy, elsewhere, 'list'))
    expect(words.startswith(f'{copy} '), 'The copy runs the program of', words)
    expect(state(tree) == before, 'The copy built into the tree that it was copied from.')
    expect((copy / 'count').read_text().split() == (tree / 'count').read_text().split() + ['made'], 'The copy was not built.')

    # Built by one user, run by another who may not write.
    finish(start(tree, elsewhere, 'demo'))
    before = []
    for path in [tree, *tree.rglob('*')]:
        path.chmod(path.stat().st_mode & ~0o222)
    if os.geteuid() == 0:
        if shutil.which('setpriv') is None:
            sys.exit(0)
        before = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    unwritten = state(tree)
    for command in 'list', 'demo':
        words = finish(start(tree, elsewhere, command, before=before))
        expect(words.startswith(f'{tree} '), words)
    process = start(tree, elsewhere, 'bench', before=before, environment={'TW_PRESET': 'cuda'})
    _, errors = process.communicate()
    expect(process.returncode == 2 and 'may not write to' in errors and 'tilewright_bench is not built' in errors, errors)
    expect(state(tree) == unwritten, 'Something was written into the tree of somebody else.')
    for path in [tree, *tree.rglob('*')]:
        path.chmod(path.stat().st_mode | 0o200)
