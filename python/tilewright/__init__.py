"""Tilewright: matrix products and convolutions on NVIDIA GPUs, and on a virtual one. docs/python.md is the page."""
import importlib as _importlib
import sys as _sys

from ._arrays import Buffer
from ._call import call
from ._library import (CudaError, Error, Found, Invalid, LibraryNotFound, Unsupported,
                       VERSION, WorkspaceError, library)
from ._matmul import matmul
from ._numbers import from_bf16, to_bf16
from ._problem import Epilogue

__version__ = VERSION
for _error in (CudaError, Error, Found, Invalid, LibraryNotFound, Unsupported, WorkspaceError):
    _error.__module__ = __name__  # what tracebacks say
__all__ = ['Buffer', 'CudaError', 'Epilogue', 'Error', 'Found', 'Invalid', 'LibraryNotFound',
           'Unsupported', 'WorkspaceError', 'call', 'from_bf16', 'library', 'matmul', 'to_bf16']

_torch_modules = ['_torch', '_torch_described']
# family conv2d: begin
from ._conv2d import conv2d  # noqa: E402
__all__.append('conv2d')
_torch_modules.append('_torch_conv2d')
# family conv2d: end
# family blockwise: begin
from ._blockwise import matmul_blockwise  # noqa: E402
__all__.append('matmul_blockwise')
_torch_modules.append('_torch_blockwise')
# family blockwise: end
# family block_dequantise: begin
from ._block_dequantise import block_dequantise  # noqa: E402
__all__.append('block_dequantise')
# family block_dequantise: end
# family block_quantise: begin
from ._block_quantise import block_quantise  # noqa: E402
__all__.append('block_quantise')
# family block_quantise: end
# family block_scaled: begin
from ._block_scaled import matmul_block_scaled  # noqa: E402
__all__.append('matmul_block_scaled')
# family block_scaled: end
# family requantised: begin
from ._requantised import matmul_requantised  # noqa: E402
__all__.append('matmul_requantised')
_torch_modules.append('_torch_requantised')
# family requantised: end
# family grouped: begin
from ._grouped import matmul_grouped  # noqa: E402
__all__.append('matmul_grouped')
_torch_modules.append('_torch_grouped')
# family grouped: end
# family quantise: begin
from ._quantise import quantise_blocks  # noqa: E402
__all__.append('quantise_blocks')
_torch_modules.append('_torch_quantise')
# family quantise: end
# family rms_norm: begin
from ._rms_norm import rms_norm  # noqa: E402
__all__.append('rms_norm')
# family rms_norm: end
# family rotary: begin
from ._rotary import rotary  # noqa: E402
__all__.append('rotary')
# family rotary: end
# family attention: begin
from ._attention import attention, attention_paged  # noqa: E402
__all__ += ['attention', 'attention_paged']
_torch_modules.append('_torch_attention')
# family attention: end

if 'torch' in _sys.modules:  # torch.ops.tilewright is then there at once
    try:
        for _module in _torch_modules:
            _importlib.import_module(f'.{_module}', __name__)
    except LibraryNotFound:  # its descriptions are missing; the first call says where was looked
        pass


def __dir__():
    return sorted({*__all__, '__version__', '__doc__', '__name__', '__path__', '__file__'})
