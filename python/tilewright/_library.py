"""include/tilewright.h by ctypes: its structs, the library that implements it, its errors."""
import ctypes
import ctypes.util
import operator
import os
import pathlib
from ctypes import (POINTER, Structure, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint64,
                    c_void_p, sizeof)

OK, INVALID, UNSUPPORTED, WORKSPACE, CUDA, FOUND = range(6)

# tw_type, in its order, with the bytes of an element.
TYPES = ('bf16', 'fp16', 'fp32', 'tf32', 'e4m3', 'e5m2', 's8', 's32')
CODES = {name: code for code, name in enumerate(TYPES)}
BYTES = {'bf16': 2, 'fp16': 2, 'fp32': 4, 'tf32': 4, 'e4m3': 1, 'e5m2': 1, 's8': 1, 's32': 4}

# tw_activation, in its order.
ACTIVATIONS = ('none', 'relu', 'gelu', 'silu', 'tanh', 'clamp')


# family conv2d: begin
# tw_direction, in its order.
DIRECTIONS = ('forward', 'backward_data', 'backward_filter')
# family conv2d: end


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


def integer(name, value, lowest=-1 << 63, highest=(1 << 63) - 1):
    """Of 64 bits, with a sign: ctypes cuts what does not fit a field without a word."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Invalid(f'{name} is {value!r}, but must be an integer.') from None
    if not lowest <= number <= highest:
        raise Invalid(f'{name} is {number}, but must be from {lowest} to {highest}.')
    return number


def set_integers(struct, what, **fields):
    """Fields of a struct; `what` it is says the refusal of one that does not fit."""
    for name, value in fields.items():
        setattr(struct, name, integer(f'{name} of {what}' if what else name, value))


class LibraryNotFound(Error, ImportError):
    """There is no libtilewright.so, or it is of another version."""


ERRORS = {error.status: error for error in (Invalid, Unsupported, WorkspaceError, CudaError, Found)}


class Matrix(Structure):
    _fields_ = [('data', c_void_p), ('row_stride', c_int64), ('column_stride', c_int64),
                ('batch_stride', c_int64), ('type', c_int)]


class Epilogue(Structure):
    _fields_ = [('alpha', c_float), ('beta', c_float), ('output_scale', c_float),
                ('clamp_low', c_float), ('clamp_high', c_float), ('activation', c_int),
                ('gated', c_int), ('source', Matrix), ('bias_type', c_int),
                ('column_bias', c_void_p), ('row_bias', c_void_p), ('column_scale', c_void_p),
                ('row_scale', c_void_p), ('auxiliary', Matrix), ('amax', c_void_p)]


class Problem(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('m', c_int64), ('n', c_int64), ('k', c_int64),
                ('batch', c_int64), ('a', Matrix), ('b', Matrix), ('d', Matrix),
                ('epilogue', Epilogue)]


class Options(Structure):
    _fields_ = [('size', c_size_t), ('batch_invariant', c_int), ('fast_accumulation', c_int),
                ('workspace_is_ready', c_int), ('workspace_limit', c_size_t),
                ('instance', c_char_p), ('target', c_char_p)]


# family conv2d: begin
class Conv2dAxis(Structure):
    _fields_ = [('extent', c_int64), ('filter', c_int64), ('stride', c_int64),
                ('dilation', c_int64), ('pad_low', c_int64), ('pad_high', c_int64)]


class Conv2dProblem(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('direction', c_int), ('n', c_int64), ('c', c_int64),
                ('k', c_int64), ('groups', c_int64), ('h', Conv2dAxis), ('w', Conv2dAxis),
                ('depth', Conv2dAxis), ('image', c_void_p), ('filter', c_void_p),
                ('d', c_void_p), ('type', c_int), ('d_type', c_int), ('epilogue', Epilogue)]
# family conv2d: end


# family blockwise: begin
class Scales(Structure):
    _fields_ = [('data', c_void_p), ('rows', c_int64), ('k_blocks', c_int64),
                ('row_stride', c_int64), ('k_stride', c_int64), ('batch_stride', c_int64),
                ('type', c_int)]


class BlockwiseProblem(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('matmul', Problem), ('a_scales', Scales),
                ('b_scales', Scales)]
# family blockwise: end


# family requantised: begin
class RequantisedProblem(Structure):
    _fields_ = BlockwiseProblem._fields_ + [('d_scales', Matrix), ('powers_of_two', c_int)]
# family requantised: end


# family grouped: begin
class GroupedProblem(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('matmul', Problem), ('rows', c_void_p),
                ('capacity', c_int64), ('row_index', c_void_p), ('a_rows', c_int64)]
    # family blockwise: begin
    _fields_ += [('a_scales', Scales), ('b_scales', Scales)]
    # family blockwise: end
# family grouped: end


# family quantise: begin
class QuantiseProblem(Structure):
    _fields_ = [('size', c_size_t), ('family', c_uint64), ('m', c_int64), ('k', c_int64), ('batch', c_int64),
                ('scale_rows', c_int64), ('source', Matrix), ('elements', Matrix),
                ('scales', Matrix), ('powers_of_two', c_int)]
# family quantise: end


# By their names in the header.
STRUCTS = {'tw_matrix': Matrix, 'tw_epilogue': Epilogue, 'tw_matmul_problem': Problem,
           'tw_options': Options}
# family conv2d: begin
STRUCTS.update(tw_conv2d_axis=Conv2dAxis, tw_conv2d_problem=Conv2dProblem)
# family conv2d: end
# family blockwise: begin
STRUCTS.update(tw_scales=Scales, tw_blockwise_problem=BlockwiseProblem)
# family blockwise: end
# family requantised: begin
STRUCTS.update(tw_requantised_problem=RequantisedProblem)
# family requantised: end
# family grouped: begin
STRUCTS.update(tw_grouped_problem=GroupedProblem)
# family grouped: end
# family quantise: begin
STRUCTS.update(tw_quantise_problem=QuantiseProblem)
# family quantise: end


class AnyProblem:
    """Of a function's arguments: a problem of any family, by its address."""

    @classmethod
    def from_param(cls, problem):
        return None if problem is None else byref(problem)


FUNCTIONS = {
    'tw_message': (c_char_p,),
    'tw_version': (c_char_p,),
    'tw_init': (c_int, c_char_p, AnyProblem, c_size_t, POINTER(Options)),
    'tw_supported': (c_int, AnyProblem, POINTER(Options)),
    'tw_workspace_size': (c_int, POINTER(c_size_t), AnyProblem, POINTER(Options)),
    'tw_run': (c_int, AnyProblem, POINTER(Options), c_void_p, c_size_t, c_void_p),
    'tw_plan_create': (c_int, POINTER(c_void_p), AnyProblem, POINTER(Options)),
    'tw_plan_destroy': (None, c_void_p),
    'tw_plan_workspace_size': (c_size_t, c_void_p),
    'tw_plan_command': (c_char_p, c_void_p),
    'tw_plan_run': (c_int, c_void_p, AnyProblem, c_void_p, c_size_t, c_void_p),
    'tw_simulate': (c_int, AnyProblem, POINTER(Options)),
}


def candidates():
    """Where the library may be, the first first."""
    if given := os.environ.get('TILEWRIGHT_LIBRARY'):
        return [given]
    package = pathlib.Path(__file__).resolve().parent
    found = sorted(package.glob('libtilewright.so*'))
    if (package.parents[1] / 'include' / 'tilewright.h').exists():
        built = (package.parents[1] / 'build').glob('*/src/library/libtilewright.so*')
        # The newest build: a developer means the one just made.
        found += sorted(built, key=lambda path: -path.stat().st_mtime)
    system = ctypes.util.find_library('tilewright')
    return [str(path) for path in found] + ([system] if system else [])


def _load():
    paths = candidates()
    if not paths:
        raise LibraryNotFound(
            'There is no libtilewright.so: TILEWRIGHT_LIBRARY is not set, none lies beside the '
            'package or in a build folder of its repository (./tw library builds one), and the '
            'system has none.')
    try:
        library = ctypes.CDLL(paths[0])
    except OSError as error:
        raise LibraryNotFound(f'{paths[0]} cannot be loaded: {error}.') from None
    for name, (result, *arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryNotFound(f'{paths[0]} has no function {name}: it is of another version '
                                  'than this package.') from None
        function.restype, function.argtypes = result, arguments
    problem, options = Problem(), Options()
    library.tw_init(b'matmul', problem, sizeof(problem), options)
    for struct in (problem, options):
        if struct.size != ctypes.sizeof(struct):
            raise LibraryNotFound(
                f'{paths[0]} (version {library.tw_version().decode()}) is of another version than '
                f'this package: its struct of {struct.size} bytes has '
                f'{ctypes.sizeof(struct)} bytes here.')
    library.path = paths[0]
    return library


_loaded = None


def library():
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def check(status):
    if status != OK:
        # The message is this thread's, and ctypes calls on this thread.
        raise ERRORS.get(status, Error)(library().tw_message().decode(errors='replace'))


def new_problem(family='matmul'):
    problem = STRUCTS[f'tw_{family}_problem']()
    check(library().tw_init(family.encode(), problem, sizeof(problem), None))
    return problem


def new_options(batch_invariant, fast_accumulation, instance, target=None, workspace_is_ready=0):
    options = Options()
    check(library().tw_init(b'matmul', None, 0, options))
    options.batch_invariant = batch_invariant
    options.fast_accumulation = fast_accumulation
    options.workspace_is_ready = workspace_is_ready
    options.instance, options.target = _text('instance', instance), _text('target', target)
    return options


def _text(name, given):
    if given is None:
        return None
    # A string of C ends at the first NUL: the rest would be cut off.
    if not isinstance(given, str) or '\0' in given:
        raise Invalid(f'{name} is {given!r}, but must be a name, or None.')
    return given.encode()


class Plan:
    """Destroyed with its last user."""

    def __init__(self, problem, options):
        self.handle = c_void_p()
        self.options = options  # with the name of the instance
        check(library().tw_plan_create(self.handle, problem, options))
        self.workspace_bytes = library().tw_plan_workspace_size(self.handle)

    def __del__(self):
        if self.handle and _loaded is not None:
            library().tw_plan_destroy(self.handle)
