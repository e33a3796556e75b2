"""matmul_requantised: FP8 products with scales of blocks, quantised again."""
from .._arrays import MUST_BE, empty_like_kind, is_torch, view_of
from .._library import check, library, new_options
from .._problem import Extents, check_on_host, check_told, checked_epilogue, epilogue_views, parts_of
from .._scaled_problem import check_groups, scaled_problem
from .._scales import pair_of, scales_of, strided
from .._values import flag
from .._with_torch import with_torch

__all__ = ['matmul_requantised']

MUST_BE.update(rows='int32')
READ = ('a', 'b', 'a_scales', 'b_scales', 'rows')


def _output_shape(a, b, rows, halved):
    if rows is not None:
        check_groups(a, b)
    return Extents(a, b if rows is None else b[1:], halved).output


def matmul_requantised(a, b, a_scales, b_scales, out=None, *, epilogue=None, column_major=False,
                       powers_of_two=False, rows=None, gated_blocks=False, stream=None, batch_invariant=False,
                       instance=None, target=None, a_type=None, b_type=None):
    """(elements, scales) of epilogue(a @ b), as quantise_blocks makes them of it: elements are [.., m, n] in e4m3,
    scales [.., m, ceil(n / 128)] in float32. They are a and a_scales of the next product.

    out: a pair of elements and scales to write to. column_major, powers_of_two: as of quantise_blocks. All else is
    as for matmul_blockwise; a scale of b is of 128 by 128, and the epilogue has no gate and no output_scale.

    gated_blocks: blocks of 128 columns of b are gate and up in turns (n is a multiple of 256), and elements are [m, n / 2] of
        activation(gate) * up; the epilogue then has alpha and silu, relu or no activation alone.
    rows: int32 [groups], on the device: b is [groups, k, n] and a [m, k], whose groups of rows lie one behind the other; rows[g] is the
        row behind group g's last. No host reads it; rows of no group are left alone. Kernels with rows have gated_blocks.
    """
    epilogue = checked_epilogue(epilogue)
    elements, scales = pair_of(out)
    options = (flag('batch_invariant', batch_invariant), True, instance, target)
    column_major, powers_of_two = flag('column_major', column_major), flag('powers_of_two', powers_of_two)
    gated_blocks = flag('gated_blocks', gated_blocks)
    given = (a, b, a_scales, b_scales, rows)
    if any(is_torch(array) for array in given):
        from .._torch_made import operators_of
        from .._torch_operators import epilogue_arguments
        check_told(a_type, b_type)
        arguments = {**dict(zip(READ, given)), 'column_major': column_major, 'powers_of_two': powers_of_two,
                     'gated_blocks': gated_blocks, **epilogue_arguments(epilogue, options)}
        return operators_of('requantised')(arguments, dict(elements=elements, scales=scales), stream)
    check_on_host(stream)
    views = [view_of('a', a, a_type), view_of('b', b, b_type), view_of('a_scales', a_scales),
             view_of('b_scales', b_scales)]
    ends = None if rows is None else view_of('rows', rows)
    scalars = epilogue.scalars()
    shape = _output_shape(views[0].shape, views[1].shape, ends, scalars[-1] or gated_blocks)
    if out is None:
        elements = empty_like_kind(a, shape, 'e4m3')
        scales = strided(a, *scales_of(shape, 1, column_major))
    written = view_of('elements', elements, 'e4m3'), view_of('scales', scales)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = scaled_problem('requantised', views, written[0], scalars, sides, powers_of_two, written[1], ends,
                             gated_blocks)
    check(library().tw_simulate(problem, new_options(*options)))
    return elements, scales


@with_torch('requantised')
def _operators():
    from .._library import describe
    from .._torch_operators import Operators
    from .._torch_schema import OPTIONS, SCALARS, SIDES, number_schema, read_schema

    def outputs(given):
        shape = _output_shape(given['a'].shape, given['b'].shape, given['rows'], given['gated'] or given['gated_blocks'])
        return (shape, None, 'e4m3'), (*scales_of(shape, 1, given['column_major']), 'fp32')

    def problem(views, given):
        return scaled_problem('requantised', [views[name] for name in READ[:4]], views['elements'], *parts_of(given, views),
                              given['powers_of_two'], views['scales'], views['rows'], given['gated_blocks'])

    described = describe('requantised')
    takes = {**read_schema(described), **SIDES, 'column_major': 'bool',
             **number_schema(described, {'powers_of_two': 'powers_of_two', 'gated_blocks': 'gated_blocks'}), **SCALARS, **OPTIONS}
    return Operators('matmul_requantised', takes, ('column_major',), {'elements': 'Tensor(a!)', 'scales': 'Tensor(d!)'},
                     outputs, problem)
