"""How problems of torch tensors get to the device, but for matmul's, which have a shorter way."""
import threading

import torch

from ._library import Invalid, Plan, check, library, new_options
from ._torch import key_of, memory_of, raw_stream, workspace_of

PLANS_KEPT = 1024

# Where this thread's `recorder` is a list, problems are not launched: they go there with their tensors and options.
recording = threading.local()


def launch_memory(bytes_needed, capturing, device, stream):
    """The workspace of a launch. A graph keeps its addresses: it gets one of its own pool, and counters of the library's."""
    if not bytes_needed:
        return None
    return torch.empty(bytes_needed, dtype=torch.uint8, device=device) if capturing else workspace_of(device, stream, bytes_needed)


class Launcher:
    """With the plans of what was launched lately. `first` is the name of the tensor on whose device all others lie."""

    def __init__(self, first):
        self.first = first
        self.plans = {}

    def check_device(self, name, tensor, device):
        if tensor.device != device:
            raise Invalid(f'{name} lies on {tensor.device}, but {self.first} lies on {device}.')

    def view(self, name, tensor, device):
        self.check_device(name, tensor, device)
        return memory_of(name, tensor)

    def run(self, problem, tensors, rest, options):
        """`tensors` and `rest` are all that the problem was made of; the first tensor is there."""
        device = tensors[0].device
        if (recorder := getattr(recording, 'recorder', None)) is not None:
            recorder.append((problem, tensors, options))
            return
        if device.type == 'cpu':
            check(library().tw_simulate(problem, new_options(*options)))
            return
        if device.type != 'cuda':
            raise Invalid(f'{self.first} lies on {device}, but must lie on a CUDA device, or on '
                          'the host for the virtual GPU.')
        with torch.cuda.device(device):
            self._on_gpu(problem, tensors, rest, options, device)

    def _on_gpu(self, problem, tensors, rest, options, device):
        capturing = torch.cuda.is_current_stream_capturing()
        key = (*(tuple(one) if isinstance(one, list) else one for one in rest), capturing,
               *[None if tensor is None else key_of(tensor) for tensor in tensors])
        plan = self.plans.get(key)
        if plan is None:
            plan = Plan(problem, new_options(*options, workspace_is_ready=not capturing))
            if len(self.plans) >= PLANS_KEPT:
                self.plans.pop(next(iter(self.plans)))  # the oldest
            self.plans[key] = plan
        stream = raw_stream(device.index)
        workspace = launch_memory(plan.workspace_bytes, capturing, device, stream)
        address, size = (None, 0) if workspace is None else (workspace.data_ptr(), workspace.numel())
        check(library().tw_plan_run(plan.handle, problem, address, size, stream))
