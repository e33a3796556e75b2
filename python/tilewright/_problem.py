"""From arrays with shapes and strides to a tw_matmul_problem."""
import dataclasses
from typing import Any, Optional, Union

from ._arrays import empty_like_kind, type_name, view_of
from ._library import ACTIVATIONS, CODES, Invalid, set_integers
from ._values import flag, real, shown


@dataclasses.dataclass(eq=False)
class Epilogue:
    """What is done to the sums before they are stored:

        value  = alpha * row_scale[row] * column_scale[column] * sum + beta * source + bias[column]
                 + row_bias[row]
        value  = activation(value); gated: activation(value of an even column) * value of the next
        output = value * output_scale, cast

    Arrays are of the operands' kind and device. A gated output has n / 2 columns, and so has its
    source, which is added after the gate.
    """
    alpha: float = 1.0
    beta: Optional[float] = None  # None: 1 with a source, 0 without
    source: Any = None  # C, or a residual: [.., m, n] in bf16, fp16 or fp32
    bias: Any = None  # n values; both biases in one type: bf16, fp16 or fp32
    row_bias: Any = None  # m values
    row_scale: Any = None  # m values, fp32
    column_scale: Any = None  # n values, fp32
    activation: Union[None, str, tuple] = None  # 'relu', 'gelu', 'silu', 'tanh', ('clamp', 0, 6)
    gated: bool = False
    auxiliary: Any = None  # [.., m, n]: the value before the activation is written here
    amax: Any = None  # one fp32, raised to the largest |value|; set it to 0 before
    output_scale: float = 1.0
    residual: dataclasses.InitVar[Any] = None  # another word for source

    def __post_init__(self, residual):
        if residual is not None:
            if self.source is not None:
                raise Invalid('source and residual are two words for one array; give one of them.')
            self.source = residual

    def scalars(self):
        """In the order of SCALARS."""
        beta = self.beta
        if beta is None:
            beta = 0.0 if self.source is None else 1.0
        activation, low, high = self.activation, 0.0, 0.0
        if activation is None:
            activation = 'none'
        elif not isinstance(activation, str):
            words = activation if isinstance(activation, (tuple, list)) else ()
            if len(words) != 3 or not isinstance(words[0], str) or words[0] != 'clamp':
                raise Invalid(f'The activation {shown(activation)} is neither a word nor '
                              '("clamp", low, high).')
            activation, low, high = words
        elif activation == 'clamp':
            raise Invalid('The activation "clamp" needs its bounds: ("clamp", low, high).')
        if activation not in ACTIVATIONS:
            raise Invalid(f'There is no activation {shown(activation)}; there are '
                          f'{", ".join(ACTIVATIONS)}.')
        return (real('alpha', self.alpha), real('beta', beta), real('output_scale', self.output_scale), activation,
                real('The low bound', low), real('The high bound', high), flag('gated', self.gated))

    def arrays(self):
        """In the order of ARRAYS."""
        return (self.source, self.bias, self.row_bias, self.row_scale, self.column_scale,
                self.auxiliary, self.amax)


ARRAYS = ('source', 'bias', 'row_bias', 'row_scale', 'column_scale', 'auxiliary', 'amax')
SCALARS = ('alpha', 'beta', 'output_scale', 'activation', 'clamp_low', 'clamp_high', 'gated')
PLAIN = Epilogue()


def checked_epilogue(epilogue):
    if epilogue is None:
        return PLAIN
    if not isinstance(epilogue, Epilogue):
        raise Invalid(f'epilogue is a {type(epilogue).__name__}, but must be a '
                      'tilewright.Epilogue.')
    return epilogue


def check_on_host(stream):
    if stream is not None:
        raise Invalid('stream is given, but the operands are host memory, which runs on the '
                      'virtual GPU.')


def check_told(*types):
    """Of torch tensors."""
    if any(given is not None for given in types):
        raise Invalid('Types of operands (a_type, ...) are for memory that does not tell its type; '
                      'torch tensors do. view(dtype) changes it.')


def epilogue_views(epilogue):
    """In the order of ARRAYS."""
    return tuple(None if array is None else view_of(name, array)
                 for name, array in zip(ARRAYS, epilogue.arrays()))


def parts_of(given, views):
    """The scalars and the views of an epilogue, each in its order, among those of a torch operator's arguments."""
    return [given[name] for name in SCALARS], [views[name] for name in ARRAYS]


# By A's type, where nothing is said.
OUTPUT_TYPES = {'bf16': 'bf16', 'fp16': 'fp16', 'tf32': 'fp32', 'fp32': 'fp32', 'e4m3': 'bf16',
                'e5m2': 'bf16', 's8': 's32'}


def output_type(a):
    if a not in OUTPUT_TYPES:
        raise Invalid(f'a has type {a}, which is not multiplied; {", ".join(OUTPUT_TYPES)} are.')
    return OUTPUT_TYPES[a]


def output_of(out, out_dtype, first, first_type, shape):
    """Host memory for a result, of the first operand's kind where there is none; and its View."""
    if out is None:
        type = output_type(first_type) if out_dtype is None else type_name(out_dtype)
        out = empty_like_kind(first, shape, type)
        return out, view_of('out', out, type)
    view = view_of('out', out, out_dtype)
    if out_dtype is not None and type_name(out_dtype) != view.type:
        raise Invalid(f'out has type {view.type}, but out_dtype is {type_name(out_dtype)}.')
    return out, view


class Extents:
    """Of the product of two arrays of matrices: batch (its extents), m, n, k, and D's shape."""

    def __init__(self, a, b, gated):
        if len(a) < 2 or len(b) < 2:
            raise Invalid(f'a has shape {tuple(a)} and b has shape {tuple(b)}, but both must be '
                          'matrices, or batches of them.')
        self.m, self.k, self.n = a[-2], a[-1], b[-1]
        if b[-2] != self.k:
            raise Invalid(f'a has shape {tuple(a)} and b has shape {tuple(b)}: a\'s columns '
                          f'({self.k}) are not as many as b\'s rows ({b[-2]}).')
        self.batch = self._broadcast(a[:-2], b[:-2])
        if gated and self.n % 2:
            raise Invalid(f'n is {self.n}, but a gate needs pairs of columns: an even n.')
        self.output = self.batch + (self.m, self.n // 2 if gated else self.n)
        self.num_matrices = 1
        for extent in self.batch:
            self.num_matrices *= extent

    @staticmethod
    def _broadcast(a, b):
        rank = max(len(a), len(b))
        result = []
        for x, y in zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)):
            if x != y and x != 1 and y != 1:
                raise Invalid(f'The batches of a {tuple(a)} and of b {tuple(b)} cannot be '
                              f'broadcast: {x} is not {y}.')
            result.append(y if x == 1 else x)
        return tuple(result)


def _batch_stride(name, view, batch):
    """The one stride between the matrices of a batch with these extents; 0: all are one."""
    given = (1,) * (len(batch) - len(view.shape) + 2) + view.shape[:-2]
    steps = (0,) * (len(given) - len(view.strides) + 2) + view.strides[:-2]
    if len(given) != len(batch) or any(x not in (1, y) for x, y in zip(given, batch)):
        raise Invalid(f'The batch of {name} is {view.shape[:-2]}, but that of the product is '
                      f'{batch}.')
    stride, covered = 0, 1
    for extent, own, step in reversed(list(zip(batch, given, steps))):
        if extent == 1:
            continue
        step = 0 if own == 1 else step
        if covered > 1 and step != stride * covered:
            raise Invalid(f'The matrices of {name} (shape {view.shape}, strides {view.strides}) '
                          f'are not one stride apart over the batch {batch}; make a contiguous '
                          'copy of it.')
        stride = step if covered == 1 else stride
        covered *= extent
    return stride


def fill_matrix(into, name, view, rows, columns, batch):
    if len(view.shape) < 2 or view.shape[-2:] != (rows, columns):
        raise Invalid(f'{name} has shape {view.shape}, but its matrices must be {rows} by '
                      f'{columns}.')
    into.data = view.address
    row, column = view.strides[-2:]
    set_integers(into, name, row_stride=row, column_stride=column,
                 batch_stride=_batch_stride(name, view, batch))
    into.type = CODES[view.type]


def fill_vector(name, view, length, types):
    along = [(extent, step) for extent, step in zip(view.shape, view.strides) if extent != 1]
    if along != ([] if length == 1 else [(length, 1)]):
        raise Invalid(f'{name} has shape {view.shape} and strides {view.strides}, but must be '
                      f'{length} values, one after the other.')
    if view.type not in types:
        raise Invalid(f'{name} has type {view.type}, but must be {" or ".join(types)}.')
    return view.address


def _stack(problem, matrices):
    """Where all matrices of the batch share B and lie below one another, they are one product."""
    m = problem.m
    rows = [x.batch_stride if m == 1 else x.row_stride for x in matrices]
    if any(row <= 0 or x.batch_stride != m * row or 1 not in (row, x.column_stride)
           for row, x in zip(rows, matrices)):
        return
    for row, x in zip(rows, matrices):
        set_integers(x, None, row_stride=row, batch_stride=0)
    set_integers(problem, None, m=m * problem.batch, batch=1)


SIDE_TYPES = ('bf16', 'fp16', 'fp32')


def fill_epilogue(epilogue, scalars, arrays, m, n, batch):
    """Of an output of m by n. Returns the matrices among the arrays."""
    alpha, beta, output_scale, activation, low, high, gated = scalars
    source, bias, row_bias, row_scale, column_scale, auxiliary, amax = arrays
    for name, view in (('auxiliary', auxiliary), ('amax', amax)):
        if view is not None and not view.writable:
            raise Invalid(f'{name} is written to, but its memory is read-only.')
    epilogue.alpha, epilogue.beta, epilogue.output_scale = alpha, beta, output_scale
    epilogue.activation = ACTIVATIONS.index(activation)
    epilogue.clamp_low, epilogue.clamp_high = low, high
    epilogue.gated = gated
    matrices = []
    if source is not None:
        fill_matrix(epilogue.source, 'source', source, m, n // 2 if gated else n, batch)
        matrices.append(epilogue.source)
    if auxiliary is not None:
        fill_matrix(epilogue.auxiliary, 'auxiliary', auxiliary, m, n, batch)
        matrices.append(epilogue.auxiliary)
    if bias is not None:
        epilogue.column_bias = fill_vector('bias', bias, n, SIDE_TYPES)
        epilogue.bias_type = CODES[bias.type]
    if row_bias is not None:
        epilogue.row_bias = fill_vector('row_bias', row_bias, m, SIDE_TYPES)
        epilogue.bias_type = CODES[row_bias.type]
        if bias is not None and bias.type != row_bias.type:
            raise Invalid(f'bias has type {bias.type} and row_bias has type {row_bias.type}, but '
                          'both must have one type.')
    if row_scale is not None:
        epilogue.row_scale = fill_vector('row_scale', row_scale, m, ('fp32',))
    if column_scale is not None:
        epilogue.column_scale = fill_vector('column_scale', column_scale, n, ('fp32',))
    if amax is not None:
        epilogue.amax = fill_vector('amax', amax, 1, ('fp32',))
    return matrices


def fill_problem(problem, a, b, d, scalars, arrays, rows_of_a=(), halved=False):
    """A tw_matmul_problem from Views; `arrays` has ARRAYS' order, None where there is none. `rows_of_a` are more
    (Matrix, name, View, columns) with a row for each of a's; they are filled, too. `halved`: d has half of the columns, as behind a gate."""
    row_bias, row_scale = arrays[2:4]
    extents = Extents(a.shape, b.shape, scalars[-1] or halved)
    m, n, k, batch = extents.m, extents.n, extents.k, extents.batch
    if d.shape != extents.output:
        raise Invalid(f'out has shape {d.shape}, but the product has shape {extents.output}.')
    if not d.writable:
        raise Invalid('out is written to, but its memory is read-only.')

    set_integers(problem, None, m=m, n=n, k=k, batch=extents.num_matrices)
    fill_matrix(problem.a, 'a', a, m, k, batch)
    fill_matrix(problem.b, 'b', b, k, n, batch)
    fill_matrix(problem.d, 'out', d, m, extents.output[-1], batch)
    for operand in (problem.a, problem.b):
        if operand.type == CODES['fp32']:
            operand.type = CODES['tf32']

    stacked = [problem.a, problem.d] + fill_epilogue(problem.epilogue, scalars, arrays, m, n, batch)
    for matrix, name, view, columns in rows_of_a:
        fill_matrix(matrix, name, view, m, columns, batch)
        stacked.append(matrix)
    if problem.batch > 1 and problem.b.batch_stride == 0 and row_bias is None and row_scale is None:
        _stack(problem, stacked)
    return extents
