#!/usr/bin/env python3
"""A family is its own files: what all families share names none but matmul, the first.

Removing one of the others then changes no line of the shared folders. usage: families_apart.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2] / 'include/tilewright'
SHARED = ('layout', 'accumulator', 'pipeline', 'op', 'epilogue', 'schedule', 'kernel', 'arch')
NAMES = re.compile(r'conv2d|im2col|depthwise|blockwise', re.IGNORECASE)

files = [file for folder in SHARED for file in sorted((ROOT / folder).glob('*.h'))]
found = [f'{file.relative_to(ROOT)}:{number}: {line.strip()}' for file in files
         for number, line in enumerate(file.read_text().splitlines(), 1) if NAMES.search(line)]
print('\n'.join(found) or f'{len(files)} files of shared folders name no other family.')
sys.exit(1 if found or len(files) < 20 else 0)
