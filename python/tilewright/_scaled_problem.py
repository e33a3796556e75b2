"""Problems of products with scales of blocks of 128."""
from ._arrays import View
from ._library import Invalid, new_problem, new_struct, set_integers
from ._problem import Extents, fill_matrix, fill_problem, fill_vector
from ._scales import blocks_of
from ._values import flag


def check_shape(name, view, expected, words, *others):
    if len(view.shape) < 2 or view.shape[-2:] not in (expected, *others):
        also = ''.join(f', or {other}: one for each column' for other in others)
        raise Invalid(f'{name} has shape {view.shape}, but must end in {expected}: one for each '
                      f'{words}{also}.')


def set_scales(scales, matrix, rows, k_blocks, row_stride, k_stride):
    scales.data, scales.type = matrix.data, matrix.type
    set_integers(scales, 'the scales', rows=rows, k_blocks=k_blocks, row_stride=row_stride,
                 k_stride=k_stride, batch_stride=matrix.batch_stride)


def check_groups(a, b):
    """Shapes where rows come in groups."""
    if len(a) != 2:
        raise Invalid(f'a has shape {tuple(a)}, but where rows come in groups it must be [m, k].')
    if len(b) != 3:
        raise Invalid(f'b has shape {tuple(b)}, but where rows come in groups it must be [groups, k, n].')


def first_of(b):
    """The first of [groups, k, n]."""
    return View(b.address, b.shape[1:], b.strides[1:], b.type, False, b.owner)


def set_groups(problem, b, rows):
    """Each group's rows, and its matrix of b, [groups, k, n]; `problem` has the product of the first."""
    groups = b.shape[0]
    problem.rows = fill_vector('rows', rows, groups, ('s32',))
    set_integers(problem.matmul, None, batch=groups)
    set_integers(problem.matmul.b, 'b', batch_stride=b.strides[0])


def scaled_problem(family, views, d, scalars, arrays, powers_of_two, d_scales=None, rows_of_groups=None, gated_blocks=False):
    """The problem of a family with a_scales and b_scales, of Views of (a, b, a_scales, b_scales), and where there are any of
    d_scales; `arrays` has ARRAYS' order, None where there is none. rows_of_groups: where b is [groups, k, n]."""
    a, all_b, a_scales, b_scales = views
    if rows_of_groups is not None:
        check_groups(a.shape, all_b.shape)
    b = all_b if rows_of_groups is None else first_of(all_b)
    extents = Extents(a.shape, b.shape, scalars[-1] or gated_blocks)
    blocks, n = blocks_of(extents.k), extents.n
    check_shape('a_scales', a_scales, (extents.m, blocks), 'row of a and each 128 of k')
    check_shape('b_scales', b_scales, (blocks, blocks_of(n)), '128 of k and each 128 columns of b',
                (blocks, n))
    problem = new_problem(family)
    rows, columns = new_struct('tw_matrix'), new_struct('tw_matrix')
    of_rows = [(rows, 'a_scales', a_scales, blocks)]
    if d_scales is not None:
        right = (*extents.output[:-1], blocks_of(extents.output[-1]))
        if d_scales.shape != right or not d_scales.writable:
            raise Invalid(f'The scales of out have shape {d_scales.shape}, but must have shape {right} and be writable.')
        of_rows.append((problem.d_scales, 'scales', d_scales, right[-1]))
    fill_problem(problem.matmul, a, b, d, scalars, arrays, of_rows, gated_blocks)
    matrices = extents.batch if rows_of_groups is None else all_b.shape[:1]
    fill_matrix(columns, 'b_scales', b_scales, *b_scales.shape[-2:], matrices)
    set_scales(problem.a_scales, rows, problem.matmul.m, blocks, rows.row_stride, rows.column_stride)
    set_scales(problem.b_scales, columns, b_scales.shape[-1], blocks, columns.column_stride,
               columns.row_stride)
    problem.powers_of_two = flag('powers_of_two', powers_of_two)
    if gated_blocks:
        problem.gated_blocks = 1
    if rows_of_groups is not None:
        set_groups(problem, all_b, rows_of_groups)
    return problem
