"""Compiles each file in misuse/ and expects a failure that shows the sentence of its first line.

The head of each file, included alone, must compile: otherwise the failure would prove nothing."""
import argparse
import functools
import pathlib
import subprocess
import sys
import tempfile

MARK = "// must not compile: "

parser = argparse.ArgumentParser()
parser.add_argument("--include", required=True)
parser.add_argument("--compiler", required=True)
parser.add_argument("--nvcc")
arguments = parser.parse_args()

commands = {"host": [arguments.compiler, "-std=c++20", "-fsyntax-only"]}
if arguments.nvcc:
    commands["nvcc"] = [arguments.nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-x", "cu",
                        "-gencode", "arch=compute_90a,code=sm_90a", "-ptx", "-o", "/dev/null"]


def compile_with(command, path):
    return subprocess.run(command + ["-I", arguments.include, str(path)],
                          capture_output=True, text=True)


@functools.cache
def compile_head(name, includes):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as head:
        head.write(includes + "\n")
        head.flush()
        return compile_with(commands[name], head.name)


failures = 0
files = sorted((pathlib.Path(__file__).parent / "misuse").glob("*.cpp"))
for name, command in commands.items():
    for path in files:
        lines = path.read_text().splitlines()
        sentence = lines[0].removeprefix(MARK)
        includes = "\n".join(line for line in lines if line.startswith("#include"))
        control = compile_head(name, includes)
        outcome = compile_with(command, path)
        is_shown = sentence in " ".join((outcome.stdout + outcome.stderr).split())
        good = control.returncode == 0 and outcome.returncode != 0 and is_shown
        print(f"{'ok  ' if good else 'FAIL'} {name}: {path.name}: {sentence}")
        if not good:
            failures += 1
            print(control.stderr, outcome.stdout, outcome.stderr, sep="\n")

# nvcc shows only the source line of the call, so the sentence must stand on it.
for header in sorted(pathlib.Path(arguments.include, "tilewright/layout").glob("*.h")):
    for number, line in enumerate(header.read_text().splitlines(), 1):
        if " require(" in line and '"' not in line:
            failures += 1
            print(f"FAIL {header}:{number}: the sentence is not on the line of its require")
sys.exit(1 if failures or not files else 0)
