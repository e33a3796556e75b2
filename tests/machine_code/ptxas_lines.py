"""Every file in planted/ loses speed in one way; tools/strict_ptxas.py, through which the build compiles its
kernels, must fail each of them, each of its patterns must be drawn by one of them, and a plain kernel must pass."""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import strict_ptxas  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--nvcc", required=True)
arguments = parser.parse_args()
command = [sys.executable, str(ROOT / "tools/strict_ptxas.py"), arguments.nvcc, "-cubin", "-std=c++20",
           "--expt-relaxed-constexpr", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-o", os.devnull,
           "-I", str(ROOT / "include"), "-I", str(ROOT)]


def compile_strictly(path):
    return subprocess.run(command + [str(path)], capture_output=True, text=True)


folder = pathlib.Path(__file__).parent
planted = sorted((folder / "planted").glob("*.cu"))
plain = folder / "composed_wgmma.cu"
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    outcomes = dict(zip(planted + [plain], pool.map(compile_strictly, planted + [plain])))

failures = 0
for path, outcome in outcomes.items():
    losses = [line for line in outcome.stderr.splitlines() if strict_ptxas.is_loss(line)]
    good = outcome.returncode == 0 if path == plain else outcome.returncode == 1 and bool(losses)
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {path.stem}: {losses[0] if losses else 'clean'}")
    if not good:
        print(outcome.stderr)
for loss in strict_ptxas.LOSSES:
    if not any(loss.search(outcomes[path].stderr) for path in planted):
        failures += 1
        print(f"FAIL no planted kernel draws a line with '{loss.pattern}'")
sys.exit(1 if failures else 0)
