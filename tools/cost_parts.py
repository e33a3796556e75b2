"""What the kernels of a family are made of: its own files, cut by name.

A part has files, and in the family's other files of include/ the statements, with their blocks, whose first line names it. The
first part that is named has the lines; what no part has is what the family began with.
"""
import fnmatch
import re

# What a family began with; and the parts, their files, and the words that name them.
CONV2D = ('forward by TMA', (
    ('loaded by threads', ('*/im2col_copy.h', '*/im2col_pieces.h', '*/cp_async_cached.h', '*/run_copy.h',
                            '*/shared_groups.h', '*/filter_blocks.h'),
     r'Im2colCop|Im2colPiece|Conv2dByPieces|spans_groups|groups_together|fill_copies'),
    ('gradient of the filter', (), r'BACKWARD_FILTER|sums_pixels'),
    ('gradient of the image', ('*/conv2d_phase.h', '*/pixel_store.h'),
     r'BACKWARD_DATA|backward_data|[Gg]radient|[Pp]hase|stored|PixelStore|PixelView|PixelPage|pixels_of'),
    ('depthwise', ('*/depthwise.h',), r'[Dd]epthwise'),
    ('groups', ('*/conv2d/groups.h',), r'groups|group_|Grouped'),
    ('a third side', (), r'deep|depth|rank == 5'),
))
GROUPED = ('groups', (
    ('rows by an index', ('*/gather.h',), r'[Gg]ather|a_rows|row index'),
    ('scales of blocks', (), r'[Ss]cale|blockwise'),
))
BLOCKWISE = ('kernel and plan', (
    ('the problem and its refusals', ('*/blockwise/problem.h', '*/blockwise/family.h', '*/family/scales.h'), r'(?!)'),
    ('D quantised again', ('*/requantised.h', '*/requantised/*'), r'(?!)'),
))
BLOCK_SCALED = ('plan and recipe', (
    ('the problem and its description', ('*/block_scaled/problem.h', '*/block_scaled/family.h'), r'(?!)'),
    ('loader, TileOp and columns of scales', ('*/block_scales.h', '*/tcgen05_scaled.h', '*/scale_columns.h', '*/sm100_scaled.h'), r'(?!)'),
    ('conversion', ('*/scaled_conversion.h',), r'[Cc]onver'),
    ('scales of blockwise FP8', ('*/scale_exponents.h',), r'[Ee]xponents|powers_of_two'),
    ('CDNA4', ('*/wave_block_scales.h', '*/packed_loader.h', '*/mfma_scaled.h', '*/gfx950_scaled.h'), r'Wave|own\.a'),
    ('D quantised', ('*/mx_quantised.h',), r'quantises|[Qq]uantised|d_scale'),
))
PARTS = {'conv2d': CONV2D, 'block_scaled': BLOCK_SCALED, 'blockwise': BLOCKWISE, 'grouped': GROUPED}


def statement_end(lines, begin):
    """Behind the statement that begins there: its semicolon, or the brace that closes its block."""
    depth = 0
    for index in range(begin, len(lines)):
        for letter in re.sub(r'"(\\.|[^"\\])*"', '', lines[index]):
            depth += letter in '({['
            depth -= letter in ')}]'
        ends = lines[index].rstrip().endswith((';', '}', '};', ','))
        if depth < 0 or (depth == 0 and (ends or lines[index].lstrip().startswith('#'))):
            return index + 1
    return len(lines)


def split(family, name, text):
    """Code lines of a file, without comments, by part."""
    first, parts = PARTS[family]
    for part, files, _ in parts:
        if any(fnmatch.fnmatch(name, pattern) for pattern in files):
            return {part: sum(1 for line in text.split('\n') if line.strip())}
    counts, lines, index = {}, text.split('\n'), 0
    while index < len(lines):
        # A template's parameters belong to what they are of.
        headed = re.match(r' *template <.*>$', lines[index]) and index + 1 < len(lines)
        named = lines[index + 1 if headed else index]
        part = next((part for part, _, words in parts if re.search(words, named)), first)
        end = index + 1 if part == first else statement_end(lines, index)
        counts[part] = counts.get(part, 0) + sum(1 for line in lines[index:end] if line.strip())
        index = end
    return counts
