"""Triton's kernels on the virtual GPU, without a GPU: docs/ptx.md is the page.

    report = tilewright.triton.run(kernel, (4,), x, y, z, 1000, BLOCK=256)
"""
import re

from . import ptx
from ._errors import Invalid
from ._values import shown

__all__ = ['Compiled', 'Descriptor', 'compile', 'run']

TYPES = {'float64': 'fp64', 'float32': 'fp32', 'float16': 'fp16', 'bf16': 'bf16', 'e4m3': 'fp8e4nv', 'e5m2': 'fp8e5', 'int8': 'i8',
         'int16': 'i16', 'int32': 'i32', 'int64': 'i64', 'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32', 'uint64': 'u64', 'bool': 'i1'}
SWIZZLES = (0, 32, 64, 128)


class Descriptor:
    """A tensor descriptor of the host (TensorDescriptor): an array and the block that a copy moves."""

    def __init__(self, array, block):
        self.array, self.block = array, list(block)


def _plain(argument):
    return argument.array if isinstance(argument, ptx.In) else argument


def _type_of(name, argument):
    """What Triton calls the type of an argument, and its divisibility."""
    import numpy
    argument = _plain(argument)
    if isinstance(argument, Descriptor):
        return f'tensordesc<{_type_of(name, argument.array)[0][1:]}{argument.block}>'.replace(' ', ''), False
    if isinstance(argument, numpy.ndarray):
        known = getattr(argument, 'type', None) or argument.dtype.name
        if known not in TYPES:
            raise Invalid(f'{name} is an array of {known}, which Triton has not.')
        return '*' + TYPES[known], True  # arrays begin at multiples of 16
    if isinstance(argument, bool):
        return 'i1', False
    if isinstance(argument, (int, numpy.integer)):
        return 'i32' if -2 ** 31 <= argument < 2 ** 31 else 'i64', argument % 16 == 0
    if isinstance(argument, (float, numpy.floating)):
        return 'fp32', False
    raise Invalid(f'{name} is {shown(argument)}, but must be a numpy array, a number or a Descriptor.')


class Compiled:
    """A kernel's PTX, and what a launch of it takes: `facts` can be kept as JSON."""

    def __init__(self, text, facts):
        self.text, self.facts = text, facts

    def arguments(self, args, programs):
        """Those of the entry. `args` are the kernel's, without what is constant."""
        import numpy
        listed, described = [], iter(self.facts['descriptors'])
        for argument in args:
            if not isinstance(argument, Descriptor):
                listed.append(argument)
                continue
            # The map, and the extents and strides for what is computed outside of copies.
            about, array = next(described), _plain(argument.array)
            strides = [stride // array.itemsize for stride in array.strides]
            listed.append(ptx.tensor_map(argument.array, about['box'][::-1], dims=list(array.shape)[::-1], strides=tuple(list(array.strides)[:-1][::-1]),
                                         swizzle=SWIZZLES[about['swizzle']]))
            listed += [*map(int, array.shape), *map(int, strides)]
        scratch = self.facts['scratch'] * programs
        listed.append(ptx.Out(numpy.empty(scratch, dtype='uint8')) if scratch > 0 else None)
        return [*listed, None]  # nobody profiles

    def launch(self, grid, args, **how):
        """As ptx.launch, relaxed."""
        grid = list(grid) + [1] * (3 - len(grid)) if isinstance(grid, (tuple, list)) else [grid, 1, 1]
        ctas = self.facts['ctas']
        programs = grid[0] * grid[1] * grid[2] * ctas
        grid[0] *= ctas
        return ptx.launch(self.text, self.facts['entry'], grid, None, ctas if ctas > 1 else None, self.facts['shared'],
                          self.arguments(args, programs), **{'relaxed': True, **how})


def _bound(kernel, args, named):
    """Arguments of the kernel, and its constants, by name."""
    arguments, constants = {}, {}
    for place, parameter in enumerate(kernel.params):
        if place < len(args):
            given = args[place]
        elif parameter.name in named:
            given = named.pop(parameter.name)
        elif parameter.has_default:
            given = parameter.default
        else:
            raise Invalid(f'{kernel.__name__} has no argument {parameter.name}.')
        # Triton makes constants of these, too.
        is_constant = parameter.is_constexpr or given is None or (isinstance(given, int) and not isinstance(given, bool) and given == 1)
        (constants if is_constant else arguments)[parameter.name] = given
    if len(args) > len(kernel.params):
        raise Invalid(f'{kernel.__name__} takes {len(kernel.params)} arguments, and not {len(args)}.')
    return arguments, constants


def compile(kernel, args, named=None, *, target=90, **options):
    """Compiles a kernel for compute capability `target`, 90 or 100, by Triton: no GPU is needed. Gives a Compiled, and the arguments that are
    left to launch it with. `options` are Triton's: num_warps, num_stages, num_ctas and so on."""
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as error:
        raise Invalid(f'Triton is not installed: {error}.') from None
    if isinstance(kernel, (triton.runtime.Autotuner, triton.runtime.Heuristics)):
        raise Invalid('The kernel chooses its own constants: give its .fn and the constants.')
    arguments, constants = _bound(kernel, args, dict(named or {}))
    signature, attributes = {}, {}
    for place, parameter in enumerate(kernel.params):
        name = parameter.name
        if name in constants:
            signature[name] = 'constexpr'
            continue
        signature[name], divisible = _type_of(name, arguments[name])
        if divisible and not parameter.do_not_specialize:
            attributes[(place,)] = [['tt.divisibility', 16]]
    made = triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes),
                          target=GPUTarget('cuda', target, 32), options=options)
    about = made.metadata
    facts = {'entry': about.name, 'shared': about.shared, 'ctas': about.num_ctas, 'scratch': about.global_scratch_size,
             'descriptors': [{'box': list(one['block_size']), 'swizzle': one['swizzle']} for one in about.tensordesc_meta or []],
             'triton': triton.__version__, 'target': re.search(r'\.target (\w+)', made.asm['ptx'])[1]}
    return Compiled(made.asm['ptx'], facts), list(arguments.values())


def run(kernel, grid, *args, target=90, options=None, schedules=1, landing='random', seed=1, sms=4, check=True, raises=True, **named):
    """Compiles a kernel by Triton for compute capability `target` and runs it on the virtual GPU: numpy arrays in place, with every checker
    on. `named` are arguments and constants by name, `options` Triton's: {'num_warps': 8}. Gives ptx.Report, and raises as ptx.launch."""
    compiled, arguments = compile(kernel, args, named, target=target, **(options or {}))
    return compiled.launch(grid, arguments, schedules=schedules, landing=landing, seed=seed, sms=sms, check=check, raises=raises)
