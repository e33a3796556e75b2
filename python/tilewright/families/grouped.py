"""matmul_grouped: groups of rows, each times a matrix of its own."""
from .._arrays import MUST_BE, View, is_torch, view_of
from .._library import Invalid, check, library, new_options, new_problem, new_struct, set_integers
from .._problem import (Extents, check_on_host, check_told, checked_epilogue, epilogue_views,
                        fill_matrix, fill_problem, fill_vector, output_of, parts_of)
from .._scaled_problem import check_shape, first_of, set_groups, set_scales
from .._scales import blocks_of
from .._with_torch import with_torch

__all__ = ['matmul_grouped']

MUST_BE.update(rows='int32', row_index='int32')
READ = ('a', 'b', 'rows', 'row_index', 'a_scales', 'b_scales')
OPTIONAL = ('row_index', 'a_scales', 'b_scales')


def _rows_in_one(name, view):
    """A matrix of all rows, of [groups, capacity, columns]."""
    if view is None or len(view.shape) == 2:
        return view
    if len(view.shape) != 3:
        raise Invalid(f'{name} has shape {view.shape}, but must be [rows, columns] or [groups, capacity, columns].')
    groups, capacity, columns = view.shape
    if groups > 1 and capacity > 0 and view.strides[0] != capacity * view.strides[1]:
        raise Invalid(f'{name} has shape {view.shape} and strides {view.strides}, but rows of its '
                      'groups must lie one stride apart, groups one behind the other.')
    return View(view.address, (groups * capacity, columns), view.strides[1:], view.type,
                view.writable, view.owner)


def _output_shape(a, b, row_index, gated):
    if len(a) not in (2, 3) or len(b) != 3:
        raise Invalid(f'a has shape {tuple(a)} and b has shape {tuple(b)}, but a must be [m, k] or '
                      '[groups, capacity, k], and b [groups, k, n].')
    if len(a) == 3 and (a[0] != b[0] or row_index is not None):
        raise Invalid(f'a has shape {tuple(a)}, which is a capacity for each group, but b has '
                      f'{b[0]} groups and row_index is {"not " * (row_index is not None)}None.')
    columns = Extents(a[-2:], b[1:], gated).output[-1]
    return (*(a[:-1] if row_index is None else row_index), columns)


def problem_of(views, d, scalars, arrays):
    """The tw_grouped_problem of Views (a, b, rows, row_index, a_scales, b_scales); `arrays` has ARRAYS' order."""
    a, b, rows, row_index, a_scales, b_scales = views
    groups, k, n = b.shape
    shape = _output_shape(a.shape, b.shape, None if row_index is None else row_index.shape,
                          scalars[-1])
    if d.shape != shape:
        raise Invalid(f'out has shape {d.shape}, but the product has shape {shape}.')
    problem = new_problem('grouped')
    set_integers(problem, None, capacity=a.shape[1] if len(a.shape) == 3 else 0)
    a = _rows_in_one('a', a)
    flat = list(arrays)
    for place, name in ((0, 'source'), (5, 'auxiliary')):
        flat[place] = _rows_in_one(name, flat[place])
    one = first_of(b)
    placed = _rows_in_one('out', d)
    if row_index is None:
        fill_problem(problem.matmul, a, one, placed, scalars, flat)
    else:
        m = placed.shape[0]
        problem.row_index = fill_vector('row_index', row_index, m, ('s32',))
        set_integers(problem, None, a_rows=a.shape[0])
        all_rows = View(a.address, (m, k), a.strides, a.type, False, a.owner)
        fill_problem(problem.matmul, all_rows, one, placed, scalars, flat)
    set_groups(problem, b, rows)
    if (a_scales is None) != (b_scales is None):
        raise Invalid('One of a_scales and b_scales is given; FP8 with scales of blocks has both.')
    if a_scales is not None:
        blocks = blocks_of(k)
        a_scales = _rows_in_one('a_scales', a_scales)
        check_shape('a_scales', a_scales, (a.shape[0], blocks), 'row of a and each 128 of k')
        check_shape('b_scales', b_scales, (blocks, blocks_of(n)), '128 of k and each 128 columns of b')
        row, column = new_struct('tw_matrix'), new_struct('tw_matrix')
        fill_matrix(row, 'a_scales', a_scales, *a_scales.shape, ())
        fill_matrix(column, 'b_scales', b_scales, *b_scales.shape[-2:], (groups,))
        set_scales(problem.a_scales, row, *a_scales.shape, row.row_stride, row.column_stride)
        set_scales(problem.b_scales, column, b_scales.shape[-1], blocks, column.column_stride,
                   column.row_stride)
    return problem


def matmul_grouped(a, b, rows, out=None, *, row_index=None, a_scales=None, b_scales=None,
                   epilogue=None, out_dtype=None, stream=None, instance=None, target=None,
                   a_type=None, b_type=None):
    """Groups of rows of a, each times its own matrix of b: b is [groups, k, n], contiguous along k.

    a is [m, k], groups lying one behind the other, and rows[g] is the row behind group g's last; the result is [m, n]. Or
        a is [groups, capacity, k], and rows[g] is how many rows of group g are there; the result is [groups, capacity, n].
    rows: int32, on the device: no host reads it. Rows of no group are left alone in the result.
    row_index: int32 [m]; row i of the result is then made of row row_index[i] of a [any, k], or of zeros where a has none.
    a_scales, b_scales: of FP8 with scales of blocks, as for matmul_blockwise: [m, ceil(k / 128)] (or with groups and
        capacity, as a) and [groups, ceil(k / 128), ceil(n / 128)].
    The epilogue counts rows in all groups; its bias is one for all. All else is as for matmul.
    """
    epilogue = checked_epilogue(epilogue)
    options = (False, True, instance, target)
    given = (a, b, rows, row_index, a_scales, b_scales)
    if any(is_torch(array) for array in given):
        from .._torch_made import operators_of
        check_told(a_type, b_type)
        return operators_of('grouped').call(dict(zip(READ, given)), out, epilogue, out_dtype, stream, options)
    check_on_host(stream)
    views = [None if array is None and name in OPTIONAL else view_of(name, array, type)
             for name, array, type in zip(READ, given, (a_type, b_type, None, None, None, None))]
    scalars = epilogue.scalars()
    shape = _output_shape(views[0].shape, views[1].shape,
                          None if row_index is None else views[3].shape, scalars[-1])
    out, d = output_of(out, out_dtype, a, views[0].type, shape)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = problem_of(views, d, scalars, sides)
    check(library().tw_simulate(problem, new_options(*options)))
    return out


@with_torch('grouped')
def _operators():
    from .._torch_operators import Product

    def output_shape(given):
        index = given['row_index']
        return _output_shape(given['a'].shape, given['b'].shape, None if index is None else index.shape, given['gated'])

    def problem(views, given):
        return problem_of([views[name] for name in READ], views['out'], *parts_of(given, views))

    return Product('matmul_grouped', 'grouped', output_shape, problem,
                   names={'a_block_scales': None, 'b_block_scales': None})
