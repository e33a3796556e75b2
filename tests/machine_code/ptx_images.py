"""Kernels of sm_80 carry Hopper's PTX, which devices of capability 12.0 compile; kernels of other targets carry none.

usage: ptx_images.py FOLDER KERNEL... -- KERNEL...   (fatbins somewhere below FOLDER: those with PTX, then those without)
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import cubin

folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
without = names.index("--")
for name, expected in [(name, [90]) for name in names[:without]] + [(name, []) for name in names[without + 1:]]:
    found = [cubin.ptx_architectures(path.read_bytes()) for path in folder.rglob(f"{name}.fatbin")]
    if found != [expected]:
        sys.exit(f"{name} has PTX of {found or 'no image'}, but should have {[expected]}.")
print(f"{len(names) - 1} images have the PTX that they should.")
