"""From arrays and numbers, by the names of a family's description, to its problem."""
from ctypes import c_int64

from ._arrays import count, dense_strides
from ._library import (CODES, PACKED_BITS, PACKED_CODES, STRUCTS, Invalid, check, describe, integer, library,
                       new_problem)
from ._packed import is_packed, packed_view
from ._problem import PLAIN, fill_epilogue
from ._values import real, shown, word

NO_SIDES = (None,) * 7  # what an epilogue without any has


class Signature:
    """What a call of a family takes, by its description."""

    def __init__(self, family):
        described = describe(family)
        self.family, self.product = family, described.get('product')
        self.tensors = {tensor['name']: tensor for tensor in described['tensors']}
        self.numbers = {number['name']: number for number in described['numbers'] + described['reals']}
        # Tensors may have elements below a byte, which an array does not tell.
        self.types = tuple(f'{name}_type' for name, tensor in self.tensors.items()
                           if any(type in PACKED_BITS for type in tensor['types']))
        self.names = (*self.tensors, *self.numbers, *self.types)

    def check_names(self, names):
        for name in names:
            if name not in self.names:
                raise Invalid(f'{self.family} has no {name!r}; there are {", ".join(self.names)}.')

    def check_epilogue(self, epilogue):
        if self.product is None and epilogue is not PLAIN:
            raise Invalid(f'{self.family} multiplies nothing and takes no epilogue.')


_signatures = {}


def signature_of(family):
    if not isinstance(family, str):
        raise Invalid(f'The family is {shown(family)}, but must be a name.')
    if family not in _signatures:
        _signatures[family] = Signature(family)
    return _signatures[family]


def _set(problem, path, value):
    *outer, last = path.split('.')
    for name in outer:
        problem = getattr(problem, name)
    setattr(problem, last, value)


def _number(name, number, value):
    if 'kind' not in number:
        return real(name, value)
    if isinstance(value, str) and number['words']:
        return number['words'].index(word(name, value, number['words']))
    return integer(name, value)


def _has_strides(tensor):
    return 'row_stride' in tensor['fields']


def _check_memory(name, tensor, view):
    if tensor['flow'] == 'written' and not view.writable:
        raise Invalid(f'{name} is written to, but its memory is read-only.')
    if _has_strides(tensor):
        if not 2 <= len(view.shape) <= 3:
            raise Invalid(f'{name} has shape {view.shape}, but must be a matrix, or a batch of them.')
        return
    steps, dense = ([step for extent, step in zip(view.shape, strides) if extent != 1]
                    for strides in (view.strides, dense_strides(view.shape)))
    if steps != dense and count(view.shape):
        raise Invalid(f'{name} has shape {view.shape} and strides {view.strides}, but its values must lie one after the other.')
    if len(tensor['types']) == 1 and view.type != tensor['types'][0]:
        raise Invalid(f'{name} has type {view.type}, but must be {tensor["types"][0]}.')


def _fill_tensor(problem, tensor, view):
    batch, row, column = (*(0,) * (3 - len(view.strides)), *view.strides)[-3:]
    if len(view.shape) == 3 and view.shape[0] == 1:
        batch = 0  # one serves all
    code = PACKED_CODES[view.type] if view.type in PACKED_BITS else CODES[view.type]
    values = {'data': view.address, 'batch_stride': batch, 'row_stride': row, 'column_stride': column, 'type': code}
    for part, field in tensor['fields'].items():
        _set(problem, field['path'], values[part])


class Numbers:
    """Of a problem, as the caller gives them, or as shapes tell them. Bytes that hold elements below a byte tell the most
    that there may be. Whether what is given contradicts a shape shows in the extents that the library tells."""

    def __init__(self, given):
        self.given, self.told, self.limits = given, {}, {}

    def tell(self, number, extent, name):
        known, by = self.told.setdefault(number, (extent, name))
        if known != extent and number not in self.given:
            raise Invalid(f'{number} is {known} by the shape of {by}, but {extent} by that of {name}.')

    def limit(self, number, most, slack, name):
        """`slack`: so many elements less than the most end with the same byte."""
        self.limits.setdefault(number, []).append((most, slack, name))

    def values(self):
        values = {number: extent for number, (extent, _) in self.told.items()}
        for number, limits in self.limits.items():
            value, by = self.told.get(number) or min((most, name) for most, _, name in limits)
            values[number] = value
            for most, slack, name in limits:
                if not most - slack <= value <= most and number not in self.given:
                    raise Invalid(f'{number} is {value} by the shape of {by}, but {most} by that of {name}.')
        return values | self.given


def _tell(numbers, signature, name, view, packed, gated):
    tensor = signature.tensors[name]
    sides = tensor['extents']
    if not _has_strides(tensor):
        if isinstance(sides['columns'], str) and sides['rows'] == 1:
            numbers.tell(sides['columns'], count(view.shape), name)
        return
    # A batch of one says nothing.
    batch = view.shape[0] if len(view.shape) == 3 and view.shape[0] != 1 else None
    is_output = signature.product is not None and name == signature.product['d']
    for side, place, extent in (('batch', -3, batch), ('rows', -2, view.shape[-2]), ('columns', -1, view.shape[-1])):
        if not isinstance(sides[side], str) or extent is None or gated and is_output and side == 'columns':
            continue
        if place == packed:
            numbers.limit(sides[side], extent, 3 if PACKED_BITS[view.type] == 6 else 1, name)
        else:
            numbers.tell(sides[side], extent, name)


def _check_extents(signature, needed, views, packed):
    """Arrays have the extents that the library takes them to have: no kernel goes beyond."""
    for name, view in views.items():
        tensor, extents = signature.tensors[name], needed[name]
        if 0 in extents:
            continue
        if not _has_strides(tensor):
            # Bytes of scales and lists may go on; what has a shape of its own does not.
            given, wanted = count(view.shape), count(extents)
            exactly = len(tensor['types']) > 1 or isinstance(tensor['extents']['columns'], str)
            if given < wanted or exactly and given != wanted:
                raise Invalid(f'{name} has {given} elements, but must have {wanted}.')
            continue
        batch, *matrix = extents
        matrices = view.shape[0] if len(view.shape) == 3 else 1
        own = list(view.shape[-2:])
        if name in packed:
            own[packed[name]] = min(own[packed[name]], matrix[packed[name]])
        if own != matrix or matrices != batch and (matrices != 1 or tensor['flow'] == 'written'):
            wanted = ' by '.join(map(str, matrix if batch == 1 else extents))
            raise Invalid(f'{name} has shape {view.shape}, but must be {wanted}.')


def _extents(signature, problem):
    """By the names of tensors."""
    told = (c_int64 * (3 * len(signature.tensors)))()
    check(library().tw_extents(told, len(signature.tensors), problem))
    return {name: told[3 * place:3 * place + 3] for place, name in enumerate(signature.tensors)}


def extents_by_description(family, name, types, **numbers):
    """Rows and columns of a tensor that is to be made, by the problem's numbers and the types of its tensors."""
    signature, problem = signature_of(family), new_problem(family)
    for tensor, type in types.items():
        _set(problem, signature.tensors[tensor]['fields']['type']['path'], CODES[type])
    for number, value in numbers.items():
        _set(problem, signature.numbers[number]['field']['path'], _number(number, signature.numbers[number], value))
    return _extents(signature, problem)[name][1:]


def _views(signature, arguments, view):
    """Of all tensors that are given, and which extent (-1 or -2) of packed ones counts bytes."""
    views, packed = {}, {}
    for name, tensor in signature.tensors.items():
        if arguments.get(name) is None:
            if not tensor['optional']:
                raise Invalid(f'{signature.family} needs {name!r}.')
            continue
        type = arguments.get(f'{name}_type')
        if is_packed(type):
            along = -2 if tensor['extents']['rows'] == 'k' else -1
            views[name], packed[name] = packed_view(name, view(name, arguments[name], 's8'), type, along)
        else:
            views[name] = view(name, arguments[name], 's8' if type is None and tensor['types'] == ['s8'] else type)
        _check_memory(name, tensor, views[name])
        if 'type' not in tensor['fields'] and len(tensor['types']) > 1:
            first = next(other for other in views if 'type' in signature.tensors[other]['fields'])
            if views[first].type != views[name].type:
                raise Invalid(f'{name} has type {views[name].type} and {first} has type {views[first].type}, but both must '
                              'have one.')
    return views, packed


def problem_by_description(family, arguments, view, scalars=PLAIN.scalars(), sides=NO_SIDES):
    """`view(name, array, type)` is the memory of an array, as of a type where the array does not tell it; `sides` are
    views of an epilogue's arrays. The problem keeps all views: some own the memory that it names."""
    signature = signature_of(family)
    signature.check_names(arguments)
    given = {name: _number(name, signature.numbers[name], value) for name, value in arguments.items()
             if name in signature.numbers and value is not None}
    problem, numbers = new_problem(family), Numbers(given)
    views, packed = _views(signature, arguments, view)
    problem.keeps = views, sides
    for name, memory in views.items():
        _fill_tensor(problem, signature.tensors[name], memory)
        _tell(numbers, signature, name, memory, packed.get(name), scalars[-1])
    for name, value in numbers.values().items():
        _set(problem, signature.numbers[name]['field']['path'], value)
    if signature.product is None:
        _check_extents(signature, _extents(signature, problem), views, packed)
        return problem
    epilogue = STRUCTS['tw_epilogue'].from_buffer(problem, signature.product['epilogue']['offset'])
    fill_epilogue(epilogue, scalars, NO_SIDES, 0, 0, ())  # a gate halves what is written
    needed = _extents(signature, problem)
    _check_extents(signature, needed, views, packed)
    batch, rows, columns = needed[signature.product['d']]
    fill_epilogue(epilogue, scalars, sides, rows, columns * 2 if scalars[-1] else columns, (batch,) if batch > 1 else ())
    return problem
