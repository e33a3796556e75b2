"""What must not compile: each program compiles as it is, and with TW_MISUSE fails with its sentence.

usage: misuse.py --include FOLDER COMPILER [CLANG]
"""
import argparse
import os
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
PLAIN_QUOTES = {**os.environ, 'LC_ALL': 'C'}
# Use after move is a question of states, which only clang's analysis of consumed values answers.
CASES = [
    ('copy_a_token', PLAIN, 'deleted function'),
    ('iterate_outside_a_skeleton', PLAIN, 'private'),
    ('tile_too_large', PLAIN, 'must fit 160 accumulators a thread'),
    ('three_groups_of_many_sums', PLAIN, 'three have 160 registers a thread'),
    ('roles_that_wait_for_registers', PLAIN, 'than their threads are launched with'),
    ('a_loader_that_multiplies', PLAIN, 'StageToRead'),
    ('an_op_that_loads', PLAIN, 'StageToFill'),
    ('an_op_that_arrives', PLAIN, "has no member named 'full'"),
    ('a_loader_that_arrives', PLAIN, "cannot convert 'tw::CopySignal' to 'tw::SharedAddress'"),
    ('an_epilogue_that_waits', PLAIN, 'no matching function for call'),
    ('a_ring_of_another_program', PLAIN, 'The stage is of another ring than this TileOp was made for.'),
    ('a_role_that_nobody_plays', PLAIN, 'A part of a stage is loaded by a role that nobody plays.'),
    ('a_copy_to_global_memory', PLAIN, 'Copies of TMA land in shared memory.'),
    ('a_layout_that_wgmma_cannot_read', PLAIN, 'swizzles chunks of 16 bytes by the number of their line'),
    ('a_page_without_a_signal', PLAIN, "A page must have 'Signal': how the ends of a ring wait for each other."),
    ('a_copy_that_counts', PLAIN, 'the warps that load must arrive'),
    ('a_loader_without_arrivals', PLAIN, "A loader must have 'arrivals': how often its role arrives for each stage."),
    ('a_loader_of_two_minds', PLAIN, "A loader must have 'load_own' where it overrides a base's 'load'"),
    ('a_recipe_without_a_map', PLAIN, "using Map', or MatmulRecipe's: what work there is."),
    ('scales_of_rows_requantised', PLAIN, 'only where 128 rows of B share a scale'),
    ('a_plan_that_overwrites_weights', PLAIN, 'A plan of attention overwrites weights that a product still reads.'),
    ('a_role_without_a_name', PLAIN, 'A role must have a name.'),
    ('an_epilogue_of_six_warps', PLAIN, 'Sums in tensor memory are read by whole warpgroups'),
    ('a_pair_of_odd_columns', PLAIN, 'must be a multiple of 32 up to 256'),
    ('scales_that_begin_anywhere', PLAIN, "a tile's m must be a multiple of 128, its n of 64"),
]
if arguments.clang:
    CASES.append(('token_after_move', STRICT, "while it is in the 'consumed' state"))

failures = 0
for name, command, sentence in CASES:
    path = str(pathlib.Path(__file__).parent / 'misuse' / f'{name}.cpp')
    right = subprocess.run(command + [path], capture_output=True, text=True, env=PLAIN_QUOTES)
    wrong = subprocess.run(command + ['-DTW_MISUSE', path], capture_output=True, text=True, env=PLAIN_QUOTES)
    good = right.returncode == 0 and wrong.returncode != 0 and sentence in wrong.stderr
    failures += not good
    print(f'{"ok  " if good else "FAIL"} {name}')
    if not good:
        print(right.stderr, wrong.stderr, f'expected: {sentence}', sep='\n')
sys.exit(1 if failures else 0)
