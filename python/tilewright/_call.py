"""call: any family that the library describes, by the names of its tensors and numbers."""
from ._arrays import count, is_torch, view_of
from ._library import (CODES, PACKED_BITS, PACKED_CODES, STRUCTS, Invalid, check, describe, integer,
                       library, new_options, new_problem)
from ._packed import packed_view
from ._problem import PLAIN, check_on_host, checked_epilogue, epilogue_views, fill_epilogue


class Signature:
    """What a call of a family takes, by its description."""

    def __init__(self, family):
        described = describe(family)
        self.family, self.product = family, described.get('product')
        self.tensors = {tensor['name']: tensor for tensor in described['tensors']}
        self.numbers = {number['name']: number for number in described['numbers'] + described['reals']}
        # Of tensors that may have elements below a byte, which an array does not tell.
        self.types = tuple(f'{name}_type' for name, tensor in self.tensors.items()
                           if any(type in PACKED_BITS for type in tensor['types']))
        self.names = (*self.tensors, *self.numbers, *self.types)

    def check_names(self, names):
        for name in names:
            if name not in self.names:
                raise Invalid(f'{self.family} has no {name!r}; there are {", ".join(self.names)}.')


_signatures = {}


def signature_of(family):
    if family not in _signatures:
        _signatures[family] = Signature(family)
    return _signatures[family]


def _set(problem, path, value):
    *outer, last = path.split('.')
    for name in outer:
        problem = getattr(problem, name)
    setattr(problem, last, value)


def _extents(name, tensor, view):
    """By the words of a description. Vectors have columns alone."""
    if 'row_stride' not in tensor['fields']:
        return {'columns': count(view.shape)}
    if len(view.shape) < 2:
        raise Invalid(f'{name} has shape {view.shape}, but must be a matrix, or a batch of them.')
    extents = {'rows': view.shape[-2], 'columns': view.shape[-1]}
    if len(view.shape) > 2:
        extents['batch'] = count(view.shape[:-2])
    return extents


def _fill_tensor(problem, name, tensor, view):
    if tensor['flow'] == 'written' and not view.writable:
        raise Invalid(f'{name} is written to, but its memory is read-only.')
    if len(view.shape) > 3:
        raise Invalid(f'{name} has shape {view.shape}, but may have one extent before its rows.')
    strides = (*(0,) * (3 - len(view.strides)), *view.strides)
    code = PACKED_CODES[view.type] if view.type in PACKED_BITS else CODES[view.type]
    values = {'data': view.address, 'batch_stride': strides[0], 'row_stride': strides[1],
              'column_stride': strides[2], 'type': code}
    for part, field in tensor['fields'].items():
        _set(problem, field['path'], values[part])


def _number(name, number, value):
    if 'kind' not in number:
        return float(value)
    if isinstance(value, str) and number['words']:
        if value not in number['words']:
            raise Invalid(f'{name} is {value!r}, but must be one of {", ".join(number["words"])}.')
        return number['words'].index(value)
    return integer(name, value)


def problem_by_description(family, arguments, view, scalars=PLAIN.scalars(), sides=(None,) * 7):
    """`view(name, array, type)` is the memory of an array, as of a type where the array does not tell it; `sides` are
    views of an epilogue's arrays."""
    signature = signature_of(family)
    tensors, numbers = signature.tensors, signature.numbers
    signature.check_names(arguments)
    problem, values, told_by = new_problem(family), {}, {}
    for name, tensor in tensors.items():
        if arguments.get(name) is None:
            if not tensor['optional']:
                raise Invalid(f'{family} needs {name!r}.')
            continue
        bytes_alone = 's8' if tensor['types'] == ['s8'] else None
        memory = view(name, arguments[name], arguments.get(f'{name}_type') or bytes_alone)
        _fill_tensor(problem, name, tensor, memory)
        for side, extent in _extents(name, tensor, memory).items():
            number = tensor['extents'][side]
            if number not in numbers:
                continue
            if values.setdefault(number, extent) != extent and arguments.get(number) is None:
                raise Invalid(f'{number} is {values[number]} by the shape of {told_by[number]}, but '
                              f'{extent} by that of {name}.')
            told_by.setdefault(number, name)
    values.update({name: given for name, given in arguments.items() if name in numbers and given is not None})
    for name, value in values.items():
        _set(problem, numbers[name]['field']['path'], _number(name, numbers[name], value))
    if signature.product is not None:
        extents = tensors[signature.product['d']]['extents']
        if extents['rows'] in values and extents['columns'] in values:
            batch = values.get(extents['batch'], 1)
            fill_epilogue(STRUCTS['tw_epilogue'].from_buffer(problem, signature.product['epilogue']['offset']),
                          scalars, sides, values[extents['rows']], values[extents['columns']],
                          (batch,) if batch > 1 else ())
    return problem


def _host_view(name, array, type):
    if type in PACKED_BITS:
        return packed_view(name, view_of(name, array, 's8'), type)
    return view_of(name, array, type)


def call(family, *, epilogue=None, stream=None, batch_invariant=False, fast_accumulation=True, instance=None,
         target=None, **arguments):
    """A problem of any family that the library describes (docs/library.md, tw_describe), by the names there: arrays for
    its tensors, outputs too; numbers where no shape tells them.

        call('quantise', source=x, elements=elements, scales=scales, powers_of_two=1)

    Arrays are [.., rows, columns]; a vector stands for a list on the device. Elements below a byte are bytes that hold
    them, and a_type='e2m1' tells that a has such. All else is as for matmul. Of torch tensors this is the operator
    tilewright::call_FAMILY.
    """
    epilogue = checked_epilogue(epilogue)
    options = (bool(batch_invariant), bool(fast_accumulation), instance, target)
    for array in arguments.values():
        if is_torch(array):
            from . import _torch_described
            return _torch_described.call(family, arguments, epilogue, stream, options)
    check_on_host(stream)
    problem = problem_by_description(family, arguments, _host_view, epilogue.scalars(), epilogue_views(epilogue))
    check(library().tw_simulate(problem, new_options(*options)))
