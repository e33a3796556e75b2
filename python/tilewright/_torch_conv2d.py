"""torch tensors: the operator tilewright::conv2d, and tilewright::conv2d_gradient, which differentiates it."""
from ._conv2d import Geometry, problem_of
from ._torch import PLAIN_SCALARS, gradients_of_sides, save_linear
from ._torch_family import Family

STEPS = {'stride': 'stride', 'pad': 'padding', 'dilation': 'dilation', 'groups': 'groups'}


def _geometry(tensors, steps):
    return _geometry_of(tensors[0].shape, tensors[1].shape, steps)


def _geometry_of(x, w, steps):
    strides, pads, dilations, groups = steps
    return Geometry(x, w, strides, list(zip(pads[::2], pads[1::2])), dilations, groups)


_family = Family(
    'conv2d', 'conv2d',
    lambda tensors, extra, gated: _geometry(tensors, extra).output_shape(gated),
    lambda views, d, extra, scalars, sides: problem_of(*views, d, _geometry(views, extra), scalars,
                                                       sides),
    names={'image': 'x', 'filter': 'w'}, numbers=STEPS)
_operator = _family.operator


def _gradient_problem(views, d, extra, scalars, sides):
    direction, result, *steps = extra
    x = result if direction == 'backward_data' else views[0].shape
    w = result if direction == 'backward_filter' else views[1].shape
    return problem_of(*views, d, _geometry_of(x, w, steps), scalars, sides, direction)


# Of x (the first operand is then out's gradient) or of w (the second is).
_gradient = Family('conv2d_gradient', 'conv2d', lambda tensors, extra, gated: extra[1], _gradient_problem,
                   names={'image': 'first', 'filter': 'second'}, numbers=STEPS,
                   more={'direction': 'str', 'result': 'SymInt[]'})


def _setup_context(ctx, inputs, output):
    save_linear(ctx, inputs[:2], inputs[2:7], inputs[12:19], ('bf16', 'fp16'))
    ctx.steps, ctx.options = inputs[8:12], inputs[19:]
    ctx.summed_for_rows = [output.dim() - 1]


def _backward(ctx, gradient):
    x, w = ctx.saved_tensors
    rounded = gradient.to(x.dtype).contiguous()
    batch_invariant, fast_accumulation, _, target = ctx.options

    def made(first, second, direction, result):
        return _gradient.operator(first, second, None, None, None, None, None, x.dtype, direction, result, *ctx.steps, ctx.alpha,
                                  *PLAIN_SCALARS[1:], batch_invariant, fast_accumulation, None, target)

    result = [None] * 23
    if ctx.needs_input_grad[0]:
        result[0] = made(rounded, w, 'backward_data', x.shape)
    if ctx.needs_input_grad[1]:
        result[1] = made(x, rounded, 'backward_filter', w.shape)
    result[2:5] = gradients_of_sides(ctx, gradient)
    return tuple(result)


_family.register_gradients(_backward, _setup_context)


def conv2d(x, w, out, steps, epilogue, out_dtype, stream, options):
    geometry = Geometry(x.shape, w.shape, *steps)
    # A number for each side and the paddings, as the operator takes them.
    strides, dilations = [axis[2] for axis in geometry.axes], [axis[3] for axis in geometry.axes]
    pads = [pad for axis in geometry.axes for pad in axis[4:]]
    return _family((x, w), out, (strides, pads, dilations, geometry.groups), epilogue, out_dtype,
                   stream, options)
