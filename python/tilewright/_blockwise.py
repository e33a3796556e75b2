"""matmul_blockwise: torch tensors go to _torch_blockwise.py, host memory runs on the virtual GPU."""
from ._arrays import is_torch, view_of
from ._library import (Invalid, check, library, new_options, new_problem, new_struct,
                       set_integers)
from ._problem import (Extents, check_on_host, check_told, checked_epilogue, epilogue_views,
                       fill_matrix, fill_problem, output_of)
from ._values import flag

BLOCK = 128


def blocks_of(extent):
    return -(-extent // BLOCK)


def check_shape(name, view, expected, words, *others):
    if len(view.shape) < 2 or view.shape[-2:] not in (expected, *others):
        also = ''.join(f', or {other}: one for each column' for other in others)
        raise Invalid(f'{name} has shape {view.shape}, but must end in {expected}: one for each '
                      f'{words}{also}.')


def set_scales(scales, matrix, rows, k_blocks, row_stride, k_stride):
    scales.data, scales.type = matrix.data, matrix.type
    set_integers(scales, 'the scales', rows=rows, k_blocks=k_blocks, row_stride=row_stride,
                 k_stride=k_stride, batch_stride=matrix.batch_stride)


def problem_of(a, b, a_scales, b_scales, d, scalars, arrays, d_scales=None, powers_of_two=False):
    """The tw_blockwise_problem of Views, or with d_scales the tw_requantised_problem; `arrays` has ARRAYS' order, None
    where there is none."""
    extents = Extents(a.shape, b.shape, scalars[-1])
    blocks, n = blocks_of(extents.k), extents.n
    check_shape('a_scales', a_scales, (extents.m, blocks), 'row of a and each 128 of k')
    check_shape('b_scales', b_scales, (blocks, blocks_of(n)), '128 of k and each 128 columns of b',
                 (blocks, n))
    problem = new_problem('blockwise' if d_scales is None else 'requantised')
    rows, columns = new_struct('tw_matrix'), new_struct('tw_matrix')
    of_rows = [(rows, 'a_scales', a_scales, blocks)]
    if d_scales is not None:
        right = (*extents.output[:-1], blocks_of(extents.output[-1]))
        if d_scales.shape != right or not d_scales.writable:
            raise Invalid(f'The scales of out have shape {d_scales.shape}, but must have shape {right} and be writable.')
        of_rows.append((problem.d_scales, 'scales', d_scales, right[-1]))
    fill_problem(problem.matmul, a, b, d, scalars, arrays, of_rows)
    fill_matrix(columns, 'b_scales', b_scales, *b_scales.shape[-2:], extents.batch)
    set_scales(problem.a_scales, rows, problem.matmul.m, blocks, rows.row_stride, rows.column_stride)
    set_scales(problem.b_scales, columns, b_scales.shape[-1], blocks, columns.column_stride,
               columns.row_stride)
    problem.powers_of_two = flag('powers_of_two', powers_of_two)
    return problem


def matmul_blockwise(a, b, a_scales, b_scales, out=None, *, epilogue=None, out_dtype=None,
                     powers_of_two=False, stream=None, batch_invariant=False, instance=None,
                     target=None, a_type=None, b_type=None):
    """epilogue(a @ b) of FP8 with scales of blocks of 128 of k: a is [.., m, k], b is [.., k, n], both e4m3 or e5m2
    and contiguous along k; the result is [.., m, n].

    a_scales: [.., m, ceil(k / 128)] in float32, one for each row and block of k.
    b_scales: [.., ceil(k / 128), ceil(n / 128)] in float32, one for each block of 128 by 128; or
        [.., ceil(k / 128), n], one for each column.
    Scales may be row-major or column-major. A weight [n, k] with scales [ceil(n / 128), ceil(k / 128)] is given
    as w.mT and w_scales.mT. Sums are float32 beyond 128 of k. powers_of_two: all scales are such, which sm_100a's
    tensor cores multiply with themselves. All else is as for matmul.
    """
    epilogue = checked_epilogue(epilogue)
    options = (flag('batch_invariant', batch_invariant), True, instance, target)
    given = (a, b, a_scales, b_scales)
    if any(is_torch(array) for array in given):
        from . import _torch_blockwise
        check_told(a_type, b_type)
        return _torch_blockwise.family(given, out, (flag('powers_of_two', powers_of_two),), epilogue, out_dtype, stream, options)
    check_on_host(stream)
    views = [view_of('a', a, a_type), view_of('b', b, b_type), view_of('a_scales', a_scales),
             view_of('b_scales', b_scales)]
    scalars = epilogue.scalars()
    shape = Extents(views[0].shape, views[1].shape, scalars[-1]).output
    out, d = output_of(out, out_dtype, a, views[0].type, shape)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = problem_of(*views, d, scalars, sides, powers_of_two=powers_of_two)
    check(library().tw_simulate(problem, new_options(*options)))
    return out
