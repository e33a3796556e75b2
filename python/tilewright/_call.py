"""call: any family that the library describes, by the names of its tensors and numbers."""
from ._arrays import is_torch, view_of
from ._described import problem_by_description, signature_of
from ._library import check, library, new_options
from ._problem import check_on_host, checked_epilogue, epilogue_views
from ._values import flag


def call(family, *, epilogue=None, stream=None, batch_invariant=False, fast_accumulation=True, instance=None,
         target=None, **arguments):
    """A problem of any family that the library describes (docs/library.md, tw_describe), by the names there: arrays for
    its tensors, outputs too; numbers where no shape tells them.

        call('quantise', source=x, elements=elements, scales=scales, powers_of_two=1)

    Arrays are [.., rows, columns]; a vector stands for a list on the device. Elements below a byte are bytes that hold
    them, and a_type='e2m1' tells that a has such. A number may be lower than packed bytes tell, and contradicts no other
    shape. All else is as for matmul. Of torch tensors this is the operator tilewright::call_FAMILY.
    """
    epilogue = checked_epilogue(epilogue)
    options = (flag('batch_invariant', batch_invariant), flag('fast_accumulation', fast_accumulation), instance, target)
    for array in arguments.values():
        if is_torch(array):
            from . import _torch_described
            return _torch_described.call(family, arguments, epilogue, stream, options)
    signature_of(family).check_epilogue(epilogue)
    check_on_host(stream)
    problem = problem_by_description(family, arguments, view_of, epilogue.scalars(), epilogue_views(epilogue))
    check(library().tw_simulate(problem, new_options(*options)))
