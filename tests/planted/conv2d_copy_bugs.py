"""Bugs of convolutions whose operands threads copy, and of groups."""
from bug import Bug, Site, WRONG_RESULT

# Everything different along h and w; 8 channels go by cp.async, 7 element by element.
H = (9, 3, 2, 1, 2, 0)
W = (14, 2, 1, 3, 1, 1)
ALIGNED = (3, 8, 80, 1, *H, *W, 2)
ELEMENTS = (3, 7, 80, 1, *H, *W, 2)
# Fewer filters than a tile has columns: it does not reach back.
FEW = (3, 8, 40, 1, *H, *W, 2)
# Three groups of 5 columns: they begin at odd ones.
GROUPS = (3, 21, 15, 3, *H, *W, 2)
# Two groups of 33 columns, of which 32 are inside of a chunk.
ODD = (1, 6, 66, 2, *H, *W, 2)
# Nine k-tiles in six stages.
LONG = (1, 64, 64, 1, 9, 3, 1, 1, 0, 0, 9, 3, 1, 1, 0, 0, 1)
# Three k-tiles: no stage is used twice.
SHORT = (1, 64, 64, 1, 9, 3, 1, 1, 0, 0, 14, 1, 1, 1, 0, 0, 1)

BUGS = [
    Bug('copied_filter_turned',
        'the filter is taken as if its lines were as long as its columns',
        'family/conv2d/im2col_axes.h',
        'const int here = begin + static_cast<int>(phase.filter.split(position)) * axis.dilation;',
        'const int here = begin + static_cast<int>(axes[1].phases[0].filter.split(position)) * '
        'axis.dilation;',
        [Site('conv2d_copies', ALIGNED, WRONG_RESULT),
         Site('conv2d_copies_90', ELEMENTS, WRONG_RESULT)]),
    Bug('copied_outputs_turned',
        'lines of outputs are as long as columns',
        'family/conv2d/im2col_axes.h', 'const int begin = axis.first(axis.outputs.split(output)) + phase.offset;',
        'const int begin = axis.first(axes[1].outputs.split(output)) + phase.offset;',
        [Site('conv2d_copies', ALIGNED, WRONG_RESULT)]),
    Bug('copied_around_the_edge',
        'left of a line is the end of the line before, not zero',
        'family/conv2d/im2col_axes.h',
        'if (here < 0 || here >= axis.extent) return -1;',
        'if (here < 0 && pitch > 1 || here >= axis.extent) return -1;',
        [Site('conv2d_copies', ALIGNED, WRONG_RESULT),
         Site('conv2d_copies_90', ELEMENTS, WRONG_RESULT)]),
    Bug('copied_instead_of_zeros',
        'outside of the image something is copied, and not zeros',
        'family/conv2d/im2col_copy.h',
        'isa::cp_async<16>(to, at < 0 ? first : first + at, at < 0 ? 0 : 16);',
        'isa::cp_async<16>(to, at < 0 ? first : first + at, 16);',
        [Site('conv2d_copies', ALIGNED, WRONG_RESULT)]),
    Bug('copied_past_the_last_pixel',
        'behind the last pixel there is no image',
        'family/conv2d/im2col_copy.h',
        'return at_row < view.rows && at_k < view.k ? offset_of(at_row, at_k) : -1;',
        'return at_k < view.k ? offset_of(at_row, at_k) : -1;',
        [Site('conv2d_copies', FEW, 'bounds', 'load', -1)]),
    Bug('same_channels_for_all_groups',
        'every group sees the channels, and the filters, of the first',
        'family/conv2d/im2col_copy.h',
        'const T* const first = static_cast<const T*>(view.data) + group * view.batch_stride;',
        'const T* const first = static_cast<const T*>(view.data) + 0 * group * view.batch_stride;',
        [Site('conv2d_copies', GROUPS, WRONG_RESULT)]),
    Bug('epilogue_of_the_first_group',
        'bias and residual are read at the columns of the first group',
        'family/conv2d/groups.h', 'const int first = place.batch * place.n;',
        'const int first = 0 * place.batch * place.n;',
        [Site('conv2d_copies', GROUPS, WRONG_RESULT)]),
    Bug('pairs_at_odd_columns',
        'a group that begins at an odd column has no pairs',
        'family/conv2d/groups.h',
        'return PlaceOf::columns_inside() && PlaceOf::operator()(0).n % 2 == 0;',
        'return PlaceOf::columns_inside();',
        [Site('conv2d_copies', ODD, 'alignment', 'multiply 0', -1, stops=True)]),
    Bug('pixels_announced_early',
        'a stage is announced while its copies are in flight',
        'family/conv2d/im2col_copy.h', 'Copy::template wait<stages_held>();',
        'Copy::template wait<stages_held + 1>();',
        [Site('conv2d_copies', LONG, 'read-before-full', 'multiply 0', 0),
         Site('conv2d_copies_90', LONG, 'read-before-full', 'multiply 0', 0),
         Site('conv2d_copies_100', LONG, 'read-before-full', 'multiply 0', 0)]),
    Bug('pixels_not_fenced',
        'the tensor core reads what threads copied, but another proxy may not see it yet',
        'bind/thread_recipe.h',
        'Target::template Loader<tiling, table>::elected ? Completion::WarpsArriveFenced',
        'Target::template Loader<tiling, table>::elected ? Completion::WarpsArrive',
        [Site('conv2d_copies_90', SHORT, 'missing-proxy-fence', 'multiply 0', 0),
         Site('conv2d_copies_100', SHORT, 'missing-proxy-fence', 'multiply 0', 0),
         Site('gather', (0, 100, 96, 2), 'missing-proxy-fence', 'multiply 0', 0)]),
]
