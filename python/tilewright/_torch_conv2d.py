"""torch tensors: the operator tilewright::conv2d, and how it gets to the device."""
from typing import List, Optional

import torch
from torch import Tensor

from ._arrays import View
from ._conv2d import Geometry, problem_of
from ._library import Invalid, Plan, Unsupported, check, library, new_options
from ._problem import ARRAYS
from ._torch import _key, _output_dtype, _raw_stream, _stream, _type_of, _workspace


class _Plan(Plan):
    family = 'conv2d'


_plans = {}
PLANS_KEPT = 1024


def conv2d(x, w, out, steps, epilogue, out_dtype, stream, options):
    arrays = epilogue.arrays()
    for tensor in (x, w, out, *arrays):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise Invalid(f'One operand is a torch tensor, but another is a '
                          f'{type(tensor).__name__}.')
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad
                                       for tensor in (x, w, out, *arrays)):
        raise Unsupported('An operand requires a gradient, and none goes through tilewright.conv2d '
                          'yet; call with torch.no_grad().')
    dtype = _output_dtype(x, out, out_dtype)
    geometry = Geometry(x.shape, w.shape, *steps)
    # Three numbers a side and the paddings, as the operator takes them.
    strides, dilations = [axis[2] for axis in geometry.axes], [axis[3] for axis in geometry.axes]
    pads = [pad for axis in geometry.axes for pad in axis[4:]]
    rest = (strides, pads, dilations, geometry.groups, *epilogue.scalars(), *options)
    if stream is not None:
        with torch.cuda.stream(_stream(stream, x)):
            return _call(x, w, out, arrays, dtype, rest)
    return _call(x, w, out, arrays, dtype, rest)


def _call(x, w, out, arrays, dtype, rest):
    if out is None and arrays[5] is None and arrays[6] is None:
        return _operator(x, w, *arrays[:5], dtype, *rest)
    if out is None:
        out = x.new_empty(_output_shape(x, w, *rest[:4], rest[10]), dtype=dtype)
    _operator_out(out, x, w, *arrays, *rest)
    return out


def _geometry(x, w, strides, pads, dilations, groups):
    return Geometry(x.shape, w.shape, strides, list(zip(pads[::2], pads[1::2])), dilations, groups)


def _output_shape(x, w, strides, pads, dilations, groups, gated):
    return _geometry(x, w, strides, pads, dilations, groups).output_shape(gated)


def _view(name, tensor, device):
    if tensor.device != device:
        raise Invalid(f'{name} lies on {tensor.device}, but x lies on {device}.')
    return View(tensor.data_ptr(), tensor.shape, tensor.stride(), _type_of(name, tensor), True,
                tensor)


def _run(out, x, w, arrays, strides, pads, dilations, groups, scalars, options):
    geometry = _geometry(x, w, strides, pads, dilations, groups)
    sides = tuple(None if tensor is None else _view(name, tensor, x.device)
                  for name, tensor in zip(ARRAYS, arrays))
    problem = problem_of(_view('x', x, x.device), _view('w', w, x.device),
                         _view('out', out, x.device), geometry, scalars, sides)
    if x.is_cpu:
        check(library().tw_conv2d_simulate(problem, new_options(*options)))
        return
    if not x.is_cuda:
        raise Invalid(f'x lies on {x.device}, but must lie on a CUDA device, or on the host for '
                      'the virtual GPU.')
    with torch.cuda.device(x.device):
        _on_gpu(problem, out, x, w, arrays, geometry, scalars, options)


def _on_gpu(problem, out, x, w, arrays, geometry, scalars, options):
    capturing = torch.cuda.is_current_stream_capturing()
    key = (_key(x), _key(w), _key(out), tuple(geometry.axes), geometry.groups, scalars, options,
           capturing, *[None if tensor is None else _key(tensor) for tensor in arrays])
    plan = _plans.get(key)
    if plan is None:
        plan = _Plan(problem, new_options(*options, workspace_is_ready=not capturing))
        if len(_plans) >= PLANS_KEPT:
            _plans.pop(next(iter(_plans)))  # the oldest
        _plans[key] = plan
    stream = _raw_stream(x.get_device())
    address, size, workspace = None, 0, None
    if plan.workspace_bytes:
        # A graph keeps its addresses: it gets a workspace of its own pool, cleared by itself.
        workspace = (torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=x.device)
                     if capturing else _workspace(x.device, stream, plan.workspace_bytes))
        address, size = workspace.data_ptr(), workspace.numel()
    check(library().tw_conv2d_plan_run(plan.handle, problem, address, size, stream))


@torch.library.custom_op('tilewright::conv2d', mutates_args=())
def _operator(x: Tensor, w: Tensor, source: Optional[Tensor], bias: Optional[Tensor],
              row_bias: Optional[Tensor], row_scale: Optional[Tensor],
              column_scale: Optional[Tensor], out_dtype: torch.dtype, stride: List[int],
              padding: List[int], dilation: List[int], groups: int, alpha: float, beta: float,
              output_scale: float, activation: str, clamp_low: float, clamp_high: float,
              gated: bool, batch_invariant: bool, fast_accumulation: bool,
              instance: Optional[str], target: Optional[str]) -> Tensor:
    out = x.new_empty(_output_shape(x, w, stride, padding, dilation, groups, gated),
                      dtype=out_dtype)
    _run(out, x, w, (source, bias, row_bias, row_scale, column_scale, None, None), stride, padding,
         dilation, groups, (alpha, beta, output_scale, activation, clamp_low, clamp_high, gated),
         (batch_invariant, fast_accumulation, instance, target))
    return out


@_operator.register_fake
def _(x, w, source, bias, row_bias, row_scale, column_scale, out_dtype, stride, padding, dilation,
      groups, alpha, beta, output_scale, activation, clamp_low, clamp_high, gated,
      batch_invariant, fast_accumulation, instance, target):
    return x.new_empty(_output_shape(x, w, stride, padding, dilation, groups, gated),
                       dtype=out_dtype)


@torch.library.custom_op('tilewright::conv2d_out', mutates_args=('out', 'auxiliary', 'amax'))
def _operator_out(out: Tensor, x: Tensor, w: Tensor, source: Optional[Tensor],
                  bias: Optional[Tensor], row_bias: Optional[Tensor], row_scale: Optional[Tensor],
                  column_scale: Optional[Tensor], auxiliary: Optional[Tensor],
                  amax: Optional[Tensor], stride: List[int], padding: List[int],
                  dilation: List[int], groups: int, alpha: float, beta: float,
                  output_scale: float, activation: str, clamp_low: float, clamp_high: float,
                  gated: bool, batch_invariant: bool, fast_accumulation: bool,
                  instance: Optional[str], target: Optional[str]) -> None:
    _run(out, x, w, (source, bias, row_bias, row_scale, column_scale, auxiliary, amax), stride,
         padding, dilation, groups,
         (alpha, beta, output_scale, activation, clamp_low, clamp_high, gated),
         (batch_invariant, fast_accumulation, instance, target))


@_operator_out.register_fake
def _(out, x, w, *rest):
    return None
