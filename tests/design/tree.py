"""Copies of the tree, without families or with one more."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))
from cost import families, files_of  # noqa: E402
PRODUCT = ('include', 'src', 'vgpu', 'cmake', 'tools', 'python/tilewright', 'CMakeLists.txt', 'bench/tuned')


def copy(to):
    """What the product is built from."""
    shutil.rmtree(to, ignore_errors=True)
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard', '--', *PRODUCT],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def remove(family, root):
    for paths in files_of(family, root).values():
        for path in paths:
            path.unlink()
    shutil.rmtree(root / 'include/tilewright/family' / family)


def contents(root):
    """Every file of the product with its bytes."""
    return {str(path.relative_to(root)): path.read_bytes() for name in PRODUCT for path in
            ((root / name).rglob('*') if (root / name).is_dir() else [root / name]) if path.is_file() and '__pycache__' not in path.parts}


def configure(cmake, root, *options):
    done = subprocess.run([cmake, '-S', root, '-B', root / 'build', '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DTW_CUDA=OFF',
                           '-DTW_AMD=OFF', '-DBUILD_TESTING=OFF', *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f'{root} cannot be configured:\n{done.stdout[-3000:]}'
