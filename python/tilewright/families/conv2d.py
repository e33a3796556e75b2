"""conv2d: convolutions of one, two or three sides, channels last, and their gradients."""
from .._arrays import TOLD_BY, View, dense_strides, is_torch, view_of
from .._library import CODES, Invalid, check, integer, library, new_options, new_problem, set_integers
from .._problem import (ARRAYS, check_on_host, check_told, checked_epilogue, epilogue_views,
                        fill_epilogue, output_of, parts_of)
from .._values import flag, several, shown
from .._with_torch import with_torch

__all__ = ['conv2d']

TOLD_BY.update(x='x_type', w='w_type')
DIRECTIONS = ('forward', 'backward_data', 'backward_filter')  # tw_direction, in its order
AXIS = ('extent', 'filter', 'stride', 'dilation', 'pad_low', 'pad_high')
SIDES = {3: ('w',), 4: ('h', 'w'), 5: ('depth', 'h', 'w')}


def _per_side(name, given, sides):
    numbers = several(name, given) if hasattr(given, '__len__') else (given,) * sides
    if len(numbers) != sides:
        raise Invalid(f'{name} is {shown(given)}, but must be one number, or one for each of {sides} '
                      'sides.')
    return numbers


class Geometry:
    """Of a convolution: for each side (extent, filter, stride, dilation, pad_low, pad_high)."""

    def __init__(self, x, w, stride, padding, dilation, groups):
        self.x, self.w = x, w = tuple(x), tuple(w)
        if len(x) not in SIDES or len(w) != len(x):
            raise Invalid(f'x has shape {x} and w has shape {w}, but both must have 3, 4 or 5 '
                          'extents: images, sides, channels; outputs, sides, channels.')
        sides = len(x) - 2
        groups = integer('groups', groups)
        self.n, self.c, self.k, self.groups = x[0], x[-1], w[0], groups
        if groups < 1 or self.c != w[-1] * groups:
            raise Invalid(f'x has {self.c} channels, but w has {w[-1]} in each of {groups} '
                          'groups.')
        pads = [tuple(integer('padding', one) for one in several('padding', pad)) if hasattr(pad, '__len__')
                else (integer('padding', pad),) * 2
                for pad in _per_side('padding', padding, sides)]
        steps = [integer('stride', step) for step in _per_side('stride', stride, sides)]
        spreads = [integer('dilation', one) for one in _per_side('dilation', dilation, sides)]
        self.axes = [(extent, filter, step, spread, *pad) for extent, filter, step, spread, pad in
                     zip(x[1:-1], w[1:-1], steps, spreads, pads)]
        for axis in self.axes:
            if len(axis) != 6:
                raise Invalid(f'padding is {shown(padding)}, but a side has one number, or two: below '
                              'and above.')
            if axis[2] < 1:
                raise Invalid(f'stride is {shown(stride)}, but must be positive.')
        self.output = (self.n, *(max(0, (extent + low + high - (filter - 1) * spread - 1) // step
                                     + 1)
                                 for extent, filter, step, spread, low, high in self.axes), self.k)

    def steps(self):
        """As the operator for torch takes them: a number for each side, and the paddings."""
        return {'stride': [axis[2] for axis in self.axes], 'padding': [pad for axis in self.axes for pad in axis[4:]],
                'dilation': [axis[3] for axis in self.axes], 'groups': self.groups}

    def output_shape(self, gated, direction='forward'):
        if direction != 'forward':
            return self.x if direction == 'backward_data' else self.w
        return self.output[:-1] + (self.k // 2 if gated else self.k,)


def _contiguous(name, view):
    steps = [step for extent, step in zip(view.shape, view.strides) if extent > 1]
    dense = [step for extent, step in zip(view.shape, dense_strides(view.shape)) if extent > 1]
    if steps != dense:
        raise Invalid(f'{name} has shape {view.shape} and strides {view.strides}, but must be '
                      'contiguous: channels innermost, without gaps.')


def _as_matrix(name, view, shape):
    if view.shape != shape:
        raise Invalid(f'{name} has shape {view.shape}, but must have {shape}.')
    _contiguous(name, view)
    rows = 1
    for extent in shape[:-1]:
        rows *= extent
    return View(view.address, (rows, shape[-1]), (shape[-1], 1), view.type, view.writable,
                view.owner)


def problem_of(x, w, d, geometry, scalars, arrays, direction='forward'):
    """The tw_conv2d_problem of Views; `arrays` has ARRAYS' order, None where there is none. Backward, D's gradient takes the
    place of x or of w."""
    for name, view in (('x', x), ('w', w)):
        _contiguous(name, view)
    if x.type != w.type:
        raise Invalid(f'x has type {x.type} and w has type {w.type}, but both must have one.')
    gated = scalars[-1]
    rows = _as_matrix('out', d, geometry.output_shape(gated, direction)).shape[0]
    if not d.writable:
        raise Invalid('out is written to, but its memory is read-only.')
    problem = new_problem('conv2d')
    problem.direction = DIRECTIONS.index(direction)
    set_integers(problem, None, n=geometry.n, c=geometry.c, k=geometry.k, groups=geometry.groups)
    for name, axis in zip(SIDES[len(geometry.output)], geometry.axes):
        set_integers(getattr(problem, name), name, **dict(zip(AXIS, axis)))
    problem.image, problem.filter, problem.d = x.address, w.address, d.address
    problem.type = CODES['tf32' if x.type == 'fp32' else x.type]
    problem.d_type = CODES[d.type]
    flat = list(arrays)
    for place, shape in ((0, geometry.output_shape(gated)), (5, geometry.output)):
        if flat[place] is not None:
            flat[place] = _as_matrix(ARRAYS[place], flat[place], shape)
    fill_epilogue(problem.epilogue, scalars, flat, rows, geometry.k, ())
    return problem


def conv2d(x, w, out=None, *, stride=1, padding=0, dilation=1, groups=1, epilogue=None,
           out_dtype=None, stream=None, batch_invariant=False, fast_accumulation=True,
           instance=None, target=None, x_type=None, w_type=None):
    """epilogue(x convolved with w), channels last: x is [n, h, w, c], w is [k, r, s, c / groups],
    the result [n, p, q, k]. One side ([n, w, c]) and three ([n, depth, h, w, c]) will do, too.

    stride, padding, dilation: a number, or one for each side; a padding may be (below, above).
    The epilogue's bias has k values; its source and its auxiliary output have the result's shape.
    All else is as for matmul; x_type and w_type are of memory that does not tell its type.

    A torch tensor of shape [n, c, h, w] in torch.channels_last is x.permute(0, 2, 3, 1).
    """
    epilogue = checked_epilogue(epilogue)
    options = (flag('batch_invariant', batch_invariant), flag('fast_accumulation', fast_accumulation), instance, target)
    if is_torch(x) or is_torch(w):
        from .._torch_made import operators_of
        check_told(x_type, w_type)
        geometry = Geometry(x.shape, w.shape, stride, padding, dilation, groups)
        return operators_of('conv2d').call({'x': x, 'w': w, **geometry.steps()}, out, epilogue, out_dtype, stream, options)
    check_on_host(stream)
    x_view, w_view = view_of('x', x, x_type), view_of('w', w, w_type)
    geometry = Geometry(x_view.shape, w_view.shape, stride, padding, dilation, groups)
    scalars = epilogue.scalars()
    out, d = output_of(out, out_dtype, x, x_view.type, geometry.output_shape(scalars[-1]))
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = problem_of(x_view, w_view, d, geometry, scalars, sides)
    check(library().tw_simulate(problem, new_options(*options)))
    return out


def _geometry(given, x, w):
    """Of a torch operator's arguments; x and w are shapes."""
    pads = given['padding']
    return Geometry(x, w, given['stride'], list(zip(pads[::2], pads[1::2])), given['dilation'], given['groups'])


@with_torch('conv2d')
def _operators():
    from .._torch_operators import Product
    steps = {'stride': 'stride', 'pad': 'padding', 'dilation': 'dilation', 'groups': 'groups'}

    def geometry(given):
        return _geometry(given, given['x'].shape, given['w'].shape)

    forward = Product(
        'conv2d', 'conv2d', lambda given: geometry(given).output_shape(given['gated']),
        lambda views, given: problem_of(views['x'], views['w'], views['out'], geometry(given), *parts_of(given, views)),
        names={'image': 'x', 'filter': 'w'}, numbers=steps)

    def gradient_problem(views, given):
        direction, result = given['direction'], given['result']
        x = result if direction == 'backward_data' else views['first'].shape
        w = result if direction == 'backward_filter' else views['second'].shape
        return problem_of(views['first'], views['second'], views['out'], _geometry(given, x, w), *parts_of(given, views),
                           direction)

    # The gradient of x (the first operand is then out's gradient) or of w (the second is).
    backward = Product('conv2d_gradient', 'conv2d', lambda given: given['result'], gradient_problem,
                       names={'image': 'first', 'filter': 'second'}, numbers=steps,
                       more={'direction': 'str', 'result': 'SymInt[]'})

    def gradients(given, operands, gradient, needed):
        x, w = operands
        same = {name: given[name] for name in (*steps.values(), 'alpha', 'batch_invariant', 'fast_accumulation', 'target')}
        same.update(out_dtype=x.dtype, instance=None)
        return (backward.plain(first=gradient, second=w, direction='backward_data', result=x.shape, **same)
                if needed[0] else None,
                backward.plain(first=x, second=gradient, direction='backward_filter', result=w.shape, **same)
                if needed[1] else None)

    forward.register_gradients(('bf16', 'fp16'), gradients)
    return forward
