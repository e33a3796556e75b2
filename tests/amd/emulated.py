"""Kernels that wait at barriers only, executed by an emulator of AMD's GPUs: the results must be exact.

usage: emulated.py --program FILE --stub FOLDER

TW_AMD_EMULATOR names the program that executes code objects, as tests/amd/hip_stub.cpp calls it: tests/amd/in_tinygrad.py is one.
"""
import argparse
import os
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument('--program', required=True)
parser.add_argument('--stub', required=True)
options = parser.parse_args()
if not os.environ.get('TW_AMD_EMULATOR'):
    print('TW_AMD_EMULATOR names no emulator, so that no code object was executed.')
    sys.exit(77)
wrong = 0
# Whole tiles, rows, columns and k that end amid a tile, groups, and a convolution with padding: their loads reach out of range.
for target, instance, problem in (('gfx942', 'matmul --instance cdna3_pingpong_bf16', '--m 256 --n 256 --k 128'),
                                  ('gfx942', 'matmul --instance cdna3_pingpong_bf16', '--m 200 --n 300 --k 192 --epilogue bias,relu'),
                                  ('gfx950', 'matmul --instance cdna4_pingpong_bf16', '--m 256 --n 256 --k 128'),
                                  ('gfx950', 'matmul --instance cdna4_pingpong_bf16', '--m 300 --n 280 --k 200'),
                                  ('gfx950', 'grouped --instance grouped_pingpong_cdna4', ''),
                                  ('gfx950', 'conv2d --instance conv_pingpong_cdna4', '')):
    told = subprocess.run([options.program, 'run', *instance.split(), *problem.split(), '--on', 'gpu'],
                          env={**os.environ, 'LD_LIBRARY_PATH': options.stub, 'STUB_DEVICE': target}, capture_output=True, text=True)
    print(told.stdout + told.stderr, end='')
    wrong += told.returncode != 0 or ' elements are exact' not in told.stdout
sys.exit(1 if wrong else 0)
