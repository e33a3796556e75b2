"""Operators for torch of a family: tilewright::NAME, which makes its outputs, and tilewright::NAME_out, which is given them."""
import torch
from torch import Tensor

from ._library import Invalid, Unsupported, describe
from ._problem import ARRAYS, PLAIN, output_type
from ._torch import DTYPES, output_dtype, stream_of, type_of
from ._torch_gradients import gradients_of_sides, save_linear
from ._torch_launcher import Launcher
from ._torch_schema import OPTIONS, SCALARS, SIDES, WRITTEN, joined, number_schema, read_schema

MIXED = 'One operand is a torch tensor, but another is a {type}.'
NO_GRADIENT = 'An operand requires a gradient, and none goes through tilewright.{operator}; call with torch.no_grad().'


def is_tensor(kind):
    return kind.startswith('Tensor')


class Operators:
    """`takes` is the schema of NAME; NAME_out has no `making` among it, which says how outputs are made, but `writes`.

    outputs(given) tells each output's shape, strides (None: rows lie one after the other) and type (None: what the first
        operand's becomes), or None where it is not wanted; an empty tensor then stands for it.
    problem(views, given) is the C struct.
    completed(given, outputs): `given` with what `making` needs; the caller may have said less.
    Arguments and views are handed over by the names of the schemas; `called`: what the caller calls them, where that is
    another name. `mixed` and `no_gradient` are sentences of refusals."""

    def __init__(self, name, takes, making, writes, outputs, problem, completed=lambda given, outputs: given, called=None,
                 mixed=MIXED, no_gradient=NO_GRADIENT):
        self.name, self.takes, self.writes = name, takes, writes
        self.outputs, self.problem, self.completed, self.called = outputs, problem, completed, called or {}
        self.mixed, self.no_gradient, self.has_gradients = mixed, no_gradient, False
        self.first = next(iter(takes))
        self.launcher = Launcher(self.first)
        self.takes_outputs = dict(writes)
        for argument, kind in takes.items():
            if argument not in making:
                self.takes_outputs[argument] = kind
            if argument == tuple(SIDES)[-1]:
                self.takes_outputs.update(WRITTEN)
        self.tensors = [argument for argument, kind in self.takes_outputs.items() if is_tensor(kind)]
        self.operator = torch.library.custom_op(
            f'tilewright::{name}', self._compute, mutates_args=(),
            schema=f'({joined(takes)}) -> {"Tensor" if len(writes) == 1 else "(Tensor, Tensor)"}')
        self.operator.register_fake(lambda *arguments: self._returned(self._made(dict(zip(takes, arguments)))))
        self.operator_out = torch.library.custom_op(
            f'tilewright::{name}_out', self._compute_out, schema=f'({joined(self.takes_outputs)}) -> ()',
            mutates_args=[argument for argument, kind in self.takes_outputs.items() if '!' in kind])
        self.operator_out.register_fake(lambda *arguments: None)

    def __call__(self, given, outputs, stream):
        """`given`: the arguments of either operator; `outputs`: those of the caller, or None for them."""
        arguments = {**given, **outputs}
        tensors = {name: arguments[name] for name in self.tensors
                   if arguments.get(name) is not None or self.takes.get(name) == 'Tensor'}
        written = any([name in tensors for name in (*self.writes, *WRITTEN)])
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                raise Invalid(self.mixed.format(name=self.called.get(name, name), type=type(tensor).__name__))
        for name, tensor in tensors.items():
            self.launcher.check_device(self.called.get(name, name), tensor, tensors[self.first].device)
            if (written or not self.has_gradients) and torch.is_grad_enabled() and tensor.requires_grad:
                raise Unsupported(self.no_gradient.format(name=self.called.get(name, name), operator=self.name))
        given = self.completed(given, outputs)
        if stream is None:
            return self._call(given, outputs, written)
        with torch.cuda.stream(stream_of(stream, tensors[self.first])):
            return self._call(given, outputs, written)

    def _call(self, given, outputs, written):
        if not written:
            return self.operator(*[given[name] for name in self.takes])
        theirs = {name: tensor for name, tensor in outputs.items() if tensor is not None}
        outputs = {**self._made({**given, **theirs}), **theirs}
        arguments = {**given, **outputs}
        self.operator_out(*[arguments[name] for name in self.takes_outputs])
        return self._returned(outputs)

    def _made(self, given):
        """New outputs by their names, but for those that are given."""
        first = given[self.first]

        def made(wanted):
            if wanted is None:
                return None
            shape, strides, type = wanted
            type = output_type(type_of(self.first, first)) if type is None else type
            dtype = DTYPES.get(type, type)
            return (first.new_empty(shape, dtype=dtype) if strides is None
                    else torch.empty_strided(shape, strides, dtype=dtype, device=first.device))

        return {name: made(wanted) for name, wanted in zip(self.writes, self.outputs(given))
                if not isinstance(given.get(name), Tensor)}

    def _returned(self, outputs):
        tensors = [outputs[name] for name in self.writes]
        tensors = [tensors[0].new_empty((0,), dtype=torch.float32) if tensor is None else tensor for tensor in tensors]
        return tensors[0] if len(tensors) == 1 else tuple(tensors)

    def _compute(self, *arguments):
        given = dict(zip(self.takes, arguments))
        outputs = self._made(given)
        self._run({**given, **outputs})
        return self._returned(outputs)

    def _compute_out(self, *arguments):
        self._run(dict(zip(self.takes_outputs, arguments)))

    def _run(self, given):
        tensors = {name: given.get(name) for name in self.tensors}
        device = given[self.first].device
        views = {name: None if tensor is None else self.launcher.view(self.called.get(name, name), tensor, device)
                 for name, tensor in tensors.items()}
        rest = [given[name] for name in self.takes_outputs if name not in tensors]
        options = (given.get('batch_invariant', False), given.get('fast_accumulation', True), given['instance'], given['target'])
        self.launcher.run(self.problem(views, given), tuple(tensors.values()), rest, options)


def epilogue_arguments(epilogue, options):
    return {**dict(zip(ARRAYS, epilogue.arrays())), **dict(zip(SCALARS, epilogue.scalars())), **dict(zip(OPTIONS, options))}


class Product(Operators):
    """With an epilogue and one output. Its tensors, and the numbers that `numbers` names, are the description's, by other
    `names` where these say so; `more` is what only this operator takes, in front of the numbers. output_shape(given) and
    problem are the family's own: torch wants shapes of symbols."""

    def __init__(self, name, family, output_shape, problem, names=None, numbers=None, more=None):
        described = describe(family)
        read = read_schema(described, names)
        self.operands = list(read)
        takes = {**read, **SIDES, 'out_dtype': 'ScalarType', **(more or {}), **number_schema(described, numbers or {}),
                 **SCALARS, **OPTIONS}
        super().__init__(
            name, takes, ('out_dtype',), {'out': 'Tensor(a!)'}, lambda given: [(output_shape(given), None, given['out_dtype'])],
            problem, self._with_dtype, no_gradient=NO_GRADIENT.replace('{operator}', '{operator} yet'))

    def _with_dtype(self, given, outputs):
        return {**given, 'out_dtype': output_dtype(given[self.first], outputs['out'], given['out_dtype'])}

    def call(self, given, out, epilogue, out_dtype, stream, options):
        return self({**given, 'out_dtype': out_dtype, **epilogue_arguments(epilogue, options)}, {'out': out}, stream)

    def plain(self, **given):
        """Without an epilogue, but for what is given of it."""
        given = {**dict.fromkeys(SIDES), **dict(zip(SCALARS, PLAIN.scalars())), **given}
        return self.operator(*[given[name] for name in self.takes])

    def register_gradients(self, types, gradients_of_operands):
        """gradients_of_operands(given, operands, gradient, needed) makes those of both operands, None where it is not needed.
        `types` are those that operands may have."""
        def setup_context(ctx, inputs, output):
            given = dict(zip(self.takes, inputs))
            save_linear(ctx, inputs[:2], [given[name] for name in SIDES], [given[name] for name in SCALARS], types)
            ctx.given = {name: given[name] for name, kind in self.takes.items() if not is_tensor(kind)}
            ctx.summed_for_rows = [output.dim() - 1]

        def backward(ctx, gradient):
            operands = ctx.saved_tensors
            rounded = gradient.to(operands[0].dtype).contiguous()
            made = gradients_of_operands(ctx.given, operands, rounded, ctx.needs_input_grad[:2])
            return (*made, *gradients_of_sides(ctx, gradient), *(None,) * (len(self.takes) - 5))

        self.operator.register_autograd(backward, setup_context=setup_context)
        self.has_gradients = True
        self.no_gradient = NO_GRADIENT.replace('{operator}', '{operator} with an output of the caller')
