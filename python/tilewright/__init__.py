"""Tilewright: matrix products and convolutions on NVIDIA GPUs, and on a virtual one. docs/python.md is the page."""
import sys

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

# family conv2d: begin
from ._conv2d import conv2d  # noqa: E402
__all__.append('conv2d')
if 'torch' in sys.modules:
    from . import _torch_conv2d  # noqa: F401
# family conv2d: end
# family blockwise: begin
from ._blockwise import matmul_blockwise  # noqa: E402
__all__.append('matmul_blockwise')
if 'torch' in sys.modules:
    from . import _torch_blockwise  # noqa: F401
# family blockwise: end
# family requantised: begin
from ._requantised import matmul_requantised  # noqa: E402
__all__.append('matmul_requantised')
if 'torch' in sys.modules:
    from . import _torch_requantised  # noqa: F401
# family requantised: end
# family grouped: begin
from ._grouped import matmul_grouped  # noqa: E402
__all__.append('matmul_grouped')
if 'torch' in sys.modules:
    from . import _torch_grouped  # noqa: F401
# family grouped: end
# family quantise: begin
from ._quantise import quantise_blocks  # noqa: E402
__all__.append('quantise_blocks')
if 'torch' in sys.modules:
    from . import _torch_quantise  # noqa: F401
# family quantise: end
# family attention: begin
from ._attention import attention, attention_paged  # noqa: E402
__all__ += ['attention', 'attention_paged']
if 'torch' in sys.modules:
    from . import _torch_attention  # noqa: F401
# family attention: end

if 'torch' in sys.modules:  # torch.ops.tilewright is then there at once
    from . import _torch  # noqa: F401
