"""Operators for torch of a family other than matmul: tilewright::NAME and tilewright::NAME_out."""
import torch
from torch import Tensor

from ._library import Invalid, Plan, Unsupported, check, describe, library, new_options
from ._problem import ARRAYS
from ._torch import _key, _memory_of, _output_dtype, _raw_stream, _stream, _workspace
from ._torch_schema import OPTIONS, SCALARS, SIDES, WRITTEN, joined, number_schema, read_schema

PLANS_KEPT = 1024


class Launcher:
    """How a problem gets to the device, with the plans of what was launched lately. `first` is the name of the tensor on
    whose device all others lie."""

    def __init__(self, first):
        self.first = first
        self.plans = {}

    def check_device(self, name, tensor, device):
        if tensor.device != device:
            raise Invalid(f'{name} lies on {tensor.device}, but {self.first} lies on {device}.')

    def view(self, name, tensor, device):
        self.check_device(name, tensor, device)
        return _memory_of(name, tensor)

    def run(self, problem, tensors, rest, options):
        """`tensors` and `rest` are all that the problem was made of; the first tensor is there."""
        device = tensors[0].device
        if device.type == 'cpu':
            check(library().tw_simulate(problem, new_options(*options)))
            return
        if device.type != 'cuda':
            raise Invalid(f'{self.first} lies on {device}, but must lie on a CUDA device, or on '
                          'the host for the virtual GPU.')
        with torch.cuda.device(device):
            self._on_gpu(problem, tensors, rest, options, device)

    def _on_gpu(self, problem, tensors, rest, options, device):
        capturing = torch.cuda.is_current_stream_capturing()
        key = (*(tuple(one) if isinstance(one, list) else one for one in rest), capturing,
               *[None if tensor is None else _key(tensor) for tensor in tensors])
        plan = self.plans.get(key)
        if plan is None:
            plan = Plan(problem, new_options(*options, workspace_is_ready=not capturing))
            if len(self.plans) >= PLANS_KEPT:
                self.plans.pop(next(iter(self.plans)))  # the oldest
            self.plans[key] = plan
        stream = _raw_stream(device.index)
        address, size, workspace = None, 0, None
        if plan.workspace_bytes:
            # A graph keeps its addresses: it gets a workspace of its own pool, and counters of the library's.
            workspace = (torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=device)
                         if capturing else _workspace(device, stream, plan.workspace_bytes))
            address, size = workspace.data_ptr(), workspace.numel()
        check(library().tw_plan_run(plan.handle, problem, address, size, stream))


class Family:
    """The operators of a described product. Its tensors, and the numbers that `numbers` names, are the description's, by
    other `names` where these say so; `more` is what only this operator takes, in front of the numbers.
    output_shape(tensors, extra, gated) and problem_of(views, out's view, extra, scalars, views of the epilogue's arrays)
    are the family's own: torch wants shapes of symbols."""

    def __init__(self, name, family, output_shape, problem_of, names=None, numbers=None, more=None):
        described = describe(family)
        read = read_schema(described, names)
        self.name, self.operands = name, list(read)
        self.output_shape, self.problem_of = output_shape, problem_of
        self.launcher = Launcher(self.operands[0])
        self.has_gradients = False
        tensors = joined(read)
        rest = ', '.join(part for part in (joined(more or {}, number_schema(described, numbers or {})), SCALARS, OPTIONS)
                         if part)
        self.operator = torch.library.custom_op(
            f'tilewright::{name}', self._compute, mutates_args=(),
            schema=f'({tensors}, {SIDES}, ScalarType out_dtype, {rest}) -> Tensor')
        self.operator.register_fake(lambda *arguments: self._split(arguments)[-1])
        self.operator_out = torch.library.custom_op(
            f'tilewright::{name}_out', self._compute_out,
            mutates_args=('out', 'auxiliary', 'amax'),
            schema=f'(Tensor(a!) out, {tensors}, {SIDES}, {WRITTEN}, {rest}) -> ()')
        self.operator_out.register_fake(lambda *arguments: None)

    def register_gradients(self, backward, setup_context):
        self.operator.register_autograd(backward, setup_context=setup_context)
        self.has_gradients = True

    def __call__(self, tensors, out, extra, epilogue, out_dtype, stream, options):
        arrays = epilogue.arrays()
        for tensor in (*tensors, out, *arrays):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise Invalid(f'One operand is a torch tensor, but another is a '
                              f'{type(tensor).__name__}.')
        written = out is not None or arrays[5] is not None or arrays[6] is not None
        if (written or not self.has_gradients) and torch.is_grad_enabled() and any(
                tensor is not None and tensor.requires_grad for tensor in (*tensors, out, *arrays)):
            raise Unsupported(f'An operand requires a gradient, and none goes through '
                              f'tilewright.{self.name}{" with an output of the caller" if self.has_gradients else " yet"}; '
                              'call with torch.no_grad().')
        dtype = _output_dtype(tensors[0], out, out_dtype)
        rest = (*extra, *epilogue.scalars(), *options)
        if stream is not None:
            with torch.cuda.stream(_stream(stream, tensors[0])):
                return self._call(tensors, out, arrays, dtype, rest)
        return self._call(tensors, out, arrays, dtype, rest)

    def _call(self, tensors, out, arrays, dtype, rest):
        if out is None and arrays[5] is None and arrays[6] is None:
            return self.operator(*tensors, *arrays[:5], dtype, *rest)
        if out is None:
            out = self._new(tensors, dtype, rest)
        self.operator_out(out, *tensors, *arrays, *rest)
        return out

    def _new(self, tensors, dtype, rest):
        return tensors[0].new_empty(self.output_shape(tensors, rest[:-11], rest[-5]), dtype=dtype)

    def _split(self, arguments):
        """Tensors, the epilogue's arrays, the rest, and a new output."""
        count = len(self.operands)
        tensors, rest = arguments[:count], arguments[count + 6:]
        return (tensors, (*arguments[count:count + 5], None, None), rest,
                self._new(tensors, arguments[count + 5], rest))

    def _compute(self, *arguments):
        tensors, arrays, rest, out = self._split(arguments)
        self._run(out, tensors, arrays, rest)
        return out

    def _compute_out(self, out, *arguments):
        count = len(self.operands)
        self._run(out, arguments[:count], arguments[count:count + 7], arguments[count + 7:])

    def _run(self, out, tensors, arrays, rest):
        extra, scalars, options = rest[:-11], rest[-11:-4], rest[-4:]
        device = tensors[0].device
        views, sides = ([None if tensor is None else self.launcher.view(name, tensor, device)
                         for name, tensor in zip(names, given)]
                        for names, given in ((self.operands, tensors), (ARRAYS, arrays)))
        problem = self.problem_of(views, self.launcher.view('out', out, device), extra, scalars,
                                  sides)
        self.launcher.run(problem, (*tensors, out, *arrays), rest, options)
