#!/usr/bin/env python3
"""What a family, a target and the product cost, in code lines: no blanks, no comments, no docstrings.

usage: cost.py

A family is its files: the folder include/tilewright/family/NAME, src/families/NAME.* and NAME_*.*, and
python/tilewright/families/NAME.py. Nothing else names it: tests/design removes each. Instructions that one family alone uses, and
parts of bind/ and launch/ that several share, are counted for none.
"""
import argparse
import io
import pathlib
import re
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE = ('.h', '.hpp', '.cpp', '.cu', '.in', '.py', '.txt')
# What came with a target, in the order in which targets came: files below include/tilewright, and lines of others that name it.
TARGETS = (('gfx942', 'its page, and its lines of arch/target.h', ('arch/gfx942.h', 'arch/target.h')),
           ('gfx942', 'mechanisms: TileOp, loaders, counters, ping-pong, launches by HIP',
            ('op/mfma.h', 'op/wave_grid.h', 'accumulator/wave.h', 'io/vector_copy.h', 'io/fnuz_copy.h', 'number/fnuz.h', 'io/lds_loader.h',
             'io/wave_scale_loader.h', 'io/lds_halves.h', 'op/mfma_operands.h', 'op/mfma_halves.h', 'pipeline/wave_counter.h', 'pipeline/wave_steps.h', 'kernel/ping_pong.h', 'schedule/xcd_order.h',
             'bind/wave_scaled_op.h', 'io/lds_scales.h', 'op/scaled_halves.h', 'bind/halves_scaled_by.h', 'family/conv2d/im2col_halves.h', 'launch/hip.h')),
           ('gfx942', 'instructions', ('isa/amdgcn/*',)),
           ('gfx950', 'its pages, and its lines of arch/target.h', ('arch/gfx950*.h', 'arch/target.h')))

PRODUCT = ('include', 'src', 'vgpu', 'python/tilewright')
PTX = ('vgpu/ptx/', 'src/ptx_tool/', 'python/tilewright/ptx.py', 'python/tilewright/triton.py')


def without_comments(name, text):
    """As many lines as before, comments blanked."""
    if name.endswith('.py'):
        lines = text.split('\n')
        previous = tokenize.NEWLINE
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            is_docstring = token.type == tokenize.STRING and previous in (
                tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENCODING)
            if token.type == tokenize.COMMENT or is_docstring:
                for row in range(token.start[0] - 1, token.end[0]):
                    first = token.start[1] if row == token.start[0] - 1 else 0
                    last = token.end[1] if row == token.end[0] - 1 else len(lines[row])
                    lines[row] = lines[row][:first] + ' ' * (last - first) + lines[row][last:]
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                previous = token.type
        return '\n'.join(lines)
    if name.endswith('.txt'):
        return re.sub(r'#[^\n]*', '', text)
    blank = lambda match: '\n' * match.group().count('\n')
    return re.sub(r'/\*.*?\*/', blank, re.sub(r'//[^\n]*', '', text), flags=re.DOTALL)


def code_lines(name, text):
    return sum(1 for line in without_comments(name, text).split('\n') if line.strip())


def families(root=ROOT):
    return sorted(path.parent.name for path in (root / 'include/tilewright/family').glob('*/instances.txt'))


def files_of(family, root=ROOT):
    """The files that are the family, by where they stand."""
    device = [path for path in (root / 'include/tilewright/family' / family).rglob('*') if path.is_file()]
    host = [path for pattern in (f'{family}.*', f'{family}_*') for path in (root / 'src/families').glob(pattern)]
    python = list((root / 'python/tilewright/families').glob(f'{family}.py'))
    return {'kernels, description and launch': sorted(device), 'reference, commands and choice': sorted(host), 'Python': python}


def lines_of(paths):
    return sum(code_lines(path.name, path.read_text()) for path in paths if path.suffix in CODE)


def target_lines(target, patterns):
    total = 0
    for path in (path for pattern in patterns for path in (ROOT / 'include/tilewright').glob(pattern)):
        text = path.read_text()
        left = '\n'.join(line for line in text.split('\n') if target not in line) if path.name == 'target.h' else ''
        total += code_lines(path.name, text) - code_lines(path.name, left)
    return total


def product_lines():
    """By folder; what reads and runs PTX stands apart."""
    counted, ptx = dict.fromkeys(PRODUCT, 0), 0
    for folder in PRODUCT:
        for path in (ROOT / folder).rglob('*'):
            if path.suffix in CODE and '__pycache__' not in path.parts:
                name, lines = path.relative_to(ROOT).as_posix(), code_lines(path.name, path.read_text())
                if name.startswith(PTX):
                    ptx += lines
                else:
                    counted[folder] += lines
    return counted, ptx


def main():
    parser = argparse.ArgumentParser(prog='./tw cost', description='What a family, a target and the product cost, in code lines.')
    parser.parse_args()
    print(f'{"family":18}{"files":>6}{"lines":>7}')
    for family in families():
        parts = files_of(family)
        files = [path for paths in parts.values() for path in paths]
        what = ', '.join(f'{part} {lines_of(paths)}' for part, paths in parts.items() if paths)
        print(f'{family:18}{len(files):6}{lines_of(files):7}  {what}')
    print(f'\n{"target":24}{"lines":>7}')
    for target, what, patterns in TARGETS:
        print(f'{target:24}{target_lines(target, patterns):7}  {what}')
    counted, ptx = product_lines()
    what = ', '.join(f'{folder} {lines}' for folder, lines in counted.items())
    print(f'\n{"product":24}{sum(counted.values()):7}  {what}; apart: what runs PTX {ptx}')


if __name__ == '__main__':
    main()
