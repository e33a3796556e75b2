"""torch tensors: the operator tilewright::matmul_blockwise."""
from ._blockwise import problem_of
from ._problem import Extents
from ._torch_family import Family

family = Family(
    'matmul_blockwise', 'blockwise',
    lambda tensors, extra, gated: Extents(tensors[0].shape, tensors[1].shape, gated).output,
    lambda views, d, extra, scalars, sides: problem_of(*views, d, scalars, sides, powers_of_two=extra[0]),
    numbers={'powers_of_two': 'powers_of_two'})
