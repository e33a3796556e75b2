#!/usr/bin/env python3
"""What a family costs: the code lines that disappear when it is removed.

usage: cost.py [--markdown | --update | --remove FAMILY FOLDER]

Without options: the rule and a table. --markdown: the table of docs/cost.md. --update: writes it there.
--remove: a copy of the tree without the family, to compile what is left.
"""
import argparse
import fnmatch
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tokenize

import cost_parts

ROOT = pathlib.Path(__file__).resolve().parents[1]
RULE = '''A family's lines are the code lines (no blanks, no comments) that disappear from include/, src/ and python/tilewright when it is removed:
its files, regions of other files that are marked `family NAME: begin` and `end`, and lines of other files that name it outside of
a string. Tests and the virtual GPU, which models the hardware, are not counted. tests/cost removes each and compiles what is left;
matmul, of which the other products are made, has its own files and stays.'''

# Files, and the words by which other files name the family.
FAMILIES = {
    'conv2d': {
        'files': ['*conv2d*', '*im2col*', '*depthwise*', 'include/tilewright/io/divisor.h',
                  'src/bench/cudnn*',
                  'src/bench/finish.*', '*/cp_async_cached.h',
                  '*/run_copy.h', '*/filter_blocks.h'],
        'words': r'conv2d|im2col|depthwise|cp_async_cached|run_copy|filter_blocks',
    },
    # With its D quantised again, which nothing else can be.
    'blockwise': {
        'files': ['*blockwise*', '*requantised*', '*/scaled_op.h', '*/wave_scaled_op.h', '*/scale_loader.h',
                  '*/wave_scale_loader.h', '*/scales.h'],
        'words': r'blockwise|requantised|scaled_op|scale_loader|/scales\.h',
        'regions': 'blockwise|requantised',
    },
    # Without its instructions. The quantisers of the same formats stand beside it.
    'block_scaled': {
        'files': ['*/block_scaled/*', '*/block_scaled.h', '*/block_scaled.cpp', '*/block_scaled_test.cpp', '*/families/block_scaled.py', '*/io/block_scales.h',
                  '*/io/scaled_conversion.h', '*/io/scale_exponents.h', '*/op/tcgen05_scaled.h', '*/op/scale_columns.h', '*/arch/sm100_scaled.h',
                  '*/epilogue/mx_quantised.h', '*/io/wave_block_scales.h', '*/io/packed_loader.h', '*/op/mfma_scaled.h', '*/arch/gfx950_scaled.h'],
        'words': r'block_scaled_(instances|trial)|tilewright_block_scaled|(run|family|host)/block_scaled|(sm100|gfx950)_scaled|TW_FAMILY\(block_scaled',
    },
    'grouped': {
        'files': ['*grouped*', '*/group_tiles.h', '*/gather.h'],
        'words': r'grouped_(instances|trial)|measure_grouped|tilewright_grouped|(run|bench|family|host)/grouped',
    },
    # blockwise has its kernel; it also counts these lines.
    'requantised': {
        'files': ['*requantised*'],
        'words': r'requantised_(instances|trial)|tilewright_requantised|(run|family|host)/requantised|TW_FAMILY\(requantised',
    },
    'quantise': {
        'files': ['*/family/quantise/*', '*/host/quantise*.h', '*/run/quantise.*', '*/library/quantise.cpp', '*/bench/quantise.cpp',
                  '*/families/quantise.py', '*/test_quantise.py', '*/test_torch_quantise.py',
                  '*/gpu_quantise_against_torch.py', '*/quantise*_test.cpp', '*/library/quantise_problem.h'],
        'words': r'(?<!block_)(?<!block_de)quantise_(instances|trial)|measure_quantise|tilewright_quantise|(run|family|host)/quantise(_on_host)?[./]',
    },
    'block_dequantise': {
        'files': ['*/block_dequantise/*', '*/block_dequantise.h', '*/block_dequantise.cpp', '*/families/block_dequantise.py', '*/block_dequantise*_test.cpp'],
        'words': r'block_dequantise_(instances|trial)|tilewright_block_dequantise|(run|family|host)/block_dequantise|TW_FAMILY\(block_dequantise',
    },
    'block_quantise': {
        'files': ['*/block_quantise/*', '*/block_quantise.h', '*/block_quantise.cpp', '*/families/block_quantise.py', '*/block_quantise*_test.cpp'],
        'words': r'block_quantise_(instances|trial)|tilewright_block_quantise|(run|family|host)/block_quantise|TW_FAMILY\(block_quantise',
    },
    'rms_norm': {
        'files': ['*rms_norm*'],
        'words': r'rms_norm_(instances|trial)|tilewright_rms_norm|(run|family|host)/rms_norm|TW_FAMILY\(rms_norm',
    },
    'rotary': {
        'files': ['*rotary*'],
        'words': r'rotary_(instances|trial)|tilewright_rotary|(run|family|host)/rotary|TW_FAMILY\(rotary',
    },
    'attention': {
        'files': ['*attention*', '*/online_softmax.h', '*/packed_rows.h', '*/softmax_parts.h', '*/mma_rings.h', '*/wgmma_rings.h',
                  '*/byte_transpose.h', '*/ptx/permute.h'],
        'words': r'attention_(instances|trial)|tilewright_attention|sm\d+_attention|(run|family|host|dispatch)/attention|TW_FAMILY\(attention',
    },
    # The other products are made of it: it cannot be removed, and nothing is.
    'matmul': {
        'files': ['*/family/matmul*', '*/src/matmul/*', 'src/matmul/*', '*/run/matmul.*', '*/library/matmul.cpp', '*/families/matmul.py',
                  'src/cli/matmul_request.*', '*/test_matmul.py', '*/test_torch.py', '*/gpu_against_torch.py'],
        'words': r'(?!)',
        'stays': True,
    },
}
# How other libraries are called.
PEERS = ('src/bench/cudnn*', 'src/bench/cublaslt*')
COUNTED = ('include/', 'src/', 'python/tilewright/')
KEPT = ('include/tilewright/isa/model.h',)  # what the virtual GPU models
CODE = ('.h', '.hpp', '.cpp', '.cu', '.in', '.py', '.txt')
# What the family is made of, of its own files and of others' lines; the first that fits.
PARTS = (('kernel and its launch', ('include/tilewright/io/*', 'include/tilewright/isa/*',
                                    'include/tilewright/family/*', 'include/tilewright/host/*',
                                    'include/tilewright/schedule/*', 'include/tilewright/op/*',
                                    'include/tilewright/arch/*', 'include/tilewright/kernel/*', 'include/tilewright/accumulator/*',
                                    'include/tilewright/epilogue/*')),
         ('library and Python', ('include/*', 'src/library/*', 'src/dispatch/*', 'python/*')),
         ('measurements', ('src/bench/*',)),
         ('instances, reference, command line', ('src/*',)))
# What came with a target, in the order in which targets came: files, and lines of others that name it.
TARGETS = (('gfx942', 'its page, and its lines of `arch/target.h`', ('*/arch/gfx942.h', '*/arch/target.h')),
           ('gfx942', 'mechanisms: TileOp, loaders, counters, ping-pong, launches by HIP',
            ('*/op/mfma.h', '*/op/wave_grid.h', '*/accumulator/wave.h', '*/io/vector_copy.h', '*/io/fnuz_copy.h', '*/number/fnuz.h',
             '*/io/lds_loader.h', '*/io/wave_scale_loader.h', '*/pipeline/wave_counter.h', '*/pipeline/wave_steps.h',
             '*/kernel/ping_pong.h', '*/schedule/xcd_order.h', '*/family/wave_scaled_op.h', '*/host/hip.h')),
           ('gfx942', 'instructions', ('*/isa/amdgcn/*',)),
           ('gfx950', 'its pages, and its lines of `arch/target.h`; products with block scales count as the family does',
            ('*/arch/gfx950*.h', '*/arch/target.h')))
# From shared/facts (reference-system.md 3.1, cutlass.md 2.2 and 2.3), counted alike; of CUTLASS only what its GEMM has not, without
# builders and the 608 lines of im2col traits.
OTHERS = (('forward conv2d of the original, bf16, sm_100, stride, dilation and groups 1', 1767),
          ('CUTLASS, sm_100: conv kernel and collective, beyond those of its GEMM', 122 + 456),
          ('CUTLASS, sm_90: conv kernel and collective, beyond those of its GEMM', 34 + 329))


def tracked():
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard'],
                            capture_output=True, text=True)
    if listed.returncode != 0:
        print(f'tw: git does not list the files of {ROOT}, of which lines are counted: {listed.stderr.strip()}', file=sys.stderr)
        sys.exit(2)
    names = listed.stdout.split('\n')
    return [name for name in names if name and (ROOT / name).is_file()]


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


def names_family(name, line, words):
    code = without_comments(name, line) if not name.endswith('.py') else line.split('#')[0]
    if not code.lstrip().startswith('#include'):
        code = re.sub(r'"(\\.|[^"\\])*"' + ("|'[^']*'" if name.endswith('.py') else ''), '', code)
    return re.search(words, code, re.IGNORECASE) is not None


def remaining(name, text, family, words):
    """The text of a file that is not the family's own, without what is."""
    kept, inside = [], False
    for line in text.split('\n'):
        if re.search(rf'family ({FAMILIES[family].get("regions", family)}): (begin|end)\b', line):
            inside = 'begin' in line
            continue
        if not inside and not names_family(name, line, words):
            kept.append(line)
    if inside:
        sys.exit(f'{name}: a region of {family} has no end.')
    return '\n'.join(kept)


def removal(family):
    """For every counted file: its name, its text, and what is left of it; None: nothing."""
    spec = FAMILIES[family]
    for name in tracked():
        if name in KEPT or not name.startswith(COUNTED) or not name.endswith(CODE):
            continue
        text = (ROOT / name).read_text()
        own = any(fnmatch.fnmatch(name, pattern) for pattern in spec['files'])
        yield name, text, None if own else remaining(name, text, family, spec['words'])


def cost(family):
    """Code lines by part, the lines that other files lose, and those of them that call a peer's library."""
    parts = {part: 0 for part, _ in PARTS}
    shared, of_peers = {}, 0
    for name, text, left in removal(family):
        lost = code_lines(name, text) - (0 if left is None else code_lines(name, left))
        if lost == 0:
            continue
        part = next(part for part, patterns in PARTS
                    if any(fnmatch.fnmatch(name, pattern) for pattern in patterns))
        parts[part] += lost
        if left is not None:
            shared[name] = lost
        elif any(fnmatch.fnmatch(name, pattern) for pattern in PEERS):
            of_peers += lost
    return parts, shared, of_peers


def kernel_parts(family):
    """Of the kernels' lines: what each part of the family adds. Regions of other files are the first's."""
    first, others = cost_parts.PARTS[family]
    counts = {part: 0 for part in [first] + [part for part, _, _ in others]}
    for name, text, left in removal(family):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in PARTS[0][1]):
            continue
        if left is not None:
            counts[first] += code_lines(name, text) - code_lines(name, left)
            continue
        for part, count in cost_parts.split(family, name, without_comments(name, text)).items():
            counts[part] += count
    return counts


def test_lines(family):
    """Of the family's own files."""
    return sum(code_lines(name, (ROOT / name).read_text()) for name in tracked()
               if name.startswith(('tests/', 'python/tests/')) and name.endswith(CODE)
               and any(fnmatch.fnmatch(name, pattern) for pattern in FAMILIES[family]['files']))


def remove(family, folder):
    """The tree without the family; tests are left out."""
    folder = pathlib.Path(folder)
    left_of = {name: left for name, _, left in removal(family)}
    for name in tracked():
        if name.startswith('tests/') or left_of.get(name, '') is None:
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        if name in left_of:
            target.write_text(left_of[name])
    (folder / 'tests').mkdir()
    (folder / 'tests/CMakeLists.txt').write_text('')


def target_lines(target, patterns):
    """Of files that are there for the target, and of the table of all targets."""
    lost = 0
    for name in tracked():
        if name.startswith('include/') and any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            text = (ROOT / name).read_text()
            left = '\n'.join(line for line in text.split('\n') if target not in line) if name.endswith('target.h') else ''
            lost += code_lines(name, text) - code_lines(name, left)
    return lost


def markdown():
    lines = ['| code lines | |', '|---:|---|']
    for family in FAMILIES:
        parts, shared, of_peers = cost(family)
        lines.append(f'| {sum(parts.values())} | **{family}**, all of it |')
        rows = [f'| {count} | {part} |' for part, count in parts.items() if count > 0]
        lines.append(rows[0])
        if family in cost_parts.PARTS:
            of_kernel = ', '.join(f'{part} {count}' for part, count in kernel_parts(family).items())
            lines.append(f'| | by name: {of_kernel} |')
        lines += rows[1:]
        if of_peers > 0:
            lines.append(f"| {of_peers} | of these bind a peer's library, to be measured beside it |")
        if not FAMILIES[family].get('stays'):
            lines.append(f'| {sum(shared.values())} | of these in files that others use |')
        lines.append(f'| {test_lines(family)} | and its tests, which are not counted |')
    lines += [f'| {target_lines(target, patterns)} | **{target}**: {what} |' for target, what, patterns in TARGETS]
    lines += [f'| {count} | {what} |' for what, count in OTHERS]
    return '\n'.join(lines)


# Where docs/cost.md has the table.
COST_TABLE = re.compile(r'(?<=<!-- ./tw cost -->\n).*?(?=\n<!-- -->)', re.DOTALL)


def update():
    page = ROOT / 'docs/cost.md'
    page.write_text(COST_TABLE.sub(lambda _: markdown(), page.read_text()))


def main():
    parser = argparse.ArgumentParser(prog='./tw cost', description='What a family and what a target cost, in code lines.')
    parser.add_argument('--markdown', action='store_true', help='the table of docs/cost.md')
    parser.add_argument('--update', action='store_true', help='writes it there')
    parser.add_argument('--remove', nargs=2, metavar=('FAMILY', 'FOLDER'))
    options = parser.parse_args()
    if options.remove:
        family, folder = options.remove
        removable = [name for name, spec in FAMILIES.items() if not spec.get('stays')]
        if family not in removable:
            print(f"tw: There is no family '{family}' to remove; there is {', '.join(removable)}.", file=sys.stderr)
            sys.exit(2)
        remove(family, folder)
    elif options.update:
        update()
    elif options.markdown:
        print(markdown())
    else:
        print(RULE + '\n\n' + markdown())
        for family in FAMILIES:
            print(f'\nLines that {family} has in files that others use:')
            for name, lost in sorted(cost(family)[1].items()):
                print(f'  {lost:4}  {name}')


if __name__ == '__main__':
    main()
