"""A program of python/tests that needs torch and an NVIDIA GPU: it is run, or skipped with the reason.

usage: on_gpu.py PROGRAM [ARGUMENT...]
"""
import pathlib
import runpy
import sys

program = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(program.parent))
import support

support.need('torch')
import torch

if not torch.cuda.is_available():
    print('Skipped: torch finds no NVIDIA GPU here.')
    sys.exit(support.SKIPPED)
sys.argv = sys.argv[1:]
runpy.run_path(str(program), run_name='__main__')
