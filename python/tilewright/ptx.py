"""Kernels of others, as PTX, on the virtual GPU: docs/ptx.md is the page.

    report = tilewright.ptx.launch(text, 'kernel', grid=4, block=128, args=[x, y, 1000])
"""
import ctypes
import functools
import json
import os
import pathlib

from ._errors import Error, Found, Invalid, LibraryNotFound
from ._values import integer, shown

__all__ = ['In', 'Incomplete', 'Out', 'Report', 'Struct', 'TensorMap', 'launch', 'tensor_map']

# numpy's names, and those of types that it has not, as the library calls them.
TYPES = {'bf16': 'bf16', 'e4m3': 'e4m3', 'e5m2': 'e5m2'}
SCALARS = {'int8': 's8', 'int16': 's16', 'int32': 's32', 'int64': 's64', 'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32',
           'uint64': 'u64', 'float16': 'f16', 'float32': 'f32'}


class Incomplete(Error, NotImplementedError):
    """The run met what has no model: nothing is said about the kernel. `report` has the reasons."""


class Report:
    """What a launch came to.

    verdict     'clean', 'found' or 'incomplete'
    findings    of the first schedule that is not clean: (name, text), as ('race', 'The thread 3 of CTA 0 ...')
    incomplete  what has no model, in sentences
    clean       schedules that were clean, of `schedules`
    steps       instructions and accesses that the machine saw
    printed     what printf wrote in the first schedule: 'CTA 0, thread 3: x = 17'
    """

    def __init__(self, said):
        self.title = said['title']
        self.findings = [(one['name'], one['text']) for one in said['findings']]
        self.incomplete = said['incomplete']
        self.clean, self.schedules, self.steps = said['clean'], said['schedules'], said['steps']
        self.printed = said['printed']
        self.verdict = 'found' if self.findings else 'incomplete' if self.incomplete else 'clean'

    def __str__(self):
        lines = [f'{name}: {text}' for name, text in self.findings] + [f'incomplete: {reason}' for reason in self.incomplete]
        return '\n'.join([*lines, f'{self.title}: {self.clean} of {self.schedules} schedules are clean'])


class In:
    """An array that the kernel only reads: writing it is a finding."""
    flow = 'in'

    def __init__(self, array):
        self.array = array


class Out(In):
    """An array that the kernel only writes: reading what it has not written is a finding."""
    flow = 'out'


class TensorMap:
    """What tensor_map() made."""

    def __init__(self, array, words):
        self.array, self.words = array, words


class Struct:
    """A parameter that is a struct: arguments by the bytes at which they stand, the rest is zero. Numbers are numpy's, which have a
    type: Struct({0: array, 8: numpy.int32(17), 64: tensor_map(...)})."""

    def __init__(self, parts):
        self.parts = parts


def tensor_map(array, box, *, type=None, dims=None, strides=None, swizzle=0, offset=0, pixels=None, lower=None, upper=None, steps=None):
    """A TMA descriptor, as cuTensorMapEncodeTiled makes it: dimension 0 is the innermost, strides are bytes of dimension 1 and on. What is
    not given is the array's. With `pixels` as cuTensorMapEncodeIm2col: box is then the channels, lower and upper the corners of the
    pixel box."""
    words = []
    if type is not None:
        words.append(f'type={type}')
    numbers = {'dims': dims, 'strides': strides, 'box': box, 'swizzle': swizzle, 'offset': offset, 'pixels': pixels, 'lower': lower,
               'upper': upper, 'steps': steps}
    for name, given in numbers.items():
        if given is None or given == ():
            continue
        listed = given if isinstance(given, (tuple, list)) else [given]
        words.append(f'{name}=' + 'x'.join(str(integer(f'{name} of a tensor map', one)) for one in listed))
    return TensorMap(array, ','.join(words))


class _Arguments:
    """The words of arguments, and the arrays that they name."""

    def __init__(self):
        self.arrays, self.kept = [], []

    def array(self, given, flow):
        import numpy
        if not isinstance(given, numpy.ndarray) or not given.flags.c_contiguous:
            raise Invalid(f'An argument is {shown(given)}, but must be a numpy array that is contiguous, a number, a tensor map or None.')
        if flow != 'in' and not given.flags.writeable:
            flow = 'in'
        address = given.ctypes.data
        for one in self.arrays:
            if one['address'] == address and one['bytes'] == given.nbytes and one['flow'] == flow:
                return one['name']
            overlaps = one['address'] < address + given.nbytes and address < one['address'] + one['bytes']
            if overlaps and not one['flow'] == flow == 'in':
                raise Invalid('Two arguments are arrays that overlap: pass one array, and addresses in it by Struct or an offset.')
        name = f'array{len(self.arrays)}'
        type_name = getattr(given, 'type', None) or given.dtype.name
        self.arrays.append({'name': name, 'type': TYPES.get(type_name, type_name), 'extents': list(given.shape), 'bytes': given.nbytes,
                            'flow': flow, 'address': address})
        self.kept.append(given)
        return name

    def words(self, given):
        import numpy
        if given is None:
            return 'null'
        if isinstance(given, In):
            return self.array(given.array, given.flow)
        if isinstance(given, TensorMap):
            flow, array = (given.array.flow, given.array.array) if isinstance(given.array, In) else ('inout', given.array)
            return f'map:{self.array(array, flow)},{given.words}'
        if isinstance(given, Struct):
            return 'struct:' + ';'.join(f'{integer("A byte of a struct", at)}={self.words(part)}' for at, part in given.parts.items())
        if isinstance(given, (bool, int)):
            return str(int(given))
        if isinstance(given, float):  # numpy.float64, too
            return repr(float(given)) if given == given else 'nan'
        if isinstance(given, numpy.generic) and given.dtype.name in SCALARS:
            return f'{SCALARS[given.dtype.name]}:{given.item()!r}'
        return self.array(given, 'inout')


def candidates():
    """Where the library may be, the first first."""
    if given := os.environ.get('TILEWRIGHT_PTX_LIBRARY'):
        return [given]
    package = pathlib.Path(__file__).resolve().parent
    built = (package.parents[1] / 'build').glob('*/src/libtilewright_ptx.so')
    return [*map(str, sorted(package.glob('libtilewright_ptx.so'))), *map(str, sorted(built, key=lambda path: -path.stat().st_mtime))]


@functools.cache
def _library():
    paths = candidates()
    if not paths:
        raise LibraryNotFound('There is no libtilewright_ptx.so: TILEWRIGHT_PTX_LIBRARY is not set, and none lies beside the package or in a '
                              'build folder of its repository (./tw ptx --help builds none; ./tw ptx FILE does).')
    try:
        library = ctypes.CDLL(paths[0])
    except OSError as error:
        raise LibraryNotFound(f'{paths[0]} cannot be loaded: {error}.') from None
    library.tw_ptx_run.restype = ctypes.c_char_p
    library.tw_ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    return library


def _extent(name, given, default):
    if given is None:
        return default
    listed = list(given) if isinstance(given, (tuple, list)) else [given]
    if not 1 <= len(listed) <= 3:
        raise Invalid(f'{name} is {shown(given)}, but must be one to three numbers.')
    listed = [integer(name, one) for one in listed]
    if any(not 0 < one < 2 ** 31 for one in listed):
        raise Invalid(f'{name} is {shown(given)}, but must be of numbers from 1 to {2 ** 31 - 1}.')
    return listed + [1] * (3 - len(listed))


def launch(text, entry=None, grid=1, block=None, cluster=None, shared=0, args=(), *, dependent=False, schedules=1, landing='random', seed=1,
           sms=4, check=True, relaxed=False, raises=True):
    """Runs an entry of a PTX text on the virtual GPU, with every checker on, and gives a Report.

    `block` and `cluster` are needed where the text does not say them (.reqntid, .reqnctapercluster). `args` has one argument for each
    parameter: numpy arrays, which are read and written in place (In and Out say more), numbers of the parameter's type, numpy's numbers of
    their own, tensor maps, None for a null pointer, Struct. With `schedules` above 1 the launch is run so often, each time from the
    same arrays, with landings that take turns and other seeds.

    `relaxed` is for what compilers make: no findings about fences that they leave out, where a barrier orders, and about threads that store
    the same bytes (docs/hardware.md).

    A finding raises Found, and what has no model Incomplete, both with `report`; with raises=False the report says it alone.
    """
    if not isinstance(text, str):
        raise Invalid(f'text is {shown(text)}, but must be the text of a PTX module.')
    arguments = _Arguments()
    listed = [arguments.words(one) for one in args]
    request = {'entry': '' if entry is None else str(entry), 'grid': _extent('grid', grid, None), 'block': _extent('block', block, [0, 0, 0]),
               'cluster': _extent('cluster', cluster, [0, 0, 0]), 'shared': integer('shared', shared), 'dependent': bool(dependent),
               'arguments': listed, 'arrays': arguments.arrays, 'schedules': max(1, integer('schedules', schedules)), 'landing': str(landing),
               'seed': integer('seed', seed), 'sms': integer('sms', sms), 'check': bool(check), 'relaxed': bool(relaxed)}
    encoded = text.encode()
    said = json.loads(_library().tw_ptx_run(encoded, len(encoded), json.dumps(request).encode()))
    if 'refused' in said:
        raise Invalid(said['refused'])
    report = Report(said)
    for line in report.printed:
        print(line)
    if raises and report.verdict != 'clean':
        error = (Found if report.verdict == 'found' else Incomplete)(str(report))
        error.report = report
        raise error
    return report
