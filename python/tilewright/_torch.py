"""torch tensors as memory: their types, devices and streams."""
import torch
from torch import Tensor

from ._arrays import View, type_name
from ._library import Invalid
from ._problem import output_type

NAMES = {torch.bfloat16: 'bf16', torch.float16: 'fp16', torch.float32: 'fp32',
         torch.float8_e4m3fn: 'e4m3', torch.float8_e5m2: 'e5m2', torch.int8: 's8',
         torch.int32: 's32'}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
PLAIN_CLASSES = (Tensor, torch.nn.Parameter)

count_of_modes = getattr(torch._C, '_len_torch_dispatch_stack', lambda: 0)
raw_stream = getattr(torch._C, '_cuda_getCurrentRawStream',
                     lambda index: torch.cuda.current_stream(index).cuda_stream)


def type_of(name, tensor):
    if tensor.dtype not in NAMES:
        raise Invalid(f'{name} has dtype {tensor.dtype}, which is not among '
                      f'{", ".join(str(dtype) for dtype in NAMES)}.')
    return NAMES[tensor.dtype]


def dtype_of(given):
    return given if isinstance(given, torch.dtype) else DTYPES[type_name(given)]


def output_dtype(a, out, out_dtype):
    if out_dtype is not None:
        out_dtype = dtype_of(out_dtype)
    if out is not None:
        if out_dtype is not None and out_dtype != out.dtype:
            raise Invalid(f'out has dtype {out.dtype}, but out_dtype is {out_dtype}.')
        return out.dtype
    if out_dtype is not None:
        return out_dtype
    return DTYPES[output_type(type_of('a', a))]


def stream_of(stream, a):
    if not a.is_cuda:
        raise Invalid(f'stream is given, but a lies on {a.device}.')
    if not isinstance(stream, torch.cuda.Stream):
        return torch.cuda.ExternalStream(int(stream), device=a.device)
    if stream.device != a.device:
        raise Invalid(f'stream is of {stream.device}, but a lies on {a.device}.')
    return stream


def memory_of(name, tensor):
    if tensor.is_neg():
        raise Invalid(f'{name} is a view that negates its memory, which kernels do not; '
                      'resolve_neg() makes a tensor of it.')
    return View(tensor.data_ptr(), tensor.shape, tensor.stride(), type_of(name, tensor), True,
                tensor)


def key_of(tensor):
    """All that a plan depends on."""
    return (tensor.shape, tensor.stride(), tensor.dtype, tensor.data_ptr() & 15,
            tensor.get_device(), tensor.is_neg())


workspaces = {}  # by device and stream
LEAST_WORKSPACE = 1 << 20


def workspace_of(device, stream, bytes_needed):
    """Zeroed once. One that is outgrown goes back to torch, which hands it out on its stream, and
    so after the kernels that still use it."""
    held = workspaces.get((device, stream))
    if held is None or held.numel() < bytes_needed:
        size = max(LEAST_WORKSPACE, 1 << (bytes_needed - 1).bit_length())
        held = torch.zeros(size, dtype=torch.uint8, device=device)
        workspaces[device, stream] = held
    return held
