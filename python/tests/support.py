"""What the tests share."""
import importlib.util
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # what CTest shows as skipped


SYSTEM_PYTHON = '/usr/bin/python3'  # for which packages of the distribution are installed


def need(module):
    """Goes on in the system's Python where that has the module and this one has not."""
    if importlib.util.find_spec(module) is not None:
        return
    if sys.executable != SYSTEM_PYTHON and pathlib.Path(SYSTEM_PYTHON).exists():
        has = f'import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)'
        if subprocess.run([SYSTEM_PYTHON, '-c', has]).returncode == 0:
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    print(f'Skipped: {module} is not installed for {sys.executable}, nor for {SYSTEM_PYTHON}.')
    sys.exit(SKIPPED)


def integers(generator, count, largest=3):
    """Small enough that products of these have sums without rounding in any type."""
    return [generator.randint(-largest, largest) for _ in range(count)]


def product(a, b, m, n, k):
    """Rows of a times columns of b, both in the order of rows."""
    columns = [b[column::n] for column in range(n)]
    return [sum(x * y for x, y in zip(a[row * k:row * k + k], column))
            for row in range(m) for column in columns]


def generator():
    return random.Random(7)
