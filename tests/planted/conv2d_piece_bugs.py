"""Bugs of convolutions that threads copy in pieces: pixels that are known, and groups that share a tile."""
from bug import Bug, Site, WRONG_RESULT

# Everything different along h and w. Pieces of 16 bytes, of 4, and of single elements; three rows of tiles.
H = (9, 3, 2, 1, 2, 0)
W = (14, 2, 1, 3, 1, 1)
VECTORS = (3, 8, 80, 1, *H, *W, 2)
WORDS = (3, 6, 80, 1, *H, *W, 2)
ELEMENTS = (3, 7, 80, 1, *H, *W, 2)
# Fewer outputs than a tile has rows: it does not reach back.
FEW = (1, 8, 40, 1, 5, 3, 2, 1, 2, 0, *W, 2)
# Four groups of four channels and ten columns, all in one tile.
TOGETHER = (3, 16, 40, 4, *H, *W, 2)
# Six groups of eight channels and 20 columns: two tiles of three.
TILES = (3, 48, 120, 6, *H, *W, 2)
# Nine k-tiles: more than there are stages.
LONG = (1, 64, 64, 1, 9, 3, 1, 1, 0, 0, 9, 3, 1, 1, 0, 0, 1)
# Lines of filters, of three pixels and three channels.
LINES = (2, 3, 80, 1, *H, 14, 3, 1, 1, 1, 1, 2)
# Two tiles of eight groups of eight channels; the filter has more positions than there are stages.
BLOCKS = (3, 128, 128, 16, 9, 4, 2, 1, 2, 0, 14, 3, 1, 1, 1, 1, 2)
# Patches: 4 by 2 pixels of 3 channels.
PATCHES = (3, 3, 40, 1, 8, 4, 4, 1, 0, 0, 12, 2, 2, 1, 0, 0, 2)

BUGS = [
    Bug('pieces_of_a_turned_filter',
        'the filter is taken as if its lines were as long as its columns',
        'family/conv2d/im2col_pieces.h',
        'const int x = static_cast<int>(w.phases[0].filter.split(position)) * w.dilation;',
        'const int x = static_cast<int>(h.phases[0].filter.split(position)) * w.dilation;',
        [Site('conv2d_pieces', ELEMENTS, WRONG_RESULT)]),
    Bug('pieces_around_the_edge',
        'left of a line is the end of the line before, not zero',
        'family/conv2d/im2col_pieces.h',
        'return x < static_cast<unsigned>(params_.axes[0].extent) &&',
        'return x < unsigned{nowhere} &&',
        [Site('conv2d_pieces', WORDS, 'bounds', 'load', -1)]),
    Bug('pieces_past_the_last_pixel',
        'behind the last row of A there is an image',
        'family/conv2d/im2col_pieces.h',
        'output < params_.a.rows ? pixel(static_cast<unsigned>(output)) : Pixel{0, nowhere, 0};',
        'pixel(static_cast<unsigned>(output));',
        [Site('conv2d_pieces', FEW, 'bounds', 'load', -1)]),
    Bug('pixels_of_the_first_tile',
        'the pixels of a tile are not looked for again',
        'family/conv2d/im2col_pieces.h', 'if (row != first_row_) {', 'if (first_row_ < 0) {',
        [Site('conv2d_pieces', VECTORS, 'global-race', 'multiply 0')]),
    Bug('groups_of_the_first_tile',
        'the groups of a tile\'s columns are not looked for again',
        'family/conv2d/im2col_pieces.h', 'if (column != first_column_) {', 'if (first_column_ < 0) {',
        [Site('conv2d_pieces', VECTORS, 'global-race', 'multiply 0')]),
    Bug('every_group_in_every_filter',
        'a filter is multiplied by the channels of all groups of its tile',
        'family/conv2d/im2col_pieces.h', 'const bool inside = groups_[line] == weights.group;',
        'const bool inside = groups_[line] < unsigned{nowhere} && weights.group < unsigned{nowhere};',
        [Site('conv2d_pieces', TOGETHER, WRONG_RESULT)]),
    Bug('pieces_of_two_groups',
        'a piece of B is as large as a filter is aligned, and reaches into another group',
        'family/conv2d/launch.h',
        'std::min(loader.b.alignment, alignment_of(nullptr, c, 1, 0, matmul.b.type));',
        'loader.b.alignment;',
        [Site('conv2d_pieces', (3, 16, 40, 4, 9, 4, 2, 1, 2, 0, 14, 2, 1, 3, 1, 1, 2), 'alignment', 'load', -1, stops=True)]),
    Bug('channels_of_the_first_tile',
        'all groups see the channels of the first ones',
        'family/conv2d/im2col_pieces.h',
        'const T* const image = static_cast<const T*>(params_.a.data) + batch * params_.a.batch_stride;',
        'const T* const image = static_cast<const T*>(params_.a.data) + 0 * batch;',
        [Site('conv2d_pieces', TILES, WRONG_RESULT)]),
    Bug('pieces_announced_early',
        'a stage is announced while its copies are in flight',
        'family/conv2d/im2col_pieces.h', 'isa::cp_async_wait_group<stages_held>();',
        'isa::cp_async_wait_group<stages_held + 1>();',
        [Site('conv2d_pieces', LONG, 'read-before-full', 'multiply 0', 0)]),
    Bug('pieces_not_fenced',
        'the tensor core reads what threads copied, but another proxy may not see it yet',
        'pipeline/fenced_op.h', 'isa::fence_proxy_async();', '',
        [Site('conv2d_pieces', LONG, 'missing-proxy-fence', 'multiply 0', 0),
         Site('conv2d_blocks', BLOCKS, 'missing-proxy-fence', 'multiply 0', 0)]),
    Bug('filters_announced_early',
        'the filters of a stage are announced while their copies are in flight',
        'family/conv2d/filter_blocks.h', 'isa::cp_async_wait_group<stages_held>();',
        'isa::cp_async_wait_group<stages_held + 1>();',
        [Site('conv2d_blocks', BLOCKS, 'read-before-full', 'multiply 0', 0)]),
    Bug('blocks_of_the_first_group',
        'all filters of a tile have the channels of its first group',
        'family/conv2d/filter_blocks.h', 'first_channels_[i] = group * params.group_channels;',
        'first_channels_[i] = group * 0;',
        [Site('conv2d_blocks', BLOCKS, WRONG_RESULT)]),
    Bug('filters_for_all_bytes',
        'what announces the image counts the bytes of filters, which no copy engine brings',
        'family/conv2d/kernel.h',
        '{tiling.a_bytes(), Loader::completion, {Role::Load, Loader::arrivals}, {reads}},',
        '{2 * tiling.a_bytes(), Loader::completion, {Role::Load, Loader::arrivals}, {reads}},',
        [Site('conv2d_blocks', BLOCKS, 'transaction-bytes', 'load', 0, also=('deadlock',), stops=True)]),
    Bug('lines_in_whole_words',
        'what begins amid a word is taken to begin with it',
        'family/conv2d/run_copy.h', 'stored[i] = is_odd ? words[i] >> 16 | words[i + 1] << 16 : words[i];',
        'stored[i] = words[i];',
        [Site('conv2d_pieces', LINES, WRONG_RESULT)]),
    Bug('lines_beyond_the_edge',
        'right of a line of the image is the next one, not zero',
        'family/conv2d/im2col_pieces.h', 'const int until = w.extent * pitch - before;',
        'const int until = (w.extent + 1) * pitch - before;',
        [Site('conv2d_pieces', LINES, 'bounds', 'load', -1, stops=True)]),
    Bug('patches_of_one_pixel',
        'of the pixels of a patch\'s line one is taken',
        'family/conv2d/phase.h', 'problem.c *= w.filter;', 'problem.c *= 1;',
        [Site('conv2d_pieces', PATCHES, WRONG_RESULT)]),
]
