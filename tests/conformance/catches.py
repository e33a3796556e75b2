"""A planted disagreement must be caught. usage: catches.py TEST_CONFORMANCE_MODEL

One byte of one expectation is flipped in a copy: of a small output, which is there in full, and of
a digest. The test must fail, and name the program and where it differs.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).parent / 'expected'


def flipped(text, program, keyword, at):
    """The text with one hexadecimal digit of the program's first line that starts so changed."""
    lines = text.splitlines()
    line = next(i for i, line in enumerate(lines) if line.startswith(f'program {program} ')) + 1
    while not lines[line].startswith(keyword):
        line += 1
    at += len(keyword)
    digit = format(int(lines[line][at], 16) ^ 1, 'x')
    lines[line] = lines[line][:at] + digit + lines[line][at + 1:]
    return '\n'.join(lines) + '\n'


PLANTED = [
    ('registers', 'warp_sync', '', 2 * 21 + 1, 'first at byte 21: '),
    ('conversions', 'cvt_bf16x2_ties', 'blocks ', 9, 'first in bytes 512 to 1023; 1 of 32 blocks'),
    ('conversions', 'cvt_bf16x2_ties', 'digest ', 0, 'digest '),
]

for family, program, keyword, at, sentence in PLANTED:
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / 'expected'
        shutil.copytree(EXPECTED, copy)
        file = copy / f'{family}.txt'
        file.write_text(flipped(file.read_text(), program, keyword, at))
        run = subprocess.run([sys.argv[1], '--expected', copy, '--only', program],
                             capture_output=True, text=True)
        wanted = f'{program}: the output differs from the file, {sentence}'
        if run.returncode != 1 or wanted not in run.stdout:
            sys.exit(f'expected "{wanted}", got {run.returncode} and:\n{run.stdout}{run.stderr}')
print(f'{len(PLANTED)} planted disagreements are caught.')
