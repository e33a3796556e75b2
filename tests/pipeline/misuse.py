"""What must not compile: each program compiles as it is, and with TW_MISUSE fails with its sentence.

usage: misuse.py --include FOLDER COMPILER [CLANG]
"""
import argparse
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument('--include', required=True)
parser.add_argument('compiler')
parser.add_argument('clang', nargs='?')
arguments = parser.parse_args()
PLAIN = [arguments.compiler, '-std=c++20', '-fsyntax-only', '-I', arguments.include]
STRICT = [arguments.clang, '-std=c++20', '-fsyntax-only', '-Wconsumed', '-Werror', '-I', arguments.include]
# Use after move is a question of states, which only clang's analysis of consumed values answers.
CASES = [
    ('copy_a_token', PLAIN, 'deleted function'),
    ('iterate_outside_a_skeleton', PLAIN, 'private'),
    ('tile_too_large', PLAIN, 'must fit 160 accumulators a thread'),
]
if arguments.clang:
    CASES.append(('token_after_move', STRICT, "while it is in the 'consumed' state"))

failures = 0
for name, command, sentence in CASES:
    path = str(pathlib.Path(__file__).parent / 'misuse' / f'{name}.cpp')
    right = subprocess.run(command + [path], capture_output=True, text=True)
    wrong = subprocess.run(command + ['-DTW_MISUSE', path], capture_output=True, text=True)
    good = right.returncode == 0 and wrong.returncode != 0 and sentence in wrong.stderr
    failures += not good
    print(f'{"ok  " if good else "FAIL"} {name}')
    if not good:
        print(right.stderr, wrong.stderr, f'expected: {sentence}', sep='\n')
sys.exit(1 if failures else 0)
