"""rms_norm: rows over the root of their mean square. Of torch tensors it is the operator tilewright::call_rms_norm."""
from .._arrays import new_like, rows_of, shape_of
from .._call import call
from .._library import Invalid
from .._scales import pair_of
from .._values import real

__all__ = ['rms_norm']


def rms_norm(x, weight, residual=None, out=None, *, epsilon=1e-5, stream=None, instance=None, target=None):
    """weight * x / sqrt(mean of x^2 + epsilon) along the last extent, of bf16 or fp16; sums are float32.

    residual: is added first, and (result, x + residual) is returned, which is normalised as it is rounded.
    out: where the result goes; with a residual, a pair.
    """
    shape = shape_of('x', x)
    output, total = (out, None) if residual is None else pair_of(out, 'the result, and x + residual')
    output = new_like('x', x, shape) if output is None else output
    if residual is not None and total is None:
        total = new_like('x', x, shape)
    matrices = {'source': x, 'output': output, 'residual': residual, 'sum': total}
    for name, array in matrices.items():
        if array is not None and shape_of(name, array) != shape:
            raise Invalid(f'The {name} has shape {shape_of(name, array)}, but x has shape {shape}.')
    call('rms_norm', weight=weight, epsilon=real('epsilon', epsilon), stream=stream, instance=instance, target=target,
         **{name: rows_of(name, array) for name, array in matrices.items() if array is not None})
    return output if residual is None else (output, total)
