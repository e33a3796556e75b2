"""quantise_blocks: FP8 with scales of blocks, of other types."""
from .._arrays import TOLD_BY, count, empty_like_kind, is_torch, type_name, view_of
from .._library import Invalid, check, library, new_options, new_problem, set_integers
from .._problem import check_on_host, check_told, fill_matrix
from .._scales import pair_of, scales_of, strided
from .._values import flag, integer
from .._with_torch import with_torch

__all__ = ['quantise_blocks']

TOLD_BY['x'] = 'x_type'


def problem_of(x, elements, scales, scale_rows, powers_of_two):
    """The tw_quantise_problem of Views."""
    shape, _ = scales_of(x.shape, scale_rows, False)
    for name, view, right in (('elements', elements, x.shape), ('scales', scales, shape)):
        if view.shape != right:
            raise Invalid(f'The {name} of out have shape {view.shape}, but those of x have shape {right}.')
        if not view.writable:
            raise Invalid(f'The {name} of out are written to, but their memory is read-only.')
    *batch, m, k = x.shape
    problem = new_problem('quantise')
    set_integers(problem, None, m=m, k=k, batch=count(batch), scale_rows=scale_rows)
    problem.powers_of_two = powers_of_two
    for into, name, view in ((problem.source, 'x', x), (problem.elements, 'elements', elements),
                             (problem.scales, 'scales', scales)):
        fill_matrix(into, name, view, *view.shape[-2:], tuple(batch))
    return problem


def quantise_blocks(x, out=None, *, scale_rows=1, out_dtype=None, column_major=False,
                    powers_of_two=False, stream=None, instance=None, target=None, x_type=None):
    """(elements, scales) of x, as FP8 products with scales of blocks take them: x is [.., m, k] in bf16, fp16 or fp32,
    contiguous along k; elements are [.., m, k] in e4m3, or what out_dtype says (e5m2).

    scale_rows: 1, and scales are [.., m, ceil(k / 128)], one for each row and 128 of k, as of activations;
        128, and they are [.., ceil(m / 128), ceil(k / 128)], as of weights.
    column_major: scales of consecutive rows lie side by side, which large products read faster.
    powers_of_two: scales are rounded up to such.
    out: a pair of elements and scales to write to.

        x_elements, x_scales = quantise_blocks(x, column_major=True)
        w_elements, w_scales = quantise_blocks(w, scale_rows=128)      # w is [n, k]
        d = matmul_blockwise(x_elements, w_elements.mT, x_scales, w_scales.mT)

    A scale is the largest magnitude of its block over the largest element (448 of e4m3, 57344 of e5m2).
    """
    elements, scales = pair_of(out)
    scale_rows = integer('scale_rows', scale_rows)
    column_major, powers_of_two = flag('column_major', column_major), flag('powers_of_two', powers_of_two)
    if any(is_torch(array) for array in (x, elements, scales)):
        from .._torch_made import operators_of
        check_told(x_type)
        given = dict(x=x, scale_rows=scale_rows, dtype=out_dtype, column_major=column_major, powers_of_two=powers_of_two,
                     instance=instance, target=target)
        return operators_of('quantise')(given, dict(elements=elements, scales=scales), stream)
    check_on_host(stream)
    view = view_of('x', x, x_type)
    shape, strides = scales_of(view.shape, scale_rows, column_major)
    element_type = 'e4m3' if out_dtype is None else type_name(out_dtype)
    if out is None:
        elements, scales = empty_like_kind(x, view.shape, element_type), strided(x, shape, strides)
    views = (view_of('elements', elements, element_type if out is None else out_dtype),
             view_of('scales', scales))
    problem = problem_of(view, *views, scale_rows, powers_of_two)
    check(library().tw_simulate(problem, new_options(False, True, instance, target)))
    return elements, scales


@with_torch('quantise')
def _operators():
    from .._library import describe
    from .._torch import dtype_of
    from .._torch_operators import Operators
    from .._torch_schema import KERNEL, number_schema, read_schema

    def completed(given, outputs):
        elements, dtype = outputs['elements'], dtype_of(given['dtype'] or 'e4m3')
        if elements is not None and given['dtype'] is not None and elements.dtype != dtype:
            raise Invalid(f'The elements of out have dtype {elements.dtype}, but out_dtype is {dtype}.')
        return {**given, 'dtype': dtype}

    def outputs(given):
        shape = given['x'].shape
        return (shape, None, given['dtype']), (*scales_of(shape, given['scale_rows'], given['column_major']), 'fp32')

    def problem(views, given):
        return problem_of(views['x'], views['elements'], views['scales'], given['scale_rows'], given['powers_of_two'])

    described = describe('quantise')
    takes = {**read_schema(described, {'source': 'x'}), **number_schema(described, {'scale_rows': 'scale_rows'}),
             'dtype': 'ScalarType', 'column_major': 'bool',
             **number_schema(described, {'powers_of_two': 'powers_of_two'}), **KERNEL}
    return Operators(
        'quantise_blocks', takes, ('dtype', 'column_major'), {'elements': 'Tensor(a!)', 'scales': 'Tensor(b!)'}, outputs,
        problem, completed, mixed='x or a part of out is a torch tensor, but another is a {type}.',
        no_gradient='{name} requires a gradient, and none goes through tilewright.quantise_blocks; call with '
                    'torch.no_grad(), or quantise x.detach().')
