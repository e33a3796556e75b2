"""matmul: host memory runs on the virtual GPU. Of torch tensors, eager calls without gradients go to the library directly;
torch.compile, autograd and dispatch modes see the operators."""
import threading

from .._arrays import is_torch, view_of
from .._library import Invalid, Plan, Unsupported, check, library, new_options, new_problem
from .._problem import (ARRAYS, PLAIN, Extents, check_on_host, check_told, checked_epilogue,
                        epilogue_views, fill_problem, output_of)
from .._values import flag
from .._with_torch import with_torch

__all__ = ['matmul']

# _operators makes it with the first torch tensor, and imports torch and the names of _torch.py that stand below.
_operator = None


def problem_of(a, b, d, scalars, arrays):
    """The tw_matmul_problem of Views."""
    problem = new_problem()
    fill_problem(problem, a, b, d, scalars, arrays)
    return problem


def matmul(a, b, out=None, *, epilogue=None, out_dtype=None, stream=None, batch_invariant=False,
           fast_accumulation=True, instance=None, target=None, a_type=None, b_type=None,
           b_is_constant=False):
    """epilogue(a @ b): a is [.., m, k], b is [.., k, n], the result [.., m, n].

    torch tensors on a GPU are multiplied there, on the current stream or on `stream`. All else is
    host memory and runs on the virtual GPU, which is slow: torch tensors, numpy arrays, Buffers,
    objects with __dlpack__ or the buffer protocol.

    out: where the result goes; otherwise new memory of a's kind, of type out_dtype (bf16 for bf16
        and fp8, fp16 for fp16, fp32 for fp32, int32 for int8).
    batch_invariant: an element's sum is made in the same order whatever m is.
    fast_accumulation: fp8 sums stay in the tensor core; False: partial sums in float32.
    instance: a kernel's name of `./tw list`; None: the library chooses.
    target: of the virtual GPU: 'sm80', 'sm90a' (None), 'sm100a', 'gfx942' or 'gfx950'.
    a_type, b_type: of memory that does not tell it, as bf16 in a numpy array of uint16.
    b_is_constant: b was complete before the kernel before this one on the stream began, as weights
        are. Kernels of few rows then read its first tiles before that kernel has ended.
    float32 operands are multiplied as tf32: 10 bits of their fractions.
    """
    epilogue = checked_epilogue(epilogue)
    if is_torch(a) or is_torch(b):
        if _operator is None:
            from .. import _torch_made  # noqa: F401: it calls _operators
        check_told(a_type, b_type)
        return _of_tensors(a, b, out, epilogue, out_dtype, stream, batch_invariant, fast_accumulation, instance, target,
                           b_is_constant)
    check_on_host(stream)
    return _on_host(a, b, out, epilogue, out_dtype, batch_invariant, fast_accumulation, instance,
                    target, a_type, b_type, b_is_constant)


def _on_host(a, b, out, epilogue, out_dtype, batch_invariant, fast_accumulation, instance, target,
             a_type, b_type, b_is_constant):
    a_view, b_view = view_of('a', a, a_type), view_of('b', b, b_type)
    drop_row, drop_column = len(a_view.shape) == 1, len(b_view.shape) == 1
    if drop_row:  # a row, and torch's rule for one
        a_view.shape, a_view.strides = (1,) + a_view.shape, (a_view.shape[0],) + a_view.strides
    if drop_column:
        b_view.shape, b_view.strides = b_view.shape + (1,), b_view.strides + (1,)
    scalars = epilogue.scalars()
    extents = Extents(a_view.shape, b_view.shape, scalars[-1])
    shape = (extents.output[:-2] + (() if drop_row else (extents.m,))
             + (() if drop_column else (extents.output[-1],)))
    out, d = output_of(out, out_dtype, a, a_view.type, shape)
    if d.shape != shape:
        raise Invalid(f'out has shape {d.shape}, but the product has shape {shape}.')
    if drop_row:
        place = len(d.shape) - (0 if drop_column else 1)
        d.shape = d.shape[:place] + (1,) + d.shape[place:]
        d.strides = d.strides[:place] + (extents.output[-1],) + d.strides[place:]
    if drop_column:
        d.shape, d.strides = d.shape + (1,), d.strides + (1,)
    sides = epilogue_views(epilogue)  # they may own what the problem names
    problem = problem_of(a_view, b_view, d, scalars, sides)
    problem.b_is_constant = flag('b_is_constant', b_is_constant)
    check(library().tw_simulate(
        problem, new_options(batch_invariant, fast_accumulation, instance, target)))
    return out


def _of_tensors(a, b, out, epilogue, out_dtype, stream, batch_invariant, fast_accumulation, instance, target,
                b_is_constant):
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        raise Invalid('One of a and b is a torch tensor and the other is not.')
    arrays = epilogue.arrays()
    needs_gradient = a.requires_grad or b.requires_grad
    given = out
    for tensor in (out, *arrays):
        if tensor is not None:
            if not isinstance(tensor, torch.Tensor):
                raise Invalid(f'a and b are torch tensors, but out or a part of the epilogue is a '
                              f'{type(tensor).__name__}.')
            needs_gradient = needs_gradient or tensor.requires_grad
    needs_gradient = needs_gradient and torch.is_grad_enabled()
    dtype = output_dtype(a, out, out_dtype)
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
        with torch.cuda.stream(stream_of(stream, a)):
            d = _matmul(a, b, out, scalars, arrays, dtype, options, needs_gradient)
    if given is not None:
        return given
    d = d.squeeze(-2) if drop_row else d
    return d.squeeze(-1) if drop_column else d


def _matmul(a, b, out, scalars, arrays, dtype, options, needs_gradient):
    auxiliary, amax = arrays[5:]
    if (not torch.compiler.is_compiling() and not torch.jit.is_tracing() and not needs_gradient and type(a) in PLAIN_CLASSES
            and type(b) in PLAIN_CLASSES and (a.is_cuda or a.is_cpu) and count_of_modes() == 0):
        d = _run(a, b, out, scalars, arrays, dtype, options)
        for tensor in (out, auxiliary, amax):  # the operator does it, too
            if tensor is not None:
                torch.autograd.graph.increment_version(tensor)
        return d
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
    return memory_of(name, tensor)


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


def _on_gpu(index, a, b, out, scalars, arrays, dtype, options):
    key = (key_of(a), key_of(b), dtype if out is None else key_of(out), scalars, options,
           *[None if tensor is None else key_of(tensor) for tensor in arrays])
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
    stream = raw_stream(index)
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
        workspace = workspace_of(a.device, stream, bytes_needed)
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
    return _operator(a, b, None, None, None, None, None, ctx.alpha, *PLAIN.scalars()[1:], a.dtype,
                     batch_invariant, fast_accumulation, None, target, False)


@with_torch('matmul')
def _operators():
    global torch, PLAIN_CLASSES, count_of_modes, key_of, memory_of, output_dtype, raw_stream, stream_of, workspace_of
    global gradients_of_sides, save_linear, _operator, _operator_out
    import torch
    from .._library import describe
    from .._torch import (PLAIN_CLASSES, count_of_modes, key_of, memory_of, output_dtype, raw_stream, stream_of,
                          workspace_of)
    from .._torch_gradients import gradients_of_sides, save_linear
    from .._torch_schema import OPTIONS, SCALARS, SIDES, WRITTEN, joined, number_schema, read_schema
    described = describe('matmul')
    read, constant = read_schema(described), number_schema(described, {'b_is_constant': 'b_is_constant'})
    _operator_out = torch.library.custom_op(
        'tilewright::matmul_out', _compute_out, mutates_args=('out', 'auxiliary', 'amax'),
        schema=f'({joined({"out": "Tensor(a!)"}, read, SIDES, WRITTEN, SCALARS, OPTIONS, constant)}) -> ()')
    _operator_out.register_fake(lambda *arguments: None)
    operator = torch.library.custom_op(
        'tilewright::matmul', _compute, mutates_args=(),
        schema=f'({joined(read, SIDES, SCALARS, {"out_dtype": "ScalarType"}, OPTIONS, constant)}) -> Tensor')
    operator.register_fake(_fake)
    operator.register_autograd(_backward, setup_context=_setup_context)
    _operator = operator  # at last: other threads take this for all of it
    return operator
