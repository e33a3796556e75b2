"""Bugs of depthwise convolutions: which pixels, filters and columns a strip is of."""
from bug import Bug, Site, WRONG_RESULT

# Everything different along h and w: lines of 12 and of 13 outputs.
H = (9, 3, 2, 1, 2, 0)
W = (14, 2, 1, 3, 1, 1)
ANY = (2, 16, 16, 16, *H, *W, 2)
# Channels that make no vectors, with two columns each.
DOUBLED = (2, 7, 14, 7, *H, *W, 2)
# Two blocks of columns, and more tiles than CTAs; 3 by 3.
BLOCKS = (3, 144, 144, 144, 9, 3, 1, 1, 1, 1, 13, 3, 1, 1, 1, 1, 1)
# One line of 13 outputs.
LINE = (1, 16, 16, 16, 1, 1, 1, 1, 0, 0, 13, 1, 1, 1, 0, 0, 1)
# What lies right of the image is the next line, not the end of memory.
RIGHT = (1, 16, 16, 16, 4, 1, 2, 1, 0, 0, 14, 3, 1, 1, 0, 1, 1)
STRIDED = (1, 16, 16, 16, 9, 3, 2, 1, 1, 1, 14, 3, 2, 1, 1, 1, 1)

BUGS = [
    Bug('filters_before_all_are_there',
        'who is first multiplies by filters that others have not written yet',
        'pipeline/together.h', 'isa::barrier_sync(0, threads);', '',
        [Site('depthwise', ANY, 'race', 'stream', also=('uninitialised',))]),
    Bug('columns_of_another_block',
        'a CTA takes tiles whose filters it does not have',
        'family/conv2d/depthwise_launch.h',
        'ctas = std::max(blocks, std::min(params.tiles, rounds * max_ctas) / blocks * blocks);',
        'ctas = std::max(blocks, std::min(params.tiles, rounds * max_ctas) - 1);',
        [Site('depthwise', BLOCKS, WRONG_RESULT)]),
    Bug('strip_beyond_its_line',
        'a strip that ends beside the image goes on with the next line',
        'family/conv2d/depthwise.h',
        'const unsigned end = q + pixels < w.outputs.value ? q + pixels : w.outputs.value;',
        'const unsigned end = q + pixels;',
        [Site('depthwise', LINE, 'bounds', 'stream', stops=True)]),
    Bug('pixels_beside_the_image',
        'what lies right of the image is read, not zero',
        'family/conv2d/depthwise.h',
        'const bool inside = static_cast<unsigned>(corner.x) + x < width;',
        'const bool inside = width > 0;',
        [Site('depthwise', RIGHT, WRONG_RESULT)]),
    Bug('lines_as_far_as_columns',
        'lines of the filter are as far apart as its columns',
        'family/conv2d/depthwise.h', 'const int y = corner.y + static_cast<int>(r) * h.dilation;',
        'const int y = corner.y + static_cast<int>(r) * w.dilation;',
        [Site('depthwise', ANY, WRONG_RESULT)]),
    Bug('first_channels_only',
        'a column sees the channel of its own number, not of its group',
        'family/conv2d/depthwise.h',
        'const unsigned channel = params_.multiplier.divide(column).quotient;',
        'const unsigned channel = column % static_cast<unsigned>(params_.channels);',
        [Site('depthwise', DOUBLED, WRONG_RESULT)]),
    Bug('outputs_without_stride',
        'outputs of a strip are of neighbouring pixels, whatever the stride',
        'family/conv2d/depthwise.h',
        'sums[i][j] += values[taps > 0 ? i * stride + s : 0][j] * filter[j];',
        'sums[i][j] += values[taps > 0 ? i + s : 0][j] * filter[j];',
        [Site('depthwise', STRIDED, WRONG_RESULT)]),
]
