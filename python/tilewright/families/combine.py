"""combine: rows of a token's experts, weighted and added up. Of torch tensors it is the operator tilewright::call_combine."""
from .._arrays import new_like, rows_of, shape_of
from .._call import call
from .._library import Invalid

__all__ = ['combine']


def combine(source, places, weights=None, addend=None, out=None, *, stream=None, instance=None, target=None):
    """out[token] = the sum of weights[token, i] * source[places[token, i]], in the order of i, plus addend[token].

    source: [rows, columns], bf16 or fp16; sums are float32.
    places: int32 [tokens, k], on the device; rows that the source does not have are left out. One of [tokens] gathers rows.
    weights: float32, like places; None: all are 1.
    addend: [tokens, columns], such as what a shared expert made.
    out: where the result goes; None: it is made.
    """
    *_, columns = shape_of('source', source) or (0,)
    shape = shape_of('places', places)
    if not 1 <= len(shape) <= 2:
        raise Invalid(f'places has shape {shape}, but must be [tokens, k], or [tokens].')
    tokens, k = (*shape, 1)[:2]
    out = new_like('source', source, (tokens, columns)) if out is None else out
    call('combine', source=rows_of('source', source), places=places, weights=weights,
         addend=None if addend is None else rows_of('addend', addend), output=rows_of('out', out), tokens=tokens, k=k,
         stream=stream, instance=instance, target=target)
    return out
