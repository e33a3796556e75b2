"""torch tensors: the operator tilewright::matmul_grouped."""
from ._grouped import output_shape, problem_of
from ._torch_family import Family


def _shape(tensors, extra, gated):
    a, b, _, row_index, *_ = tensors
    return output_shape(a.shape, b.shape, None if row_index is None else row_index.shape, gated)


family = Family(
    'matmul_grouped', 'grouped', _shape,
    lambda views, d, extra, scalars, sides: problem_of(views, d, scalars, sides),
    # family block_scaled: begin
    names={'a_block_scales': None, 'b_block_scales': None},
    # family block_scaled: end
)
