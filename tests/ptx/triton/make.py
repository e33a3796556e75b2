"""Compiles kernels.py for compute capability 9.0 and 10.0 and writes tests/ptx/triton/ptx; no GPU is needed. What is there came from Triton
3.9.0 by

    TRITON_DEFAULT_FP_FUSION=1 PYTHONPATH=python python3 tests/ptx/triton/make.py

usage: make.py [NAME...]   (only these cases)
"""
import json
import pathlib
import re
import sys

import numpy

sys.dont_write_bytecode = True
import cases
import kernels
import tilewright.triton

FOLDER = pathlib.Path(__file__).parent / 'ptx'
KEEPS_LINES = ('reverse_without_barrier',)  # with .loc and .file: the finding names the line of kernels.py


def stripped(text, keeps_lines):
    """Without debug information and remarks."""
    text = re.sub(r'^\t\.section\t\.debug_.*?^\t\}\n', '', text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r'^\t\.section\t\.debug_macinfo.*\n', '', text, flags=re.MULTILINE)
    text = re.sub(r'[ \t]*//.*', '', text)
    if keeps_lines:
        text = re.sub(r'^(\t\.file\t\d+ )".*/', r'\1"', text, flags=re.MULTILINE)
    else:
        text = re.sub(r'^\t\.(loc|file)\t.*\n', '', text, flags=re.MULTILINE)
    text = re.sub(r'^\$L__(tmp|func_(begin|end))\d+:\n', '', text, flags=re.MULTILINE)
    text = re.sub(r'^\s+', '', text, flags=re.MULTILINE)
    return re.sub(r'[ \t]+', ' ', text)


names = sys.argv[1:] or list(cases.CASES)
path = FOLDER / 'launches.json'
facts = json.loads(path.read_text()) if path.exists() else {}
for name in names:
    case = cases.CASES[name](numpy.random.default_rng(1))
    for target in case.targets:
        compiled, _ = tilewright.triton.compile(getattr(kernels, case.kernel), case.args, dict(case.constants), target=target, **case.options)
        file = f'{name}_sm{target}.ptx'
        FOLDER.mkdir(exist_ok=True)
        text = stripped(compiled.text, name in KEEPS_LINES)
        (FOLDER / file).write_text(text)
        facts[file] = compiled.facts
        print(f'{file}: {len(text)} bytes')
path.write_text(json.dumps(facts, indent=1, sort_keys=True) + '\n')
