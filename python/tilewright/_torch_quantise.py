"""torch tensors: the operators tilewright::quantise_blocks and tilewright::quantise_blocks_out."""
import torch
from torch import Tensor

from ._arrays import type_name
from ._library import Invalid, Unsupported, describe
from ._quantise import problem_of
from ._scales import scales_of
from ._torch import DTYPES, _stream
from ._torch_family import Launcher
from ._torch_schema import joined, number_schema, read_schema

_described = describe('quantise')
_read = read_schema(_described, {'source': 'x'})
_rows, _flags = (number_schema(_described, {name: name}) for name in ('scale_rows', 'powers_of_two'))
_options = {'instance': 'str?', 'target': 'str?'}
_written = [tensor['name'] for tensor in _described['tensors'] if tensor['flow'] == 'written']
_launcher = Launcher('x')


def _new(x, scale_rows, dtype, column_major):
    shape, strides = scales_of(x.shape, scale_rows, column_major)
    return (x.new_empty(x.shape, dtype=dtype),
            torch.empty_strided(shape, strides, dtype=torch.float32, device=x.device))


def _run(x, elements, scales, scale_rows, powers_of_two, instance, target):
    views = [_launcher.view(name, tensor, x.device)
             for name, tensor in (('x', x), ('elements', elements), ('scales', scales))]
    _launcher.run(problem_of(*views, scale_rows, powers_of_two), (x, elements, scales),
                  (scale_rows, powers_of_two, instance, target), (False, True, instance, target))


def _compute(x, scale_rows, dtype, column_major, *options):
    elements, scales = _new(x, scale_rows, dtype, column_major)
    _run(x, elements, scales, scale_rows, *options)
    return elements, scales


operator = torch.library.custom_op(
    'tilewright::quantise_blocks', _compute, mutates_args=(),
    schema=f'({joined(_read, _rows)}, ScalarType dtype, bool column_major, {joined(_flags, _options)}) '
           '-> (Tensor, Tensor)')
operator.register_fake(lambda x, scale_rows, dtype, column_major, *options: _new(
    x, scale_rows, dtype, column_major))
operator_out = torch.library.custom_op(
    'tilewright::quantise_blocks_out',
    lambda elements, scales, x, *rest: _run(x, elements, scales, *rest),
    mutates_args=_written,
    schema=f'({", ".join(f"Tensor({alias}!) {name}" for alias, name in zip("ab", _written))}, '
           f'{joined(_read, _rows, _flags, _options)}) -> ()')
operator_out.register_fake(lambda *arguments: None)


def quantise_blocks(x, elements, scales, scale_rows, out_dtype, column_major, powers_of_two, stream,
                    options):
    for tensor in (x, elements, scales):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise Invalid(f'x or a part of out is a torch tensor, but another is a '
                          f'{type(tensor).__name__}.')
    if torch.is_grad_enabled() and x.requires_grad:
        raise Unsupported('x requires a gradient, and none goes through '
                          'tilewright.quantise_blocks; call with torch.no_grad(), or quantise '
                          'x.detach().')
    dtype = out_dtype if isinstance(out_dtype, torch.dtype) else DTYPES[type_name(out_dtype or 'e4m3')]
    if elements is not None and out_dtype is not None and elements.dtype != dtype:
        raise Invalid(f'The elements of out have dtype {elements.dtype}, but out_dtype is {dtype}.')
    if stream is not None:
        with torch.cuda.stream(_stream(stream, x)):
            return _call(x, elements, scales, scale_rows, dtype, column_major, powers_of_two,
                         *options[2:])
    return _call(x, elements, scales, scale_rows, dtype, column_major, powers_of_two, *options[2:])


def _call(x, elements, scales, scale_rows, dtype, column_major, *options):
    if elements is None:
        return operator(x, scale_rows, dtype, column_major, *options)
    operator_out(elements, scales, x, scale_rows, *options)
    return elements, scales
