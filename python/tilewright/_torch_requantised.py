"""torch tensors: the operators tilewright::matmul_requantised and tilewright::matmul_requantised_out."""
import torch
from torch import Tensor

from ._blockwise import problem_of
from ._library import Invalid, Unsupported, describe
from ._problem import ARRAYS, Extents
from ._scales import scales_of
from ._torch import _stream
from ._torch_family import Launcher
from ._torch_schema import OPTIONS, SCALARS, SIDES, WRITTEN, joined, number_schema, read_schema

_described = describe('requantised')
_read = read_schema(_described)
OPERANDS, TENSORS = tuple(_read), joined(_read)
REST = f'{joined(number_schema(_described, {"powers_of_two": "powers_of_two"}))}, {SCALARS}, {OPTIONS}'
_launcher = Launcher('a')


def _new(a, b, column_major, gated):
    shape = Extents(a.shape, b.shape, gated).output
    return (a.new_empty(shape, dtype=torch.float8_e4m3fn),
            torch.empty_strided(*scales_of(shape, 1, column_major), dtype=torch.float32,
                                device=a.device))


def _run(elements, scales, tensors, arrays, rest):
    device = tensors[0].device
    views, sides, written = (
        [None if tensor is None else _launcher.view(name, tensor, device)
         for name, tensor in zip(names, given)]
        for names, given in ((OPERANDS, tensors), (ARRAYS, arrays),
                             (('elements', 'scales'), (elements, scales))))
    problem = problem_of(*views, written[0], rest[1:-4], sides, written[1], rest[0])
    _launcher.run(problem, (*tensors, elements, scales, *arrays), rest, rest[-4:])


def _compute(*arguments):
    tensors, arrays, column_major, rest = arguments[:4], arguments[4:9], arguments[9], arguments[10:]
    elements, scales = _new(*tensors[:2], column_major, rest[-5])
    _run(elements, scales, tensors, (*arrays, None, None), rest)
    return elements, scales


operator = torch.library.custom_op(
    'tilewright::matmul_requantised', _compute, mutates_args=(),
    schema=f'({TENSORS}, {SIDES}, bool column_major, {REST}) -> (Tensor, Tensor)')
operator.register_fake(lambda *arguments: _new(*arguments[:2], arguments[9], arguments[-5]))
operator_out = torch.library.custom_op(
    'tilewright::matmul_requantised_out',
    lambda elements, scales, *rest: _run(elements, scales, rest[:4], rest[4:11], rest[11:]),
    mutates_args=('elements', 'scales', 'auxiliary', 'amax'),
    schema=f'(Tensor(a!) elements, Tensor(d!) scales, {TENSORS}, {SIDES}, {WRITTEN}, {REST}) -> ()')
operator_out.register_fake(lambda *arguments: None)


def matmul_requantised(tensors, elements, scales, epilogue, column_major, powers_of_two, stream,
                       options):
    arrays = epilogue.arrays()
    for tensor in (*tensors, elements, scales, *arrays):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise Invalid(f'One operand is a torch tensor, but another is a {type(tensor).__name__}.')
        if tensor is not None and torch.is_grad_enabled() and tensor.requires_grad:
            raise Unsupported('An operand requires a gradient, and none goes through '
                              'tilewright.matmul_requantised; call with torch.no_grad().')
    rest = (bool(powers_of_two), *epilogue.scalars(), *options)
    if stream is not None:
        with torch.cuda.stream(_stream(stream, tensors[0])):
            return _call(tensors, elements, scales, arrays, column_major, rest)
    return _call(tensors, elements, scales, arrays, column_major, rest)


def _call(tensors, elements, scales, arrays, column_major, rest):
    if elements is None and arrays[5] is None and arrays[6] is None:
        return operator(*tensors, *arrays[:5], bool(column_major), *rest)
    if elements is None:
        elements, scales = _new(*tensors[:2], column_major, rest[-5])
    operator_out(elements, scales, *tensors, *arrays, *rest)
    return elements, scales
