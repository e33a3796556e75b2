#!/usr/bin/env python3
"""Runs a CUDA compilation and fails it on any line of ptxas that means lost speed: products serialised or
waited for one by one, setmaxnreg ignored, registers spilled, values in local memory.

usage: strict_ptxas.py COMPILER ARGUMENTS...      (CMake puts it before nvcc when it compiles kernels)

ptxas prints most of these as "info", so no warning flag of the compiler stops on them.
"""
import re
import subprocess
import sys

FLAGS = ["-Xptxas", "-v,-warn-spills,-warn-lmem-usage"]
LOSSES = [
    re.compile(r"Potential Performance Loss"),
    re.compile(r"\(C75\d\d\)"),
    re.compile(r"\b[1-9]\d* bytes (stack frame|spill stores|spill loads)"),
    re.compile(r"Registers are spilled"),
    re.compile(r"Local memory used"),
]


def is_loss(line):
    return any(loss.search(line) for loss in LOSSES)


def main():
    outcome = subprocess.run(sys.argv[1:] + FLAGS, capture_output=True, text=True)
    lines = (outcome.stdout + outcome.stderr).splitlines()
    losses = [line for line in lines if is_loss(line)]
    shown = lines if outcome.returncode else [line for line in lines if line in losses or "warning" in line]
    print("\n".join(shown), end="\n" if shown else "", file=sys.stderr)
    return outcome.returncode or (1 if losses else 0)


if __name__ == "__main__":
    sys.exit(main())
