"""matmul_requantised: torch tensors go to _torch_requantised.py, host memory runs on the virtual GPU."""
from ._arrays import empty_like_kind, is_torch, view_of
from ._blockwise import problem_of
from ._library import check, library, new_options
from ._problem import Extents, check_on_host, check_told, checked_epilogue, epilogue_views
from ._scales import pair_of, scales_of, strided
from ._values import flag


def matmul_requantised(a, b, a_scales, b_scales, out=None, *, epilogue=None, column_major=False,
                       powers_of_two=False, stream=None, batch_invariant=False, instance=None,
                       target=None, a_type=None, b_type=None):
    """(elements, scales) of epilogue(a @ b), as quantise_blocks makes them of it: elements are [.., m, n] in e4m3,
    scales [.., m, ceil(n / 128)] in float32. They are a and a_scales of the next product.

    out: a pair of elements and scales to write to. column_major, powers_of_two: as of quantise_blocks. All else is
    as for matmul_blockwise; a scale of b is of 128 by 128, and the epilogue has no gate and no output_scale.
    """
    epilogue = checked_epilogue(epilogue)
    elements, scales = pair_of(out)
    options = (flag('batch_invariant', batch_invariant), True, instance, target)
    column_major, powers_of_two = flag('column_major', column_major), flag('powers_of_two', powers_of_two)
    given = (a, b, a_scales, b_scales)
    if any(is_torch(array) for array in given):
        from . import _torch_requantised
        check_told(a_type, b_type)
        return _torch_requantised.matmul_requantised(given, elements, scales, epilogue, column_major,
                                                     powers_of_two, stream, options)
    check_on_host(stream)
    views = [view_of('a', a, a_type), view_of('b', b, b_type), view_of('a_scales', a_scales),
             view_of('b_scales', b_scales)]
    scalars = epilogue.scalars()
    shape = Extents(views[0].shape, views[1].shape, scalars[-1]).output
    if out is None:
        elements = empty_like_kind(a, shape, 'e4m3')
        scales = strided(a, *scales_of(shape, 1, column_major))
    written = view_of('elements', elements, 'e4m3'), view_of('scales', scales)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = problem_of(*views, written[0], scalars, sides, written[1], powers_of_two)
    check(library().tw_simulate(problem, new_options(*options)))
    return elements, scales
