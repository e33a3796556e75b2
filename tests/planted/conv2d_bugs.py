"""Bugs of convolutions: which pixels, channels and filter positions are read."""
from bug import Bug, Site, WRONG_RESULT

# Everything different along h and w: 5 by 12 outputs of 3 images, two k-tiles of each of 6 filter
# positions, three rows and two columns of tiles.
H = (9, 3, 2, 1, 2, 0)
SMALL = (3, 72, 80, *H, 14, 2, 1, 3, 0, 1, 2)
# The same with 13 outputs along w: the second tile begins on the last line of an image.
LAST_LINE = (3, 72, 80, *H, 15, 2, 1, 3, 0, 1, 2)
# Two k-tiles: no stage is used twice.
SHORT = (1, 64, 128, 9, 1, 1, 1, 0, 0, 14, 2, 1, 1, 0, 0, 2)

BUGS = [
    Bug('filter_turned',
        'r moves along w, and s along h',
        'io/im2col.h',
        'const std::uint16_t offsets[2] = {static_cast<std::uint16_t>(s * params_.w.dilation),',
        'const std::uint16_t offsets[2] = {static_cast<std::uint16_t>(r * params_.w.dilation),',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('filter_lines_of_r',
        'the filter is taken as if its lines were as long as its columns',
        'host/conv2d.h', 'loader.filter_w = Divisor(static_cast<unsigned>(w.filter));',
        'loader.filter_w = Divisor(static_cast<unsigned>(h.filter));',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('outputs_turned',
        'pixels are counted along h first',
        'io/im2col.h', 'const auto [line, q] = params_.w.outputs.divide(pixel);',
        'const auto [line, q] = params_.h.outputs.divide(pixel);',
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
        'host/conv2d.h', 'return static_cast<int>(given.pad_high - given.reach());',
        'return static_cast<int>(given.pad_high);',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('stride_of_one',
        'pixels that follow each other are neighbours',
        'host/conv2d.h',
        '.step = {static_cast<unsigned>(w.stride), static_cast<unsigned>(h.stride)},',
        '.step = {static_cast<unsigned>(w.stride), 1u},',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('channels_of_the_next_position',
        'k-tiles straddle filter positions',
        'host/conv2d.h', '.batch = positions,', '.batch = 1,',
        [Site('conv2d', SMALL, WRONG_RESULT)]),
    Bug('same_share_of_pixels',
        'both CTAs bring the first half of the pixels',
        'io/im2col.h',
        'const unsigned pixel = static_cast<unsigned>(tile.m) * tiling.m + share;',
        'const unsigned pixel = static_cast<unsigned>(tile.m) * tiling.m;',
        [Site('conv2d_1x2', SMALL, WRONG_RESULT)]),
    Bug('share_to_the_same_place',
        'both halves of the pixels land in the first half of the tile',
        'io/im2col.h',
        'const SharedAddress a = stage.tiles() + share * Tiling::span_bytes;',
        'const SharedAddress a = stage.tiles();',
        [Site('conv2d_1x2', SHORT, 'uninitialised', 'multiply 0', 0,
              also=('overwrite-while-read',))]),
    Bug('pixels_to_oneself',
        'each CTA keeps its half of the pixels to itself; the other waits for it',
        'io/im2col.h',
        'static_cast<std::uint16_t>(tiling.cluster.row_mask(this->rank_)), hint);',
        'static_cast<std::uint16_t>(1u << this->rank_), hint);',
        [Site('conv2d_1x2', SMALL, 'transaction-bytes', 'load', 0, also=('deadlock',),
              stops=True)]),
]
