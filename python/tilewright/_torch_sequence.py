"""Calls of torch tensors that follow each other, launched by one call of the library: tw_sequence. Eager calls alone; torch.compile,
autograd and dispatch modes see the operators of each."""
import functools
import threading
from ctypes import addressof, c_uint64, c_void_p

import torch

from ._library import check, describe, library, new_options
from ._torch import PLAIN_CLASSES, count_of_modes, key_of, raw_stream, stream_of
from ._torch_launcher import launch_memory, recording

KEPT = 256
ALIGNMENT = 512  # torch's own on a GPU

_kept = threading.local()  # problems are written to before each call: a thread has its own


def is_eager(tensors):
    """Whether nobody but the caller sees what happens to tensors, some of which may be None."""
    return (not torch.compiler.is_compiling() and not torch.jit.is_tracing() and count_of_modes() == 0 and
            all(tensor is None or (type(tensor) in PLAIN_CLASSES and (tensor.is_cuda or tensor.is_cpu)
                                   and not (tensor.requires_grad and torch.is_grad_enabled())) for tensor in tensors))


class Sequence:
    """Problems that were recorded, with the places of their addresses: in one of `given`, in the result, which is made for each call
    unless it is given, or in memory that is made for each call."""

    def __init__(self, recorded, given, result, capturing):
        self.problems = [problem for problem, *_ in recorded]
        self.addresses = (c_void_p * len(recorded))(*map(addressof, self.problems))
        options, = {options for *_, options in recorded}
        self.options = new_options(*options, workspace_is_ready=not capturing)
        self.handle, self.capturing = c_void_p(), capturing
        self.shape, self.dtype = result.shape, result.dtype
        # The last one: x may be given as out, and the next call of the key may have a view of it there.
        self.result_place = max((place for place, tensor in enumerate(given) if tensor is result), default=len(given))
        bases = {tensor.data_ptr(): place for place, tensor in reversed(list(enumerate((*given, result)))) if tensor is not None}
        bases.pop(0, None)  # what is empty has no address
        made, self.made_bytes = {}, 0
        for _, tensors, _ in recorded:
            for tensor in tensors:
                if tensor is not None and tensor.data_ptr() not in bases and tensor.data_ptr() not in made:
                    made[tensor.data_ptr()] = self.made_bytes
                    self.made_bytes += -(-tensor.untyped_storage().nbytes() // ALIGNMENT) * ALIGNMENT
        self.of_given, self.of_made = [], []
        for problem in self.problems:
            for offset in _addresses(type(problem).__name__.removeprefix('tw_').removesuffix('_problem')):
                word = c_uint64.from_address(addressof(problem) + offset)
                if word.value in bases:
                    self.of_given.append((word, bases[word.value]))
                elif word.value:
                    self.of_made.append((word, made[word.value]))

    def run(self, given):
        """The result."""
        device = given[0].device
        result_is_given = self.result_place < len(given)
        if not result_is_given:
            given = (*given, torch.empty(self.shape, dtype=self.dtype, device=device))
        memory = torch.empty(self.made_bytes + ALIGNMENT, dtype=torch.uint8, device=device)
        begin = -(-memory.data_ptr() // ALIGNMENT) * ALIGNMENT
        for word, place in self.of_given:
            word.value = given[place].data_ptr()
        for word, offset in self.of_made:
            word.value = begin + offset
        if device.type == 'cpu':
            check(library().tw_sequence_simulate(self.addresses, len(self.problems), self.options))
        else:
            self._launch(device)
        result = given[self.result_place]
        if result_is_given:
            torch.autograd.graph.increment_version(result)
        return result

    def _launch(self, device):
        if not self.handle:
            check(library().tw_sequence_create(self.handle, self.addresses, len(self.problems), self.options))
        stream = raw_stream(device.index)
        workspace = launch_memory(library().tw_sequence_workspace_size(self.handle), self.capturing, device, stream)
        address, size = (None, 0) if workspace is None else (workspace.data_ptr(), workspace.numel())
        check(library().tw_sequence_run(self.handle, self.addresses, len(self.problems), address, size, stream))

    def __del__(self):
        if getattr(self, 'handle', None):
            library().tw_sequence_destroy(self.handle)


@functools.cache
def _addresses(family):
    return [field['offset'] for field in describe(family)['fields'] if field['type'] == 'address']


def _record(function, given, capturing):
    recording.recorder = recorded = []
    try:
        result = function()
    finally:
        recording.recorder = None
    return Sequence(recorded, given, result, capturing)


def _run(function, given, rest):
    if getattr(_kept, 'sequences', None) is None:
        _kept.sequences = {}
    capturing = given[0].is_cuda and torch.cuda.is_current_stream_capturing()
    places = [None if tensor is None else tensor.data_ptr() for tensor in given]
    key = (rest, capturing, *[None if tensor is None else key_of(tensor) for tensor in given],
           *map(places.index, places))  # tensors that begin at one address do so in every call of the key
    sequence = _kept.sequences.get(key)
    if sequence is None:
        sequence = _record(function, given, capturing)
        if len(_kept.sequences) >= KEPT:
            _kept.sequences.pop(next(iter(_kept.sequences)))  # the oldest
        _kept.sequences[key] = sequence
    return sequence.run(given)


def run_together(function, given, rest, stream):
    """What function() returns, a tensor. It calls tilewright with `given` tensors, the first of which is there, and reads nothing of
    them; what else it depends on is `rest`, which has a hash. All its launches have the same options."""
    if stream is not None:
        with torch.cuda.stream(stream_of(stream, given[0])):
            return _run(function, given, rest)
    if given[0].is_cpu:
        return _run(function, given, rest)
    with torch.cuda.device(given[0].device):
        return _run(function, given, rest)
