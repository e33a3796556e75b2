"""include/tilewright.h by ctypes: the library that implements it, its structs, its errors."""
import ctypes
import ctypes.util
import functools
import json
import os
import pathlib
from ctypes import (POINTER, Structure, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint64,
                    c_void_p, sizeof)

from ._errors import (CUDA, ERRORS, FOUND, INVALID, OK, UNSUPPORTED, WORKSPACE, CudaError, Error, Found,  # noqa: F401
                      Invalid, LibraryNotFound, Unsupported, WorkspaceError)
from ._values import flag, integer, shown

VERSION = '0.6.0'

# tw_type, in its order, with the bytes of an element.
TYPES = ('bf16', 'fp16', 'fp32', 'tf32', 'e4m3', 'e5m2', 's8', 's32')
CODES = {name: code for code, name in enumerate(TYPES)}
BYTES = {'bf16': 2, 'fp16': 2, 'fp32': 4, 'tf32': 4, 'e4m3': 1, 'e5m2': 1, 's8': 1, 's32': 4}

# Types below a byte, which follow in tw_type, with the bits of an element. Arrays hold them as packed bytes.
PACKED_BITS = {'e2m1': 4, 'e2m3': 6, 'e3m2': 6}
PACKED_CODES = {name: len(TYPES) + place for place, name in enumerate(PACKED_BITS)}

# tw_activation, in its order.
ACTIVATIONS = ('none', 'relu', 'gelu', 'silu', 'tanh', 'clamp')


def set_integers(struct, what, **fields):
    """Fields of a struct; `what` it is says the refusal of one that does not fit."""
    for name, value in fields.items():
        setattr(struct, name, integer(f'{name} of {what}' if what else name, value))


# The structs of include/tilewright.h by their names there, as the library describes them. Empty before it is loaded.
STRUCTS = {}

SCALARS = {'size_t': c_size_t, 'uint64_t': c_uint64, 'int64_t': c_int64, 'int': c_int, 'float': c_float,
           'address': c_void_p, 'text': c_char_p}


def _make_structs(described):
    """ctypes structs of tw_describe's; those inside of others come before them."""
    for name, layout in described['structs'].items():
        fields = [(member['name'], SCALARS.get(member['type']) or STRUCTS.get(member['type']) or c_int)
                  for member in layout['members']]
        STRUCTS[name] = type(name, (Structure,), {'_fields_': fields})


class AnyStruct:
    """Of a function's arguments: a problem of any family, or options, by its address."""

    @classmethod
    def from_param(cls, struct):
        return None if struct is None else byref(struct)


FUNCTIONS = {
    'tw_message': (c_char_p,),
    'tw_version': (c_char_p,),
    'tw_describe': (c_char_p, c_char_p),
    'tw_load_plugin': (c_int, c_char_p),
    'tw_init': (c_int, c_char_p, AnyStruct, c_size_t, AnyStruct),
    'tw_extents': (c_int, POINTER(c_int64), c_size_t, AnyStruct),
    'tw_supported': (c_int, AnyStruct, AnyStruct),
    'tw_workspace_size': (c_int, POINTER(c_size_t), AnyStruct, AnyStruct),
    'tw_run': (c_int, AnyStruct, AnyStruct, c_void_p, c_size_t, c_void_p),
    'tw_plan_create': (c_int, POINTER(c_void_p), AnyStruct, AnyStruct),
    'tw_plan_destroy': (None, c_void_p),
    'tw_plan_workspace_size': (c_size_t, c_void_p),
    'tw_plan_command': (c_char_p, c_void_p),
    'tw_plan_run': (c_int, c_void_p, AnyStruct, c_void_p, c_size_t, c_void_p),
    'tw_simulate': (c_int, AnyStruct, AnyStruct),
    'tw_sequence_create': (c_int, POINTER(c_void_p), POINTER(c_void_p), c_size_t, AnyStruct),
    'tw_sequence_destroy': (None, c_void_p),
    'tw_sequence_workspace_size': (c_size_t, c_void_p),
    'tw_sequence_run': (c_int, c_void_p, POINTER(c_void_p), c_size_t, c_void_p, c_size_t, c_void_p),
    'tw_sequence_simulate': (c_int, POINTER(c_void_p), c_size_t, AnyStruct),
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


def differs(path, missing):
    """To raise where the library lacks what this package needs."""
    return LibraryNotFound(f'{path} has no {missing}: it is of another version than this package.')


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
            raise differs(paths[0], f'function {name}') from None
        function.restype, function.argtypes = result, arguments
    described = json.loads(library.tw_describe(None))
    if described['version'].split('.')[:2] != VERSION.split('.')[:2]:
        raise LibraryNotFound(f'{paths[0]} (version {described["version"]}) is of another version than '
                              f'this package ({VERSION}).')
    _make_structs(described)
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


def families():
    """The names of all families."""
    return json.loads(library().tw_describe(None))['families']


@functools.cache
def describe(family):
    """What tw_describe says of a family, by its name."""
    text = library().tw_describe(_text('The family', family))
    check(OK if text is not None else INVALID)
    return json.loads(text)


def new_struct(name):
    """Of zeros."""
    library()
    return STRUCTS[name]()


def new_problem(family='matmul'):
    problem = new_struct(f'tw_{family}_problem')
    check(library().tw_init(family.encode(), problem, sizeof(problem), None))
    return problem


def new_options(batch_invariant, fast_accumulation, instance, target=None, workspace_is_ready=0):
    options = new_struct('tw_options')
    check(library().tw_init(b'matmul', None, 0, options))
    options.batch_invariant = flag('batch_invariant', batch_invariant)
    options.fast_accumulation = flag('fast_accumulation', fast_accumulation)
    options.workspace_is_ready = workspace_is_ready
    options.instance, options.target = _text('instance', instance), _text('target', target)
    return options


def _text(name, given):
    if given is None:
        return None
    # A string of C ends at the first NUL: the rest would be cut off.
    if not isinstance(given, str) or '\0' in given:
        raise Invalid(f'{name} is {shown(given)}, but must be a name, or None.')
    return given.encode(errors='backslashreplace')  # no name has a surrogate


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
