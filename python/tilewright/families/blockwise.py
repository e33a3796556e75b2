"""matmul_blockwise: FP8 products with scales of blocks."""
from .._arrays import is_torch, view_of
from .._library import check, library, new_options
from .._problem import Extents, check_on_host, check_told, checked_epilogue, epilogue_views, output_of, parts_of
from .._scaled_problem import scaled_problem
from .._values import flag
from .._with_torch import with_torch

__all__ = ['matmul_blockwise']

READ = ('a', 'b', 'a_scales', 'b_scales')


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
        from .._torch_made import operators_of
        check_told(a_type, b_type)
        arguments = {**dict(zip(READ, given)), 'powers_of_two': flag('powers_of_two', powers_of_two)}
        return operators_of('blockwise').call(arguments, out, epilogue, out_dtype, stream, options)
    check_on_host(stream)
    views = [view_of('a', a, a_type), view_of('b', b, b_type), view_of('a_scales', a_scales),
             view_of('b_scales', b_scales)]
    scalars = epilogue.scalars()
    shape = Extents(views[0].shape, views[1].shape, scalars[-1]).output
    out, d = output_of(out, out_dtype, a, views[0].type, shape)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = scaled_problem('blockwise', views, d, scalars, sides, powers_of_two)
    check(library().tw_simulate(problem, new_options(*options)))
    return out


@with_torch('blockwise')
def _operators():
    from .._torch_operators import Product

    def problem(views, given):
        return scaled_problem('blockwise', [views[name] for name in READ], views['out'], *parts_of(given, views),
                              given['powers_of_two'])

    return Product('matmul_blockwise', 'blockwise',
                   lambda given: Extents(given['a'].shape, given['b'].shape, given['gated']).output, problem,
                   numbers={'powers_of_two': 'powers_of_two'})
