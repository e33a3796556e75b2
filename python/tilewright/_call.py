"""call: any family that the library describes, by the names of its tensors and numbers."""
from ._arrays import count, view_of
from ._library import CODES, Invalid, check, describe, integer, library, new_options, new_problem
from ._problem import check_on_host


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
    values = {'data': view.address, 'batch_stride': strides[0], 'row_stride': strides[1],
              'column_stride': strides[2], 'type': CODES[view.type]}
    for part, field in tensor['fields'].items():
        _set(problem, field['path'], values[part])


def problem_by_description(family, arguments, view):
    """`view(name, array)` is the memory of an array."""
    described = describe(family)
    if 'tensors' not in described:
        raise Invalid(f'{family} is not described; it has a function of its own.')
    tensors = {tensor['name']: tensor for tensor in described['tensors']}
    numbers = {number['name']: number for number in described['numbers'] + described['reals']}
    for name in arguments:
        if name not in tensors and name not in numbers:
            raise Invalid(f'{family} has no {name!r}; there are {", ".join((*tensors, *numbers))}.')
    problem, values, told_by = new_problem(family), {}, {}
    for name, tensor in tensors.items():
        if arguments.get(name) is None:
            if not tensor['optional']:
                raise Invalid(f'{family} needs {name!r}.')
            continue
        memory = view(name, arguments[name])
        _fill_tensor(problem, name, tensor, memory)
        for side, extent in _extents(name, tensor, memory).items():
            number = tensor['extents'][side]
            if number not in numbers:
                continue
            if values.setdefault(number, extent) != extent:
                raise Invalid(f'{number} is {values[number]} by the shape of {told_by[number]}, but '
                              f'{extent} by that of {name}.')
            told_by.setdefault(number, name)
    values.update({name: given for name, given in arguments.items() if name in numbers})
    for name, value in values.items():
        real = 'kind' not in numbers[name]
        _set(problem, numbers[name]['field']['path'], float(value) if real else integer(name, value))
    return problem


def call(family, *, stream=None, batch_invariant=False, fast_accumulation=True, instance=None,
         target=None, **arguments):
    """A problem of any family that the library describes (docs/library.md, tw_describe), by the names there: arrays for
    its tensors, outputs too; numbers where no shape tells them.

        call('quantise', source=x, elements=elements, scales=scales, powers_of_two=1)

    Arrays are [.., rows, columns]; a vector stands for a list on the device. All else is as for matmul.
    """
    options = (bool(batch_invariant), bool(fast_accumulation), instance, target)
    arrays = [array for array in arguments.values() if hasattr(array, '__torch_function__')]
    if arrays:
        from . import _torch_family
        return _torch_family.call(
            arrays, lambda view: problem_by_description(family, arguments, view), stream,
            (family, *(name for name in arguments if arguments[name] is not None),
             *(value for value in arguments.values() if not hasattr(value, 'shape'))), options)
    check_on_host(stream)
    check(library().tw_simulate(problem_by_description(family, arguments, view_of), new_options(*options)))
