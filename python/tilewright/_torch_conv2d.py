"""torch tensors: the operator tilewright::conv2d."""
from ._conv2d import Geometry, problem_of
from ._torch_family import Family


def _geometry(tensors, extra):
    strides, pads, dilations, groups = extra
    return Geometry(tensors[0].shape, tensors[1].shape, strides, list(zip(pads[::2], pads[1::2])),
                    dilations, groups)


_family = Family(
    'conv2d', 'conv2d', ('x', 'w'),
    'SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups',
    lambda tensors, extra, gated: _geometry(tensors, extra).output_shape(gated),
    lambda views, d, extra, scalars, sides: problem_of(*views, d, _geometry(views, extra), scalars,
                                                       sides))
_operator = _family.operator


def conv2d(x, w, out, steps, epilogue, out_dtype, stream, options):
    geometry = Geometry(x.shape, w.shape, *steps)
    # A number for each side and the paddings, as the operator takes them.
    strides, dilations = [axis[2] for axis in geometry.axes], [axis[3] for axis in geometry.axes]
    pads = [pad for axis in geometry.axes for pad in axis[4:]]
    return _family((x, w), out, (strides, pads, dilations, geometry.groups), epilogue, out_dtype,
                   stream, options)
