"""Compiles kernels and fails on any line of ptxas that means lost speed: products serialised or
waited for one by one, setmaxnreg ignored, registers spilled, values in local memory.

ptxas prints most of these as "info", so no warning flag of the compiler stops on them. Every file
in planted/ has one such flaw and must be caught: otherwise silence would prove nothing."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

LOSSES = [
    re.compile(r"Potential Performance Loss"),
    re.compile(r"\(C75\d\d\)"),
    re.compile(r"\b[1-9]\d* bytes (stack frame|spill stores|spill loads)"),
    re.compile(r"Registers are spilled"),
    re.compile(r"Local memory used"),
]

parser = argparse.ArgumentParser()
parser.add_argument("--nvcc", required=True)
parser.add_argument("--include", action="append", required=True)
parser.add_argument("kernels", nargs="+", type=pathlib.Path)
arguments = parser.parse_args()

command = [arguments.nvcc, "-cubin", "-std=c++20", "--expt-relaxed-constexpr", "-O3",
           "-gencode", "arch=compute_90a,code=sm_90a",
           "-Xptxas", "-v,-warn-spills,-warn-lmem-usage", "-o", os.devnull]
for folder in arguments.include:
    command += ["-I", folder]


def lines_of(path):
    """What ptxas said about a kernel, and the lines among it that mean lost speed."""
    outcome = subprocess.run(command + [str(path)], capture_output=True, text=True)
    said = outcome.stdout + outcome.stderr
    # Without this line ptxas was not asked, or answered in a form that we do not read.
    if outcome.returncode != 0 or "bytes stack frame" not in said:
        return said, [f"{path} did not compile, or ptxas did not report:\n{said}"]
    return said, [line for line in said.splitlines() if any(loss.search(line) for loss in LOSSES)]


planted = sorted((pathlib.Path(__file__).parent / "planted").glob("*.cu"))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    answers = dict(zip(planted + arguments.kernels,
                       pool.map(lines_of, planted + arguments.kernels)))

failures = 0
for path, (said, losses) in answers.items():
    is_planted = path in planted
    compiled = "bytes stack frame" in said
    good = compiled and bool(losses) == is_planted
    failures += not good
    verdict = "not compiled" if not compiled else "caught" if losses else "clean"
    print(f"{'ok  ' if good else 'FAIL'} {'planted ' if is_planted else ''}{path.stem}: {verdict}")
    if not good:
        print("\n".join(losses) or said)
for loss in LOSSES:
    if not any(loss.search(answers[path][0]) for path in planted):
        failures += 1
        print(f"FAIL no planted kernel draws a line with '{loss.pattern}'")
sys.exit(1 if failures else 0)
