"""What each kernel of kernels.py is run with, and what it must give. Sums of small integers are exact in any order; what goes through exp,
log and roots has a bound from the steps that round."""
import numpy as np

from tilewright import from_bf16, to_bf16
from tilewright._typed import typed_array
from tilewright.ptx import In, Out
from tilewright.triton import Descriptor

F32, F16 = 'float32', 'float16'
ULP32, ULP16, ULPB = 2.0 ** -24, 2.0 ** -11, 2.0 ** -8  # half of a unit in the last place, relative
# What PTX says of ex2.approx, lg2.approx and rsqrt.approx, and of divisions that are not rounded.
APPROXIMATE = 2.0 ** -21


class Case:
    """A launch: arguments in their order, constants, Triton's options; `wanted` has one array for each that is written, exact or with
    bounds. `finding` names what the virtual GPU must find in a kernel that is wrong."""

    def __init__(self, kernel, grid, args, constants, wanted, options=None, targets=(90, 100), schedules=2, finding=''):
        self.kernel, self.grid, self.args, self.constants, self.wanted = kernel, grid, args, constants, wanted
        self.options, self.targets, self.schedules, self.finding = options or {}, targets, schedules, finding


CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def small(random, shape, dtype=F32, least=-4, most=5):
    return random.integers(least, most, shape).astype(dtype)


def e4m3(values):
    """The codes of numbers that e4m3 has exactly: integers to 16."""
    magnitude = np.abs(values).astype(np.int64)
    exponent = np.where(magnitude > 0, np.floor(np.log2(np.maximum(magnitude, 1))), 0).astype(np.int64)
    code = np.where(magnitude > 0, (exponent + 7) << 3 | (magnitude << 3 >> exponent) & 7, 0)
    return typed_array((code | (values < 0) << 7).astype(np.uint8), 'e4m3')


E4M3_VALUES = np.array([(-1) ** (code >> 7) * ((code & 7) / 8 * 2.0 ** -6 if code >> 3 & 15 == 0 else (1 + (code & 7) / 8) * 2.0 ** ((code >> 3 & 15) - 7))
                        for code in range(256)])


def bf16_exact(values):
    bits = to_bf16(values)
    assert np.array_equal(from_bf16(bits), values), 'the case is not exact in bf16'
    return bits


@case
def add(random):
    x, y = random.standard_normal(1000).astype(F32), random.standard_normal(1000).astype(F32)
    return Case('add', 4, [In(x), In(y), Out(np.empty(1000, F32)), 1000], {'BLOCK': 256}, [x + y])


@case
def silu_and_multiply(random):
    x = random.standard_normal((5, 400)).astype(F16)
    gate, value = x[:, :200].astype('f8'), x[:, 200:].astype('f8')
    result = gate / (1 + np.exp(-gate)) * value
    return Case('silu_and_multiply', 5, [In(x), Out(np.empty((5, 200), F16)), 200], {'BLOCK': 256},
                [(result, np.abs(result) * (ULP16 + 8 * APPROXIMATE) + 2.0 ** -25)])


def product(random, m, n, k, dtype=F16):
    a, b = small(random, (m, k)), small(random, (k, n))
    if dtype == 'bf16':
        return bf16_exact(a), bf16_exact(b), a @ b
    return a.astype(dtype), b.astype(dtype), a @ b


@case
def matmul(random):
    a, b, c = product(random, 100, 72, 112)
    return Case('matmul', (2, 2), [In(a), In(b), Out(np.empty((100, 72), F32)), 100, 72, 112], {'M': 64, 'N': 64, 'K': 32}, [c])


@case
def matmul_bf16(random):
    a, b, c = product(random, 128, 128, 192, 'bf16')
    return Case('matmul', (1, 1), [In(a), In(b), Out(np.empty((128, 128), F32)), 128, 128, 192], {'M': 128, 'N': 128, 'K': 64}, [c],
                {'num_warps': 8, 'num_stages': 3}, schedules=1)


@case
def matmul_tf32(random):
    a, b, c = product(random, 64, 64, 96, F32)
    return Case('matmul', (1, 1), [In(a), In(b), Out(np.empty((64, 64), F32)), 64, 64, 96], {'M': 64, 'N': 64, 'K': 32}, [c])


@case
def matmul_e4m3(random):
    a, b = small(random, (64, 128)), small(random, (128, 64))
    return Case('matmul', (1, 1), [In(e4m3(a)), In(e4m3(b)), Out(np.empty((64, 64), F32)), 64, 64, 128], {'M': 64, 'N': 64, 'K': 64}, [a @ b])


@case
def matmul_int8(random):
    a, b = small(random, (64, 128), np.int8, -128, 128), small(random, (64, 128), np.int8, -128, 128)
    c = a.astype(np.int32) @ b.astype(np.int32).T
    return Case('matmul_int8', (1, 1), [In(a), In(b), Out(np.empty((64, 64), np.int32)), 64, 128], {'M': 64, 'N': 64, 'K': 64}, [c])


def described(random, m, n, k, tile, dtype='bf16'):
    a, b = small(random, (m, k), least=-2, most=3), small(random, (n, k), least=-2, most=3)
    c = a @ b.T
    if dtype == 'bf16':
        return bf16_exact(a), bf16_exact(b), typed_array(np.zeros((m, n), np.uint16), 'bf16'), to_bf16(c)
    return a.astype(F16), b.astype(F16), np.zeros((m, n), F16), c.astype(F16)


def by_maps(kernel, random, m, n, k, tile, grid, extents, options, **more):
    a, b, c, wanted = described(random, m, n, k, tile)
    M, N, K = tile
    return Case(kernel, grid, [Descriptor(In(a), [M, K]), Descriptor(In(b), [N, K]), Descriptor(Out(c), [M, N]), *extents],
                {'M': M, 'N': N, 'K': K}, [wanted], options, **more)


@case
def matmul_tma(random):
    return by_maps('matmul_tma', random, 128, 128, 192, (64, 64, 64), (2, 2), [192], {'num_stages': 3})


@case
def matmul_tma_tails(random):
    return by_maps('matmul_tma', random, 120, 104, 136, (64, 64, 32), (2, 2), [136], {'num_stages': 2})


@case
def matmul_two_ctas(random):
    return by_maps('matmul_tma', random, 256, 128, 128, (128, 128, 64), (2, 1), [128], {'num_stages': 2, 'num_ctas': 2}, schedules=1)


@case
def matmul_persistent(random):
    return by_maps('matmul_persistent', random, 192, 128, 128, (64, 64, 64), 2, [192, 128, 128], {'num_stages': 3})


@case
def matmul_specialised(random):
    return by_maps('matmul_specialised', random, 128, 128, 128, (64, 64, 64), 2, [128, 128, 128], {'num_stages': 3})


@case
def matmul_tma_device(random):
    a, b, c, wanted = described(random, 128, 64, 128, (64, 64, 64), F16)
    return Case('matmul_tma_device', (2, 1), [In(a), In(b), Out(c), 128, 64, 128], {'M': 64, 'N': 64, 'K': 64}, [wanted])


@case
def grouped_matmul(random):
    ends = np.array([40, 40, 140], np.int32)
    a, b = small(random, (140, 64), F16), small(random, (3, 64, 64), F16)
    parts = [a[begin:end].astype(F32) @ b[group].astype(F32) for group, (begin, end) in enumerate(((0, 40), (40, 40), (40, 140)))]
    return Case('grouped_matmul', 2, [In(a), In(b), Out(np.empty((140, 64), F16)), In(ends), 64, 64, 3], {'M': 64, 'N': 64, 'K': 32},
                [np.concatenate(parts).astype(F16)])


@case
def split_k(random):
    a, b, c = product(random, 64, 64, 256)
    return Case('split_k', (1, 1, 4), [In(a), In(b), np.zeros((64, 64), F32), 64, 256], {'M': 64, 'N': 64, 'K': 32}, [c])


@case
def locked_sum(random):
    x = small(random, 1024)
    return Case('locked_sum', 8, [In(x), np.zeros(1, F32), np.zeros(1, np.int32), np.zeros(1, np.int32)], {'BLOCK': 128},
                [np.array([x.sum()], F32), np.zeros(1, np.int32), np.array([8], np.int32)])


@case
def softmax(random):
    x = random.standard_normal((6, 300)).astype(F32)
    powers = np.exp(x.astype('f8') - x.max(axis=1, keepdims=True))
    y = powers / powers.sum(axis=1, keepdims=True)
    return Case('softmax', 6, [In(x), Out(np.empty((6, 300), F32)), 300], {'BLOCK': 512}, [(y, y * 32 * APPROXIMATE)])


def attended(random, causal):
    q, k, v = (random.standard_normal((2, 128, 64)).astype(F16) for _ in range(3))
    scale = 0.125 * 1.4426950408889634
    scores = np.einsum('htd,hsd->hts', q.astype('f8'), k.astype('f8')) * 0.125
    if causal:
        scores = np.where(np.tril(np.ones((128, 128), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights = powers / powers.sum(axis=2, keepdims=True)
    wanted = np.einsum('hts,hsd->htd', weights, v.astype('f8'))
    # Each weight is rounded to f16 for the product, and the result once more.
    bound = np.einsum('hts,hsd->htd', weights, np.abs(v).astype('f8')) * (2 * ULP16 + 64 * APPROXIMATE) + np.abs(wanted) * ULP16 + 2.0 ** -24
    return Case('attention', (2, 2), [In(q), In(k), In(v), Out(np.empty((2, 128, 64), F16)), 128, scale],
                {'T': 64, 'S': 32, 'D': 64, 'CAUSAL': causal}, [(wanted, bound)], schedules=1)


@case
def attention(random):
    return attended(random, False)


@case
def attention_causal(random):
    return attended(random, True)


@case
def layer_norm(random):
    x, w, b = (random.standard_normal(shape).astype(dtype) for shape, dtype in (((4, 200), F16), (200, F32), (200, F32)))
    wide = x.astype('f8')
    centred = wide - wide.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * w
    bound = (np.abs(scaled) + np.abs(b)) * (ULP16 + 32 * APPROXIMATE) + np.abs(w) * 2.0 ** -18 + 2.0 ** -25
    return Case('layer_norm', 4, [In(x), In(w), In(b), Out(np.empty((4, 200), F16)), 200, 1e-5], {'BLOCK': 256}, [(scaled + b, bound)])


@case
def rms_norm(random):
    x, w = random.standard_normal((4, 384)), random.standard_normal(384).astype(F32)
    bits = to_bf16(x.astype(F32))
    wide = from_bf16(bits).astype('f8')
    y = wide / np.sqrt((wide ** 2).mean(axis=1, keepdims=True) + 1e-6) * w
    return Case('rms_norm', 4, [In(bits), In(w), Out(typed_array(np.empty((4, 384), np.uint16), 'bf16')), 384, 1e-6], {'BLOCK': 512},
                [(y, np.abs(y) * (ULPB + 32 * APPROXIMATE) + 2.0 ** -100)])


@case
def atomics(random):
    x = small(random, 500, np.int32, 0, 1000)
    sums, least, most = (np.full(count, start, np.int32) for count, start in ((16, 0), (4, 5000), (4, -1)))
    wanted = sums.copy(), least.copy(), most.copy(), np.zeros(1, np.int32)
    np.add.at(wanted[0], x % 16, x)
    np.minimum.at(wanted[1], x % 4, x)
    np.maximum.at(wanted[2], x % 4, x)
    wanted[3][0] = np.bitwise_or.reduce(1 << (x % 31))
    return Case('atomics', 4, [In(x), sums, least, most, np.zeros(1, np.int32), 500], {'BLOCK': 128}, list(wanted))


@case
def histogram(random):
    x = small(random, 700, np.int32, 0, 32)
    return Case('histogram', 3, [In(x), np.zeros(32, np.int32), 700], {'BLOCK': 256, 'BINS': 32}, [np.bincount(x, minlength=32).astype(np.int32)])


@case
def scans(random):
    x = small(random, (3, 512), np.int32, -50, 50)
    return Case('scans', 3, [In(x), Out(np.empty_like(x)), Out(np.empty_like(x))], {'BLOCK': 512},
                [np.cumsum(x, axis=1, dtype=np.int32), np.maximum.accumulate(x, axis=1)])


@case
def reductions(random):
    x = random.permutation(32 * 64).reshape(32, 64).astype(F32)
    blocks = x.reshape(2, 16, 64)
    return Case('reductions', 2, [In(x), Out(np.empty(32, F32)), Out(np.empty((2, 64), F32)), Out(np.empty(32, np.int32))],
                {'ROWS': 16, 'COLUMNS': 64}, [x.sum(axis=1), blocks.max(axis=1), x.argmax(axis=1).astype(np.int32)])


@case
def gather(random):
    table, index = random.standard_normal((50, 96)).astype(F16), small(random, 12, np.int64, 0, 50)
    return Case('gather', 12, [In(table), In(index), Out(np.empty((12, 96), F16)), 96], {'BLOCK': 128}, [table[index]])


@case
def gather_in_tile(random):
    x, index = random.standard_normal((16, 64)).astype(F32), small(random, (16, 64), np.int32, 0, 64)
    return Case('gather_in_tile', 1, [In(x), In(index), Out(np.empty((16, 64), F32))], {'ROWS': 16, 'COLUMNS': 64},
                [np.take_along_axis(x, index, axis=1)])


@case
def rope(random):
    x = to_bf16(random.standard_normal((6, 2, 64)).astype(F32))
    angle = random.uniform(0, 6, (6, 32))
    cosine, sine = np.cos(angle).astype(F32), np.sin(angle).astype(F32)
    wide, c, s = from_bf16(x).astype('f8'), cosine[:, None].astype('f8'), sine[:, None].astype('f8')
    first, second = wide[..., :32], wide[..., 32:]
    y = np.concatenate([first * c - second * s, second * c + first * s], axis=2)
    sizes = np.concatenate([abs(first * c) + abs(second * s), abs(second * c) + abs(first * s)], axis=2)
    return Case('rope', (6, 2), [In(x), In(cosine), In(sine), Out(typed_array(np.empty((6, 2, 64), np.uint16), 'bf16')), 2], {'HALF': 32},
                [(y, np.abs(y) * ULPB + sizes * 2 * ULP32)])


@case
def quantise(random):
    x = random.standard_normal((5, 300)).astype(F32)
    scales = np.maximum(np.abs(x).max(axis=1) / np.float32(448), np.float32(1e-12))
    divided = x.astype('f8') / scales[:, None].astype('f8')
    # Half of a step of e4m3: 2^-4 of the number, at least half of the least one.
    return Case('quantise', 5, [In(x), Out(typed_array(np.empty((5, 300), np.uint8), 'e4m3')), Out(np.empty(5, F32)), 300], {'BLOCK': 512},
                [(divided, np.abs(divided) * (2.0 ** -4 + 2.0 ** -20) + 2.0 ** -10), (scales.astype('f8'), scales * 2.0 ** -21)])


@case
def cross_entropy(random):
    x, labels = random.standard_normal((4, 500)).astype(F32), small(random, 4, np.int64, 0, 500)
    wide = x.astype('f8')
    greatest = wide.max(axis=1)
    losses = np.log(np.exp(wide - greatest[:, None]).sum(axis=1)) + greatest - wide[np.arange(4), labels]
    return Case('cross_entropy', 4, [In(x), In(labels), Out(np.empty(4, F32)), 500], {'BLOCK': 256}, [(losses, np.abs(losses) * 2.0 ** -18 + 2.0 ** -18)])


@case
def convolution(random):
    x, w = small(random, (9, 10, 32), F16), small(random, (3, 3, 32, 64), F16, -2, 3)
    padded = np.zeros((11, 12, 32), F32)
    padded[1:-1, 1:-1] = x
    y = sum(padded[i:i + 9, j:j + 10] @ w[i, j].astype(F32) for i in range(3) for j in range(3))
    return Case('convolution', 2, [In(x), In(w), Out(np.empty((9, 10, 64), F16)), 9, 10], {'M': 64, 'C': 32, 'F': 64}, [y.astype(F16)])


@case
def transpose(random):
    x = random.standard_normal((70, 50)).astype(F16)
    return Case('transpose', (2, 2), [In(x), Out(np.empty((50, 70), F16)), 70, 50], {'M': 64, 'N': 32}, [np.ascontiguousarray(x.T)])


def reversed_by(random, safe, finding=''):
    x = random.standard_normal(256).astype(F32)
    return Case('reverse', 1, [In(x), Out(np.empty_like(x)), Out(np.empty_like(x))], {'BLOCK': 256, 'SAFE': safe}, [x, x[::-1].copy()], finding=finding)


@case
def reverse(random):
    return reversed_by(random, True)


@case
def reverse_without_barrier(random):
    return reversed_by(random, False, 'global-race')


@case
def sort_rows(random):
    x = random.permutation(3 * 128).reshape(3, 128).astype(F32)
    return Case('sort_rows', 3, [In(x), Out(np.empty_like(x))], {'COLUMNS': 128}, [np.sort(x, axis=1)])


@case
def largest(random):
    x = random.permutation(3 * 128).reshape(3, 128).astype(np.int32)
    return Case('largest', 3, [In(x), Out(np.empty((3, 8), np.int32))], {'COLUMNS': 128, 'K': 8}, [np.sort(x, axis=1)[:, ::-1][:, :8].copy()])


@case
def matmul_scaled(random):
    a, b = small(random, (128, 128)), small(random, (64, 128))
    left, right = small(random, (128, 4), np.int64, 125, 130), small(random, (64, 4), np.int64, 125, 130)
    wanted = (a * np.repeat(2.0 ** (left - 127), 32, axis=1)) @ (b * np.repeat(2.0 ** (right - 127), 32, axis=1)).T
    return Case('matmul_scaled', (1, 1), [In(e4m3(a)), In(left.astype(np.uint8)), In(e4m3(b)), In(right.astype(np.uint8)), Out(np.empty((128, 64), F32)), 64, 128],
                {'M': 128, 'N': 64, 'K': 128}, [wanted.astype(F32)])
