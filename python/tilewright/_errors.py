"""What calls raise: tw_status as exceptions."""

OK, INVALID, UNSUPPORTED, WORKSPACE, CUDA, FOUND = range(6)


class Error(Exception):
    """What the library refused or found, in its own sentence. `status` is its tw_status."""
    status = None


class Invalid(Error, ValueError):
    """The problem contradicts itself, or names what is not there."""
    status = INVALID


class Unsupported(Error, NotImplementedError):
    """The problem is sound, but no compiled kernel computes it here."""
    status = UNSUPPORTED


class WorkspaceError(Error):
    """The workspace is too small, or not aligned."""
    status = WORKSPACE


class CudaError(Error):
    """CUDA reported an error, or there is no GPU."""
    status = CUDA


class Found(Error):
    """The virtual GPU reports a fault of the kernel."""
    status = FOUND


class LibraryNotFound(Error, ImportError):
    """There is no libtilewright.so, or it is of another version."""


ERRORS = {error.status: error for error in (Invalid, Unsupported, WorkspaceError, CudaError, Found)}
