"""What the tests share."""
import importlib.util
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # what CTest shows as skipped


def need(module):
    if importlib.util.find_spec(module) is None:
        print(f'Skipped: {module} is not installed for {sys.executable}.')
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
