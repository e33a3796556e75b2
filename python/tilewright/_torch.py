"""torch tensors: the operator tilewright::matmul, and how it gets to the device.

Eager calls without gradients go to the library directly; torch.compile, autograd and dispatch modes
see the operators.
"""
import sys
import threading

import torch
from torch import Tensor

from . import _matmul as _matmul_module
from ._arrays import View, type_name
from ._library import Invalid, Plan, Unsupported, check, describe, library, new_options
from ._problem import ARRAYS, Extents, output_type, problem_of
from ._torch_schema import OPTIONS, SCALARS, SIDES, WRITTEN, joined, number_schema, read_schema

NAMES = {torch.bfloat16: 'bf16', torch.float16: 'fp16', torch.float32: 'fp32',
         torch.float8_e4m3fn: 'e4m3', torch.float8_e5m2: 'e5m2', torch.int8: 's8',
         torch.int32: 's32'}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
PLAIN_SCALARS = (1.0, 0.0, 1.0, 'none', 0.0, 0.0, False)
PLAIN_CLASSES = (Tensor, torch.nn.Parameter)

_dispatch_modes = getattr(torch._C, '_len_torch_dispatch_stack', lambda: 0)
_raw_stream = getattr(torch._C, '_cuda_getCurrentRawStream',
                      lambda index: torch.cuda.current_stream(index).cuda_stream)


def _type_of(name, tensor):
    if tensor.dtype not in NAMES:
        raise Invalid(f'{name} has dtype {tensor.dtype}, which is not among '
                      f'{", ".join(str(dtype) for dtype in NAMES)}.')
    return NAMES[tensor.dtype]


def matmul(a, b, out, epilogue, out_dtype, stream, batch_invariant, fast_accumulation, instance,
           target, b_is_constant):
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        raise Invalid('One of a and b is a torch tensor and the other is not.')
    arrays = epilogue.arrays()
    needs_gradient = a.requires_grad or b.requires_grad
    given = out
    for tensor in (out, *arrays):
        if tensor is not None:
            if not isinstance(tensor, Tensor):
                raise Invalid(f'a and b are torch tensors, but out or a part of the epilogue is a '
                              f'{type(tensor).__name__}.')
            needs_gradient = needs_gradient or tensor.requires_grad
    needs_gradient = needs_gradient and torch.is_grad_enabled()
    dtype = _output_dtype(a, out, out_dtype)
    scalars = epilogue.scalars()
    options = (bool(batch_invariant), bool(fast_accumulation), instance, target, bool(b_is_constant))
    drop_row, drop_column = a.dim() == 1, b.dim() == 1
    if drop_row or drop_column:  # torch's rule for vectors
        if drop_row:
            a = a.unsqueeze(0)
        if drop_column:
            b = b.unsqueeze(1)
        if out is not None:
            out = out.unsqueeze(-1) if drop_column else out
            out = out.unsqueeze(-2) if drop_row else out
    if stream is None:
        d = _matmul(a, b, out, scalars, arrays, dtype, options, needs_gradient)
    else:
        with torch.cuda.stream(_stream(stream, a)):
            d = _matmul(a, b, out, scalars, arrays, dtype, options, needs_gradient)
    if given is not None:
        return given
    d = d.squeeze(-2) if drop_row else d
    return d.squeeze(-1) if drop_column else d


def _output_dtype(a, out, out_dtype):
    if out_dtype is not None and not isinstance(out_dtype, torch.dtype):
        out_dtype = DTYPES[type_name(out_dtype)]
    if out is not None:
        if out_dtype is not None and out_dtype != out.dtype:
            raise Invalid(f'out has dtype {out.dtype}, but out_dtype is {out_dtype}.')
        return out.dtype
    if out_dtype is not None:
        return out_dtype
    return DTYPES[output_type(_type_of('a', a))]


def _stream(stream, a):
    if not a.is_cuda:
        raise Invalid(f'stream is given, but a lies on {a.device}.')
    if not isinstance(stream, torch.cuda.Stream):
        return torch.cuda.ExternalStream(int(stream), device=a.device)
    if stream.device != a.device:
        raise Invalid(f'stream is of {stream.device}, but a lies on {a.device}.')
    return stream


def _matmul(a, b, out, scalars, arrays, dtype, options, needs_gradient):
    auxiliary, amax = arrays[5:]
    if (not torch.compiler.is_compiling() and not needs_gradient and type(a) in PLAIN_CLASSES
            and type(b) in PLAIN_CLASSES and (a.is_cuda or a.is_cpu) and _dispatch_modes() == 0):
        return _run(a, b, out, scalars, arrays, dtype, options)
    if out is None and auxiliary is None and amax is None:
        return _operator(a, b, *arrays[:5], *scalars, dtype, *options)
    if needs_gradient:
        raise Unsupported('out, auxiliary and amax are written to, and no gradient goes through '
                          'them; call with torch.no_grad(), or without them.')
    if out is None:
        out = a.new_empty(_output_shape(a, b, scalars[-1]), dtype=dtype)
    _operator_out(out, a, b, *arrays, *scalars, *options)
    return out


def _output_shape(a, b, gated):
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-2], b.shape[-1] // 2 if gated else b.shape[-1])


# To the device.

def _run(a, b, out, scalars, arrays, dtype, options):
    if a.is_cuda:
        index = a.get_device()
        if torch.cuda.current_device() == index:
            return _on_gpu(index, a, b, out, scalars, arrays, dtype, options)
        with torch.cuda.device(index):
            return _on_gpu(index, a, b, out, scalars, arrays, dtype, options)
    if not a.is_cpu:
        raise Invalid(f'a lies on {a.device}, but must lie on a CUDA device, or on the host for '
                      'the virtual GPU.')
    problem, out = _problem(a, b, out, scalars, arrays, dtype, options)
    check(library().tw_simulate(problem, new_options(*options[:-1])))
    return out


def _view(name, tensor, device):
    if tensor.device != device:
        raise Invalid(f'{name} lies on {tensor.device}, but a lies on {device}.')
    return _memory_of(name, tensor)


def _memory_of(name, tensor):
    if tensor.is_neg():
        raise Invalid(f'{name} is a view that negates its memory, which kernels do not; '
                      'resolve_neg() makes a tensor of it.')
    return View(tensor.data_ptr(), tensor.shape, tensor.stride(), _type_of(name, tensor), True,
                tensor)


def _problem(a, b, out, scalars, arrays, dtype, options):
    views = [_view(name, tensor, a.device) for name, tensor in (('a', a), ('b', b))]
    if out is None:
        out = torch.empty(Extents(a.shape, b.shape, scalars[-1]).output, dtype=dtype,
                          device=a.device)
    views.append(_view('out', out, a.device))
    sides = tuple(None if tensor is None else _view(name, tensor, a.device)
                  for name, tensor in zip(ARRAYS, arrays))
    problem = problem_of(*views, scalars, sides)
    problem.b_is_constant = options[-1]
    return problem, out


class _Call:
    """What is decided from everything but the addresses: the plan, and the problem to copy."""

    def __init__(self, problem, options, output_shape):
        self.struct, self.template = type(problem), bytes(problem)
        self.options = options[:-1]  # the last is the problem's
        self.output_shape = output_shape
        self.plan = Plan(problem, new_options(*self.options, workspace_is_ready=1))
        self.captured = None

    def plan_for_capture(self, problem):
        if self.captured is None:
            self.captured = Plan(problem, new_options(*self.options, workspace_is_ready=0))
        return self.captured


_calls = {}
_calls_lock = threading.Lock()
CALLS_KEPT = 4096
_workspaces = {}  # by device and stream
LEAST_WORKSPACE = 1 << 20


def _key(tensor):
    return (tensor.shape, tensor.stride(), tensor.dtype, tensor.data_ptr() & 15,
            tensor.get_device(), tensor.is_neg())


def _on_gpu(index, a, b, out, scalars, arrays, dtype, options):
    key = (_key(a), _key(b), dtype if out is None else _key(out), scalars, options,
           *[None if tensor is None else _key(tensor) for tensor in arrays])
    call = _calls.get(key)
    if call is None:
        problem, out = _problem(a, b, out, scalars, arrays, dtype, options)
        call = _Call(problem, options, out.shape)
        with _calls_lock:
            if len(_calls) >= CALLS_KEPT:
                _calls.pop(next(iter(_calls)))  # the oldest
            _calls[key] = call
    else:
        if out is None:
            out = torch.empty(call.output_shape, dtype=dtype, device=a.device)
        problem = call.struct.from_buffer_copy(call.template)
        problem.a.data, problem.b.data = a.data_ptr(), b.data_ptr()
        problem.d.data = out.data_ptr()
        _set_addresses(problem.epilogue, *arrays)
    stream = _raw_stream(index)
    plan, bytes_needed = call.plan, call.plan.workspace_bytes
    if bytes_needed == 0:
        check(library().tw_plan_run(plan.handle, problem, None, 0, stream))
    elif torch.cuda.is_current_stream_capturing():
        # A graph keeps its addresses and may be replayed beside anything: it gets a workspace of
        # its own pool, and counters of the library's.
        plan = call.plan_for_capture(problem)
        workspace = torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=a.device)
        check(library().tw_plan_run(plan.handle, problem, workspace.data_ptr(),
                                           plan.workspace_bytes, stream))
    else:
        workspace = _workspace(a.device, stream, bytes_needed)
        check(library().tw_plan_run(plan.handle, problem, workspace.data_ptr(),
                                           workspace.numel(), stream))
    return out


def _set_addresses(epilogue, source, bias, row_bias, row_scale, column_scale, auxiliary, amax):
    if source is not None:
        epilogue.source.data = source.data_ptr()
    if bias is not None:
        epilogue.column_bias = bias.data_ptr()
    if row_bias is not None:
        epilogue.row_bias = row_bias.data_ptr()
    if row_scale is not None:
        epilogue.row_scale = row_scale.data_ptr()
    if column_scale is not None:
        epilogue.column_scale = column_scale.data_ptr()
    if auxiliary is not None:
        epilogue.auxiliary.data = auxiliary.data_ptr()
    if amax is not None:
        epilogue.amax = amax.data_ptr()


def _workspace(device, stream, bytes_needed):
    """Zeroed once. One that is outgrown goes back to torch, which hands it out on its stream, and
    so after the kernels that still use it."""
    held = _workspaces.get((device, stream))
    if held is None or held.numel() < bytes_needed:
        size = max(LEAST_WORKSPACE, 1 << (bytes_needed - 1).bit_length())
        held = torch.zeros(size, dtype=torch.uint8, device=device)
        _workspaces[device, stream] = held
    return held


# The operators.

_described = describe('matmul')
_read = joined(read_schema(_described))
_rest = f'{OPTIONS}, {joined(number_schema(_described, {"b_is_constant": "b_is_constant"}))}'


def _compute(a, b, *rest):
    sides, scalars, (out_dtype, *options) = rest[:5], rest[5:12], rest[12:]
    return _run(a, b, None, scalars, (*sides, None, None), out_dtype, tuple(options))


def _fake(a, b, *rest):
    torch._check(a.dim() >= 2 and b.dim() >= 2, lambda: 'a and b must be matrices, or batches.')
    torch._check(a.shape[-1] == b.shape[-2], lambda: f'a\'s columns ({a.shape[-1]}) are not as '
                 f'many as b\'s rows ({b.shape[-2]}).')
    return a.new_empty(_output_shape(a, b, rest[11]), dtype=rest[12])


def _compute_out(out, a, b, *rest):
    _run(a, b, out, rest[7:14], rest[:7], out.dtype, rest[14:])


_operator = torch.library.custom_op(
    'tilewright::matmul', _compute, mutates_args=(),
    schema=f'({_read}, {SIDES}, {SCALARS}, ScalarType out_dtype, {_rest}) -> Tensor')
_operator.register_fake(_fake)
_operator_out = torch.library.custom_op(
    'tilewright::matmul_out', _compute_out, mutates_args=('out', 'auxiliary', 'amax'),
    schema=f'(Tensor(a!) out, {_read}, {SIDES}, {WRITTEN}, {SCALARS}, {_rest}) -> ()')
_operator_out.register_fake(lambda *arguments: None)


# Gradients, of what is linear: alpha * a @ b + beta * source + bias + row_bias.

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


def _setup_context(ctx, inputs, output):
    save_linear(ctx, inputs[:2], inputs[2:7], inputs[7:14], ('bf16', 'fp16', 'fp32'))
    ctx.options = inputs[15:]
    ctx.summed_for_rows = [i for i in range(output.dim()) if i != output.dim() - 2]


def _backward(ctx, gradient):
    a, b = ctx.saved_tensors
    rounded = gradient.to(a.dtype).contiguous()
    result = [None] * 20
    if ctx.needs_input_grad[0]:
        result[0] = _product(ctx, rounded, b.mT).sum_to_size(a.shape)
    if ctx.needs_input_grad[1]:
        if b.dim() == 2 and a.dim() > 2:  # one sum over the whole batch
            result[1] = _product(ctx, a.reshape(-1, a.shape[-1]).mT,
                                 rounded.reshape(-1, rounded.shape[-1]))
        else:
            result[1] = _product(ctx, a.mT, rounded).sum_to_size(b.shape)
    result[2:5] = gradients_of_sides(ctx, gradient)
    return tuple(result)


def _product(ctx, a, b):
    batch_invariant, fast_accumulation, _, target, _ = ctx.options
    if a.dtype != torch.bfloat16:  # kernels of other types read along k alone
        a, b = a.contiguous(), b.mT.contiguous().mT
    return _operator(a, b, None, None, None, None, None, ctx.alpha, *PLAIN_SCALARS[1:], a.dtype,
                     batch_invariant, fast_accumulation, None, target, False)


_operator.register_autograd(_backward, setup_context=_setup_context)
_matmul_module._torch = sys.modules[__name__]
