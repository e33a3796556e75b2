"""Schemas of torch operators, by the descriptions of families. An epilogue and the options are the same for all."""
SIDES = ('Tensor? source, Tensor? bias, Tensor? row_bias, Tensor? row_scale, '
         'Tensor? column_scale')
WRITTEN = 'Tensor(b!)? auxiliary, Tensor(c!)? amax'
SCALARS = ('float alpha, float beta, float output_scale, str activation, float clamp_low, '
           'float clamp_high, bool gated')
OPTIONS = 'bool batch_invariant, bool fast_accumulation, str? instance, str? target'


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
    return {name: schema_kind(all_numbers[place]) for place, name in names.items()}


def joined(*schemas):
    return ', '.join(f'{kind} {name}' for schema in schemas for name, kind in schema.items())
