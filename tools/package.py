"""Makes the packages of a build: a wheel for pip, and an archive for find_package(Tilewright), which any folder may hold.

usage: package.py BUILD FOLDER
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'python'))
sys.dont_write_bytecode = True
import build_backend  # noqa: E402


def install(build, source, tree):
    """The install tree; it must do without the place that it was built in."""
    done = subprocess.run(['cmake', '--install', build, '--prefix', tree, '--strip'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'cmake --install ends with {done.returncode}:\n{done.stdout[-2000:]}')
    for file in tree.rglob('*.cmake'):
        if source in file.read_text():
            sys.exit(f'{file.relative_to(tree)} points into the source tree {source}.')


def shipped(entry):
    """Of whoever unpacks it, at no time: the same build gives the same bytes."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ''
    return entry


def make_archive(tree, folder):
    path = folder / f'{tree.name}.tar.gz'
    # Level 1: images of kernels hardly get smaller, however long one tries.
    with open(path, 'wb') as file, tarfile.open(fileobj=file, mode='w:gz', compresslevel=1) as archive:
        archive.add(tree, tree.name, filter=shipped)
    return path


def make_wheel(tree, folder):
    library = next(path for path in tree.rglob('libtilewright.so') if path.exists())
    os.environ['TILEWRIGHT_LIBRARY'] = str(library)
    # Where there is no Boost.Context, there is no virtual GPU.
    for path in tree.rglob('libtilewright_ptx.so'):
        os.environ['TILEWRIGHT_PTX_LIBRARY'] = str(path)
    return folder / build_backend.build_wheel(folder)


def main():
    build, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cache = dict(re.findall(r'^(\w+):\w+=(.*)$', (build / 'CMakeCache.txt').read_text(), re.MULTILINE))
    version = cache['CMAKE_PROJECT_VERSION']
    if version != build_backend.VERSION:
        sys.exit(f'CMakeLists.txt has version {version}, but python/pyproject.toml has {build_backend.VERSION}.')
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary) / f'tilewright-{version}-linux-{platform.machine()}'
        install(build, cache['CMAKE_HOME_DIRECTORY'], tree)
        for path in make_archive(tree, folder), make_wheel(tree, folder):
            print(f'{path} ({path.stat().st_size / 2**20:.1f} MiB)')


if __name__ == '__main__':
    main()
