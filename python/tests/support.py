"""What the tests share."""
import importlib.util
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # what CTest shows as skipped


# For which packages of the distribution are installed, and the environment of tools/torch_environment.sh.
OTHER_PYTHONS = ('/usr/bin/python3', str(ROOT / 'build' / 'torch' / 'bin' / 'python3'))


def need(module):
    """Goes on in another Python where that has the module and this one has not."""
    if importlib.util.find_spec(module) is not None:
        return
    has = f'import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)'
    for python in OTHER_PYTHONS:
        if sys.executable != python and pathlib.Path(python).exists():
            if subprocess.run([python, '-c', has]).returncode == 0:
                os.execv(python, [python, *sys.argv])
    print(f'Skipped: {module} is not installed for {sys.executable}, nor for {", nor for ".join(OTHER_PYTHONS)}; '
          'tools/torch_environment.sh makes the last one.')
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
