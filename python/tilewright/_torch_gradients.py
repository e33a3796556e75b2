"""Gradients of what is linear in an epilogue: alpha * product + beta * source + bias + row_bias."""
import torch

from ._library import Unsupported
from ._torch import NAMES


def save_linear(ctx, operands, sides, scalars, types):
    """For a backward pass. `sides` are all of an epilogue, `scalars` too; `types` says which operands may have."""
    a, b = operands
    source, bias, row_bias, *scales = sides
    alpha, beta, output_scale, activation, _, _, gated = scalars
    linear = (activation == 'none' and not gated and output_scale == 1.0
              and all(scale is None for scale in scales))
    if not linear or a.dtype != b.dtype or NAMES.get(a.dtype) not in types:
        raise Unsupported(
            f'An operand requires a gradient, but gradients are there for {", ".join(types[:-1])} and {types[-1]} '
            'alone, and go through alpha, source, bias and row_bias, not through scales, '
            'activations and gates; apply those in torch, or call with torch.no_grad().')
    ctx.save_for_backward(a, b)
    ctx.alpha, ctx.beta = alpha, beta
    ctx.sides = [None if side is None else (side.shape, side.dtype)
                 for side in (source, bias, row_bias)]


def gradients_of_sides(ctx, gradient):
    """Of source, bias and row_bias, which are operands 2, 3 and 4."""
    source, bias, row_bias = (side if needed else None for side, needed in
                              zip(ctx.sides, ctx.needs_input_grad[2:5]))
    return (None if source is None else (gradient * ctx.beta).sum_to_size(source[0]).to(source[1]),
            None if bias is None else _sum_to(bias, gradient, range(gradient.dim() - 1)),
            None if row_bias is None else _sum_to(row_bias, gradient, ctx.summed_for_rows))


def _sum_to(side, gradient, dimensions):
    return gradient.sum(list(dimensions), dtype=torch.float32).reshape(side[0]).to(side[1])
