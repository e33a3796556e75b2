"""Compiles 200 distinct compositions used as template arguments and prints what that costs.

Only the success is judged: times depend on the machine."""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--include", required=True)
parser.add_argument("--compiler", required=True)
parser.add_argument("--nvcc")
parser.add_argument("--compositions", type=int, default=200)
arguments = parser.parse_args()

HEAD = '#include "tilewright/layout/algebra.h"\n'
USE = """
template <tw::Layout layout>
struct Carrier {
  static long last(long index) { return tw::offset(layout, index); }
};
long use(long index) {
  using namespace tw::literals;
  long sum = 0;
"""


def composition(number):
    """Distinct for distinct numbers: the number is part of a stride."""
    left = f"((4,8),(2,{8 + number % 5 * 8})):(({number + 1},{4 * number + 4}),({1000 + number},2))"
    first = "(2,2):(8,16)" if number % 2 else "(4,2):(1,8)"
    extents, strides = first.split(":")
    last = 2 + number % 3
    right = f"({extents},({last},2)):({strides},(64,{64 * last}))"
    return f'tw::composition("{left}"_layout, "{right}"_layout)'


def source(count):
    uses = (f"  sum += Carrier<{composition(i)}>::last(index);\n" for i in range(count))
    return HEAD + USE + "".join(uses) + "  return sum;\n}\n"


commands = {"host": [arguments.compiler, "-std=c++20", "-O2", "-c", "-o", "/dev/null"]}
if arguments.nvcc:
    commands["nvcc"] = [arguments.nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-x", "cu", "-O3",
                        "-gencode", "arch=compute_90a,code=sm_90a", "-c", "-o", "/dev/null"]
failed = False
for name, command in commands.items():
    for count in (0, arguments.compositions):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "compile_cost.cpp"
            path.write_text(source(count))
            begin = time.monotonic()
            outcome = subprocess.run(command + ["-I", arguments.include, str(path)],
                                     capture_output=True, text=True)
            seconds = time.monotonic() - begin
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
        print(f"{name}: {count} compositions in {seconds:.1f} s, at most {peak:.2f} GB so far")
        if outcome.returncode != 0:
            failed = True
            print(outcome.stderr[:4000])
sys.exit(1 if failed else 0)
