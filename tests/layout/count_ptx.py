"""Compiles index_arithmetic.cu to PTX: a load through a TileTensor must take no more instructions
than index arithmetic written by hand."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--include", required=True)
parser.add_argument("--compiler")
parser.add_argument("--nvcc", required=True)
arguments = parser.parse_args()

source = pathlib.Path(__file__).parent / "index_arithmetic.cu"
with tempfile.TemporaryDirectory() as folder:
    ptx = pathlib.Path(folder) / "index_arithmetic.ptx"
    subprocess.run([arguments.nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-O3", "-ptx",
                    "-gencode", "arch=compute_90a,code=sm_90a", "-I", arguments.include,
                    "-o", str(ptx), str(source)], check=True)
    text = ptx.read_text()

kernels = {}
for name, body in re.findall(r"\.entry (\w+)\((?:.*?)\n\{(.*?)\n\}", text, re.DOTALL):
    lines = (re.sub(r"//.*", "", line).strip() for line in body.splitlines())
    kernels[name] = [line for line in lines
                     if line.endswith(";") and not line.startswith((".", "ret"))]

failed = False
pairs = sorted(name.removeprefix("hand_") for name in kernels if name.startswith("hand_"))
for pair in pairs:
    by_hand, by_tensor = kernels["hand_" + pair], kernels["tensor_" + pair]
    good = len(by_tensor) <= len(by_hand)
    failed |= not good
    print(f"{'ok  ' if good else 'FAIL'} {pair}: tensor {len(by_tensor)}, hand {len(by_hand)}")
    if not good:
        opcodes = [collections.Counter(line.split()[1 if line[0] == "@" else 0] for line in lines)
                   for lines in (by_tensor, by_hand)]
        print("  only tensor:", dict(opcodes[0] - opcodes[1]))
        print("  only hand:", dict(opcodes[1] - opcodes[0]))
sys.exit(1 if failed or len(pairs) < 9 else 0)
