"""torch tensors: the operators tilewright::attention, tilewright::attention_paged, and those that write to the caller's output."""
import torch
from torch import Tensor

from ._attention import Layout, argument, problem_of
from ._library import Invalid, Unsupported
from ._problem import output_type
from ._torch import DTYPES, _stream, _type_of
from ._torch_family import Launcher

SCALARS = 'bool causal, SymInt window, float scale, float softcap'
SCALES = ('q_scales?', 'k_scales?', 'v_scales?')
OPTIONS = 'str? instance, str? target'


def _memory(tensor):
    return None if tensor is None else (tuple(tensor.shape), tuple(tensor.stride()))


class Attention:
    """`tensors` are the operands by their names in tw_describe, with a ? where there may be none; `extra` is the schema of what
    comes behind the scalars."""

    def __init__(self, name, tensors, extra):
        self.name, self.extra = name, extra
        self.names = [tensor.rstrip('?') for tensor in tensors]
        self.launcher = Launcher('q')
        operands = ', '.join(f'Tensor{"?" * name.endswith("?")} {name.rstrip("?")}' for name in tensors)
        rest = ', '.join(part for part in (SCALARS, extra, OPTIONS) if part)
        self.operator = torch.library.custom_op(
            f'tilewright::{name}', self._compute, mutates_args=(),
            schema=f'({operands}, bool log_sums, {rest}) -> (Tensor, Tensor)')
        self.operator.register_fake(lambda *arguments: self._outputs(*self._split(arguments)[:2]))
        self.operator_out = torch.library.custom_op(
            f'tilewright::{name}_out', self._compute_out, mutates_args=('output', 'log_sums'),
            schema=f'(Tensor(a!) output, Tensor(b!)? log_sums, {operands}, {rest}) -> ()')
        self.operator_out.register_fake(lambda *arguments: None)

    def layout(self, tensors, out=None):
        return Layout(*(_memory(tensors[name]) for name in 'qkv'), _memory(out),
                      packed=tensors.get('query_ends') is not None, pages=tensors.get('page_table') is not None)

    def _outputs(self, tensors, log_sums):
        """New ones. Where no log sums are wanted, they are empty."""
        layout, q = self.layout(tensors), tensors['q']
        made = torch.empty_strided(layout.output, layout.output_strides(), dtype=DTYPES[output_type(_type_of('q', q))],
                                   device=q.device)
        return made, q.new_empty(layout.log_sums()[0] if log_sums else (0,), dtype=torch.float32)

    def _split(self, arguments):
        """Tensors by name, whether log sums are wanted, the rest."""
        count = len(self.names)
        return dict(zip(self.names, arguments)), arguments[count], arguments[count + 1:]

    def _compute(self, *arguments):
        tensors, log_sums, rest = self._split(arguments)
        output, sums = self._outputs(tensors, log_sums)
        self._run(output, sums if log_sums else None, tensors, rest)
        return output, sums

    def _compute_out(self, output, log_sums, *arguments):
        count = len(self.names)
        self._run(output, log_sums, dict(zip(self.names, arguments)), arguments[count:])

    def _run(self, output, log_sums, tensors, rest):
        *scalars, instance, target = rest
        all_of_them = {**tensors, 'output': output, 'log_sums': log_sums}
        device = tensors['q'].device
        views = {name: self.launcher.view(argument(name, 'page_table' in tensors), tensor, device)
                 for name, tensor in all_of_them.items() if tensor is not None}
        problem = problem_of(views, scalars if self.extra else (*scalars, None))
        self.launcher.run(problem, tuple(all_of_them.values()), (self.name, *rest), (False, True, instance, target))


_plain = Attention('attention', ('q', 'k', 'v', 'query_ends?', 'key_ends?', 'sinks?', *SCALES), '')
_paged = Attention('attention_paged', ('q', 'k', 'v', 'page_table', 'key_ends', 'sinks?', *SCALES), 'SymInt? keys')


def attend(arrays, scalars, log_sums, stream, options):
    kind = _paged if 'page_table' in arrays else _plain
    for described, tensor in arrays.items():
        name = argument(described, kind is _paged)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise Invalid(f'{name} is a {type(tensor).__name__}, but another operand is a torch tensor.')
        if tensor is not None and tensor.device != arrays['q'].device:
            raise Invalid(f'{name} lies on {tensor.device}, but q lies on {arrays["q"].device}.')
        if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():
            raise Unsupported(f'{name} requires a gradient, and none goes through tilewright.{kind.name} yet; call with '
                              f'torch.no_grad(), or give {name}.detach().')
    out = arrays['output']
    tensors = {name: arrays[name] for name in kind.names}
    rest = (*(scalars if kind.extra else scalars[:-1]), *options[2:])
    if stream is not None:
        with torch.cuda.stream(_stream(stream, tensors['q'])):
            return _call(kind, tensors, out, log_sums, rest)
    return _call(kind, tensors, out, log_sums, rest)


def _call(kind, tensors, out, log_sums, rest):
    if out is None:
        out, sums = kind.operator(*tensors.values(), log_sums, *rest)
    else:
        layout = kind.layout(tensors, out)
        sums = tensors['q'].new_empty(layout.log_sums()[0], dtype=torch.float32) if log_sums else None
        kind.operator_out(out, sums, *tensors.values(), *rest)
    if not log_sums:
        return out
    _, seen, order = kind.layout(tensors, out).log_sums()
    return out, sums.view(seen).permute(order)
