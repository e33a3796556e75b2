"""Sums that are promoted on sm_100a hide behind products: the loop of the warps that add up partial sums of 128 columns, one for each 128 of k,
takes fewer instructions than the tensor core takes cycles for the products (256 of one CTA's tile), and has an instruction for each value, no more.

A warp has 32 rows and an SM's quarter to itself, which issues one instruction in a cycle; two sums take turns in tensor memory. Of a pair's tile two
warps share a quarter, and products take 512 cycles: as many for each warp. A second product for each value, planted, must be caught.

usage: promotion.py BUILD_SRC NAME...
"""
import pathlib
import sys

sys.dont_write_bytecode = True
from looped_code import LoopedCode
import cubin

LOAD, MULTIPLY_ADD = 0x1ee, 0x023  # LDTM, FFMA
COLUMNS = 128
# Columns of a load, and instructions; the products take 256 cycles.
USUAL = (32, 200)
BOUNDS = {'blockwise_pair': (16, 215)}


def complaints(operations, columns, most):
    loads, additions = operations.count(LOAD), operations.count(MULTIPLY_ADD)
    if loads * columns != COLUMNS:
        yield f'{loads} loads of {columns} columns, but a row has {COLUMNS}'
    if additions != COLUMNS:
        yield f'{additions} multiply-adds for {COLUMNS} values'
    if len(operations) > most:
        yield f'{len(operations)} instructions, but at most {most} hide'


wrong = []
for name in sys.argv[2:]:
    found = list(pathlib.Path(sys.argv[1]).glob(f'*/instances/{name}.fatbin'))
    if len(found) != 1:
        sys.exit(f'{name} is not compiled in {sys.argv[1]}.')
    for _, image in cubin.images(found[0].read_bytes()):
        code = LoopedCode(image, LOAD)
        loop = code.operations[code.first:code.last + 1]
        wrong += [f'{name}: {text}' for text in complaints(loop, *BOUNDS.get(name, USUAL))]
        planted = [operation for operation in loop for _ in range(1 + (operation == MULTIPLY_ADD))]
        if len(list(complaints(planted, *BOUNDS.get(name, USUAL)))) != 2:
            wrong.append(f'{name}: a second product for each value was not caught')
        print(f'{name}: {len(loop)} instructions for each 128 of k, {loop.count(MULTIPLY_ADD)} of them multiply-adds.')
sys.exit('\n'.join(wrong) or 0)
