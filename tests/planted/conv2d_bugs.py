"""Bugs of convolutions: which pixels, channels and filter positions are read."""
from bug import Bug, Site, WRONG_RESULT

# Everything different along h and w: 5 by 12 outputs of 3 images, two k-tiles of each of 6 filter
# positions, three rows and two columns of tiles.
H = (9, 3, 2, 1, 2, 0)
SMALL = (3, 72, 80, 1, *H, 14, 2, 1, 3, 0, 1, 2)
# The same with 13 outputs along w: the second tile begins on the last line of an image.
LAST_LINE = (3, 72, 80, 1, *H, 15, 2, 1, 3, 0, 1, 2)
# Two k-tiles: no stage is used twice.
SHORT = (1, 64, 128, 1, 9, 1, 1, 1, 0, 0, 14, 2, 1, 1, 0, 0, 2)

BUGS = [
    Bug('filter_turned',
        'r moves along w, and s along h',
        'io/im2col.h',
        'offsets[i] = static_cast<std::uint16_t>(in_axis * axis.dilation);',
        'offsets[dimensions - 3 - i] = static_cast<std::uint16_t>(in_axis * axis.dilation);',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('filter_lines_of_r',
        'the filter is taken as if its lines were as long as its columns',
        'io/im2col.h', 'const auto [next_positions, in_axis] = axis.filter.divide(positions);',
        'const auto [next_positions, in_axis] = params_.axes[1].filter.divide(positions);',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('outputs_turned',
        'pixels are counted along h first',
        'io/im2col.h', 'const auto [next_outputs, output] = axis.outputs.divide(outputs);',
        'const auto [next_outputs, output] = params_.axes[1 - i % 2].outputs.divide(outputs);',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('padding_forgotten',
        'the first pixel is one of the image, not of its padding',
        'io/im2col.h',
        'TW_DEVICE int first(unsigned output) const { '
        'return static_cast<int>(output) * stride - pad; }',
        'TW_DEVICE int first(unsigned output) const { return static_cast<int>(output) * stride; }',
        [Site('conv2d', LAST_LINE, 'alignment', 'load', -1, stops=True)]),
    Bug('pixel_box_to_the_end',
        'the filter begins at pixels at which it does not end in the image',
        'host/conv2d.h', 'image.upper[i] = static_cast<int>(axis.pad_high - axis.reach());',
        'image.upper[i] = static_cast<int>(axis.pad_high);',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('stride_of_one',
        'pixels that follow each other are neighbours',
        'host/conv2d.h',
        'image.step[i] = static_cast<unsigned>(axis.stride);', 'image.step[i] = 1;',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('channels_of_the_next_position',
        'k-tiles straddle filter positions',
        'host/conv2d.h', '.batch = problem.positions(),', '.batch = 1,',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('same_share_of_pixels',
        'both CTAs bring the first half of the pixels',
        'io/im2col.h',
        'unsigned outputs = static_cast<unsigned>(pixel), positions = position;',
        'unsigned outputs = static_cast<unsigned>(first), positions = position;',
        [Site('conv2d_1x2', SMALL, WRONG_RESULT)]),
    Bug('share_to_the_same_place',
        'both halves of the pixels land in the first half of the tile',
        'io/tma_loader.h',
        'line * OperandTile::line_bytes;', '0;',
        [Site('conv2d_1x2', SHORT, 'uninitialised', 'multiply 0', 0,
              also=('overwrite-while-read',))]),
    Bug('pixels_to_oneself',
        'each CTA keeps its half of the pixels to itself; the other waits for it',
        'io/im2col.h',
        'static_cast<std::uint16_t>(mask), hint);',
        'static_cast<std::uint16_t>(1u << this->rank_), hint);',
        [Site('conv2d_1x2', SMALL, 'transaction-bytes', 'load', 0, also=('deadlock',),
              stops=True)]),
]
