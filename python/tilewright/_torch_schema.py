"""Schemas of torch operators: kinds by the names of arguments, in their order. Those of tensors and numbers follow from the
descriptions of families; an epilogue and the options are the same for all."""
from ._library import differs, library

SIDES = dict.fromkeys(('source', 'bias', 'row_bias', 'row_scale', 'column_scale'), 'Tensor?')
WRITTEN = {'auxiliary': 'Tensor(b!)?', 'amax': 'Tensor(c!)?'}
SCALARS = {'alpha': 'float', 'beta': 'float', 'output_scale': 'float', 'activation': 'str', 'clamp_low': 'float',
           'clamp_high': 'float', 'gated': 'bool'}
KERNEL = {'instance': 'str?', 'target': 'str?'}
OPTIONS = {'batch_invariant': 'bool', 'fast_accumulation': 'bool', **KERNEL}


def schema_kind(number):
    """Of a number, a real or a list of a description."""
    if 'kind' not in number:
        return 'float' if 'field' in number else 'SymInt[]'
    return {'flag': 'bool', 'choice': 'str'}.get(number['kind'], 'SymInt')


def read_schema(described, names=None):
    """The tensors that a family reads. `names`: what they are called here, where that is not as in the description;
    None: the operator does not take it."""
    names = names or {}
    kinds = {names.get(tensor['name'], tensor['name']): 'Tensor?' if tensor['optional'] else 'Tensor'
             for tensor in described['tensors'] if tensor['flow'] == 'read'}
    kinds.pop(None, None)
    return kinds


def number_schema(described, names):
    """`names`: by the description's names, what numbers and lists are called here, in the operator's order."""
    all_numbers = {number['name']: number
                   for number in described['numbers'] + described['reals'] + described['lists']}
    for place in names:
        if place not in all_numbers:
            raise differs(library().path, f'{place!r} of {described["family"]}')
    return {name: schema_kind(all_numbers[place]) for place, name in names.items()}


def joined(*schemas):
    return ', '.join(f'{kind} {name}' for schema in schemas for name, kind in schema.items())
