"""Tilewright: matrix products and convolutions on NVIDIA GPUs, and on a virtual one. docs/python.md is the page."""
import sys as _sys
import typing as _typing

from . import _library
from . import families as _families
from ._arrays import Buffer
from ._call import call
from ._library import (CudaError, Error, Found, Invalid, LibraryNotFound, Unsupported,
                       VERSION, WorkspaceError, library)
from ._numbers import from_bf16, to_bf16
from ._problem import Epilogue

__version__ = VERSION
for _error in (CudaError, Error, Found, Invalid, LibraryNotFound, Unsupported, WorkspaceError):
    _error.__module__ = __name__  # what tracebacks say
__all__ = ['Buffer', 'CudaError', 'Epilogue', 'Error', 'Found', 'Invalid', 'LibraryNotFound',
           'Unsupported', 'WorkspaceError', 'call', 'from_bf16', 'library', 'to_bf16']

globals().update(_families.FUNCTIONS)
__all__ += _families.FUNCTIONS

if _typing.TYPE_CHECKING:  # what was found is known when it runs
    def __getattr__(name: str) -> _typing.Callable[..., _typing.Any]: ...

if 'torch' in _sys.modules:  # torch.ops.tilewright is then there at once
    try:
        from . import _torch_made  # noqa: F401
    except LibraryNotFound:  # its descriptions are missing; the first call says where was looked
        if _library._loaded is not None:  # it was found, and is not this package's
            raise


def __dir__():
    return sorted({*__all__, '__version__', '__doc__', '__name__', '__path__', '__file__'})
