"""tools/compare_kernels.py finds one changed byte of one kernel, and nothing in equal trees.

usage: compare_trees.py TOOL FATBIN"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

tool, fatbin = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(pathlib.Path(tool).parent))
import cubin


def compare(*folders):
    return subprocess.run([sys.executable, tool, *map(str, folders)], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as name:
    old, new = pathlib.Path(name) / "old", pathlib.Path(name) / "new"
    for folder in (old, new):
        folder.mkdir()
        shutil.copy(fatbin, folder)
    equal = compare(old, new)
    content = bytearray(fatbin.read_bytes())
    _, image = next(cubin.images(bytes(content)))
    at = bytes(content).index(cubin.Code(image).text)
    content[at + 100] ^= 1
    (new / fatbin.name).write_bytes(content)
    changed = compare(old, new)
    nothing = compare(old, pathlib.Path(name))

good = (equal.returncode == 0 and "1 of 1 kernels are the same bytes" in equal.stdout
        and changed.returncode == 1 and fatbin.stem in changed.stdout and "0 of 1" in changed.stdout
        and nothing.returncode == 2 and "no fatbins" in nothing.stderr)
for outcome in (equal, changed, nothing):
    print(outcome.returncode, outcome.stdout, outcome.stderr)
sys.exit(0 if good else 1)
