"""matmul: torch tensors go to _torch.py, host memory runs on the virtual GPU."""
from ._arrays import is_torch, view_of
from ._library import Invalid, check, library, new_options
from ._problem import (Extents, check_on_host, check_told, checked_epilogue, epilogue_views,
                       output_of, problem_of)
from ._values import flag

_torch = None  # the module; it writes itself here when it is imported


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
        by_torch = _torch
        if by_torch is None:
            from . import _torch as by_torch
        check_told(a_type, b_type)
        return by_torch.matmul(a, b, out, epilogue, out_dtype, stream, batch_invariant,
                               fast_accumulation, instance, target, b_is_constant)
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
