"""pack_weights: four-bit weights of a checkpoint, once, as products with them read them."""
import ctypes
import sys

from .._arrays import Buffer, View, count, is_torch, view_of
from .._call import call
from .._described import extents_by_description
from .._library import BYTES, Invalid, Unsupported, integer
from .._packed import new_bytes
from .._packed_weights import PackedWeights
from .._values import real, several, shown, word

__all__ = ['PackedWeights', 'pack_weights']

ZEROS = bytes((0x00, 0x08, 0x80, 0x88))  # two codes of 0, of either sign
CODE_BYTES = 64 * 128 // 2  # a block's, in front of its scales
BLOCK_K = 128
NAN = 255  # a scale of ue8m0 that is none
PACKED_NAN = {'e4m3': 91}  # what a scale of e2m1 is packed as that cannot be packed: elsewhere NAN
# Scales of MXFP4 that are exact, from and to 2^(exponent + these).
EXACT_SCALES = {'bf16': (-132, 1), 'fp16': (-23, 1), 'e4m3': (-5, 6)}


class Layout:
    """How a checkpoint has weights of n outputs by k inputs. `by_columns`: [k.., n..], otherwise [n.., k..]."""

    def __init__(self, format, order='along_k', by_columns=False, zero_offset=0, group=None):
        self.format, self.order, self.by_columns = format, order, by_columns
        self.zero_offset, self.group = zero_offset, group


LAYOUTS = {'gptq': Layout('int4', by_columns=True, zero_offset=1),
           'gptq_v2': Layout('int4', by_columns=True),
           'awq': Layout('int4', 'awq', by_columns=True),
           'compressed_tensors': Layout('int4'),
           'mxfp4': Layout('mxfp4', group=32),
           'gpt_oss': Layout('mxfp4', group=32),
           'nvfp4': Layout('nvfp4', group=16)}


class _Host:
    """Memory of the host, as Views."""

    @staticmethod
    def of(name, array, type=None):
        return view_of(name, array, type)

    @staticmethod
    def type_of(name, view):
        return view.type

    @staticmethod
    def seen(view, shape, strides, type):
        return View(view.address, shape, strides, type, view.writable, view.owner)

    @classmethod
    def words(cls, name, view):
        """Bytes of a line, four at a time."""
        *outer, length = view.shape
        steps = [step for extent, step in zip(outer, view.strides) if extent > 1]
        if length % 4 or length > 1 and view.strides[-1] != 1 or any(step % 4 for step in steps):
            raise Invalid(f'{name} has shape {view.shape} and strides {view.strides} of bytes, but lines must be contiguous, of a '
                          'multiple of 4 bytes, and begin at multiples of 4.')
        strides = [step // 4 if extent > 1 else length // 4 for extent, step in zip(outer, view.strides)]
        return cls.seen(view, (*outer, length // 4), (*strides, 1), 's32')

    @classmethod
    def transposed(cls, view):
        shape, strides = view.shape, view.strides
        return cls.seen(view, (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]), view.type)

    @classmethod
    def joined(cls, name, view):
        """The last two extents as one."""
        *outer, blocks, length = view.shape
        if blocks > 1 and view.strides[-2] != length or length > 1 and view.strides[-1] != 1:
            raise Invalid(f'{name} has shape {view.shape} and strides {view.strides}, but the blocks of a row must lie one after '
                          'the other.')
        return cls.seen(view, (*outer, blocks * length), (*view.strides[:-2], 1), view.type)

    @staticmethod
    def bytes(view):
        """Of elements of one byte, in any order."""
        if count(view.shape) == 0:
            return b''
        places = [0]
        *outer, (length, step) = sorted(zip(view.shape, view.strides), key=lambda side: -abs(side[1])) or [(1, 1)]
        for extent, stride in outer:
            places = [place + i * stride for place in places for i in range(extent)]
        first, step = min(0, (length - 1) * step), abs(step)
        lines = (ctypes.string_at(view.address + place + first, (length - 1) * step + 1) for place in places)
        return b''.join(line[::step] if step else line * length for line in lines)

    @classmethod
    def largest(cls, view, codes):
        """The largest scale of groups of four words that are not all 0."""
        largest, rows = 0, [(view.address, codes.address)]
        for extent, *steps in zip(view.shape[:-1], view.strides, codes.strides):
            rows = [(scale + i * steps[0], code + 4 * i * steps[1]) for scale, code in rows for i in range(extent)]
        groups, step = view.shape[-1], view.strides[-1]
        for scale, code in rows:
            words = ctypes.string_at(code, 4 * codes.shape[-1])
            for i in range(groups):
                found = ctypes.string_at(scale + i * step, 1)[0]
                if largest < found != NAN and words[16 * i:16 * i + 16].translate(None, ZEROS):
                    largest = found
        return largest

    @classmethod
    def nans(cls, view):
        return cls.bytes(view).count(NAN)

    @classmethod
    def packed_nans(cls, data, block_bytes, nan):
        packed = cls.bytes(view_of('packed', data, 's8'))
        return sum(packed[block + CODE_BYTES:block + block_bytes].count(nan) for block in range(0, len(packed), block_bytes))


class _Torch:
    """The same of torch tensors."""

    @staticmethod
    def of(name, tensor, type=None):
        if type is None:
            return tensor
        if tensor.element_size() != BYTES[type]:
            raise Invalid(f'{name} has elements of {tensor.element_size()} bytes, but {type} has {BYTES[type]}.')
        from .._torch import dtype_of
        return tensor.view(dtype_of(type))

    @staticmethod
    def type_of(name, tensor):
        from .._torch import type_of
        return type_of(name, tensor)

    @staticmethod
    def words(name, tensor):
        try:
            return tensor.view(sys.modules['torch'].int32)
        except RuntimeError:
            raise Invalid(f'{name} has shape {tuple(tensor.shape)} and strides {tensor.stride()} of bytes, but lines must be '
                          'contiguous, of a multiple of 4 bytes, and begin at multiples of 4.') from None

    @staticmethod
    def transposed(tensor):
        return tensor.mT

    @staticmethod
    def joined(name, tensor):
        try:
            return tensor.view(*tensor.shape[:-2], tensor.shape[-2] * tensor.shape[-1])
        except RuntimeError:
            raise Invalid(f'{name} has shape {tuple(tensor.shape)} and strides {tensor.stride()}, but the blocks of a row must lie '
                          'one after the other.') from None

    @staticmethod
    def bytes(tensor):
        return tensor.view(sys.modules['torch'].uint8)

    @classmethod
    def largest(cls, tensor, codes):
        scales = cls.bytes(tensor)
        if not scales.numel():
            return 0
        words = sys.modules['torch'].nn.functional.pad(codes & 0x77777777, (0, 4 * scales.shape[-1] - codes.shape[-1]))
        is_zero = (words.unflatten(-1, (-1, 4)) == 0).all(-1)
        return int(scales.masked_fill((scales == NAN) | is_zero, 0).max())

    @classmethod
    def nans(cls, tensor):
        return int((cls.bytes(tensor) == NAN).sum())

    @classmethod
    def packed_nans(cls, data, block_bytes, nan):
        return int((cls.bytes(data).view(-1, block_bytes)[:, CODE_BYTES:] == nan).sum())


def _check_order(g_idx, k, group):
    """Inputs that were reordered (act-order) would need their activations reordered, too."""
    order = g_idx.values() if isinstance(g_idx, Buffer) else g_idx.tolist() if hasattr(g_idx, 'tolist') else several('g_idx', g_idx)
    if len(order) not in (0, k):
        raise Invalid(f'g_idx has {len(order)} entries, but there are {k} inputs.')
    for place, given in enumerate(order):
        if given != place // group:
            raise Unsupported(f'g_idx[{place}] is {shown(given)}, but must be {place // group}: weights whose inputs were reordered '
                              'are not taken.')


def _matrices(name, kind, array, by_columns):
    if not 2 <= len(array.shape) <= 3:
        raise Invalid(f'{name} has shape {tuple(array.shape)}, but must be a matrix, or one of each expert.')
    return kind.transposed(array) if by_columns else array


def _read(how, layout, kind, codes, scales, zeros, scales_type):
    """As the family takes them: n by k / 8, n by k / group, n / 8 by k / group."""
    if how.format == 'int4':
        codes, scales = kind.of('codes', codes, 's32'), kind.of('scales', scales, scales_type)
    else:
        codes = kind.of('codes', codes, 's8')
        if layout == 'gpt_oss':
            if not 3 <= len(codes.shape) <= 4 or codes.shape[-1] != 16:
                raise Invalid(f'codes has shape {tuple(codes.shape)}, but must be [n, k / 32, 16], or that of each expert.')
            codes = kind.joined('codes', codes)
        codes = kind.words('codes', codes)
        scales = kind.of('scales', scales, 's8' if how.format == 'mxfp4' else 'e4m3')
    if zeros is not None:
        zeros = _matrices('zeros', kind, kind.of('zeros', zeros, 's32'), how.by_columns)
    return _matrices('codes', kind, codes, how.by_columns), _matrices('scales', kind, scales, how.by_columns), zeros


def _check_scales(kind, packed, block_bytes, scales, exponent, activation):
    lost = kind.packed_nans(packed, block_bytes, PACKED_NAN.get(activation, NAN)) - kind.nans(scales)
    if lost:
        lowest, highest = EXACT_SCALES[activation]
        raise Unsupported(f'{lost} scales do not fit: with exponent = {exponent}, those of weights for {activation} that are not 0 '
                          f'must be from 2^{exponent + lowest} to 2^{exponent + highest}.')


def pack_weights(codes, scales, zeros=None, *, layout, activation=None, exponent=None, zero_offset=None, g_idx=None,
                 tensor_scale=1.0, scales_type=None, instance=None, target=None):
    """PackedWeights of n outputs by k inputs from the arrays of a checkpoint, or of all experts, [experts, ..]
    (docs/four_bit.md). torch tensors on a GPU are packed there, on the current stream.

    layout: gptq (codes int32 [k / 8, n], scales [k / group, n], zeros int32 [k / group, n / 8]), gptq_v2 (whose zero points are
        stored as they are), awq (int32 [k, n / 8], scales and zeros as before), compressed_tensors (int32 [n, k / 8], [n, k / group],
        int32 [n / 8, k / group]), mxfp4 (bytes [n, k / 2] and [n, k / 32]), gpt_oss (the same as [n, k / 32, 16]), nvfp4 (bytes
        [n, k / 2], e4m3 [n, k / 16]).
    zeros: None: weights are a code less 8.
    activation: bf16, fp16 or (MXFP4) e4m3, by which they will be multiplied; None: the type of int4's scales, otherwise bf16.
    exponent: of MXFP4; None: the least that holds the largest scale of weights that are not 0, at least 0 but for e4m3.
    zero_offset: what zero points are above what is stored; None: 1 of gptq, otherwise 0.
    g_idx: of GPTQ; only 0, 0, .., 1, 1, .. is taken.
    tensor_scale: of NVFP4, what all is multiplied with. scales_type: where the array does not tell it.
    """
    how = LAYOUTS[word('layout', layout, LAYOUTS)]
    given = [array for array in (codes, scales, zeros) if array is not None]
    if len({is_torch(array) for array in given}) > 1:
        raise Invalid('codes, scales and zeros must be torch tensors, or none of them.')
    kind, example = _Torch if is_torch(codes) else _Host, scales
    if zeros is not None and how.format != 'int4':
        raise Invalid(f'zeros is given, but {how.format} has none.')
    codes, scales, zeros = _read(how, layout, kind, codes, scales, zeros, scales_type)
    n, k = (codes.shape[-2], 8 * codes.shape[-1]) if how.order == 'along_k' else (8 * codes.shape[-2], codes.shape[-1])
    groups = scales.shape[-1]
    if how.group is None and (groups == 0 or k % groups):
        raise Invalid(f'k = {k} inputs have {groups} scales, but all groups must have as many inputs.')
    group = max(1, k // groups) if how.group is None else how.group
    if g_idx is not None:
        _check_order(g_idx, k, group)
    if activation is None:
        activation = kind.type_of('scales', scales) if how.format == 'int4' else 'bf16'
    word('activation', activation, EXACT_SCALES)
    tensor_scale = real('tensor_scale', tensor_scale)
    if tensor_scale != 1.0 and how.format != 'nvfp4':
        raise Invalid(f'tensor_scale is {tensor_scale}, but only nvfp4 has one.')
    experts = codes.shape[:-2]
    numbers = dict(n=n, k=k, batch=count(experts), format=how.format if zeros is None else 'int4_zeros', group=group,
                   activation=activation, exponent=integer('exponent', 0 if exponent is None else exponent), order=how.order,
                   zero_offset=(how.zero_offset if zeros is not None else 0) if zero_offset is None else zero_offset)
    types = {'codes': 's32', 'scales': kind.type_of('scales', scales), 'zeros': 's32'}
    rows, columns = extents_by_description('pack_weights', 'packed', types, **numbers)
    packed = new_bytes(example, (rows * columns,))
    pack = lambda: call('pack_weights', codes=codes, scales=scales, zeros=zeros, packed=packed, instance=instance, target=target, **numbers)
    pack()
    # Scales are read behind the library's checks: before them, an array may tell any address.
    if exponent is None and how.format == 'mxfp4':
        least = kind.largest(scales, codes) - 127 - EXACT_SCALES[activation][1]
        numbers['exponent'] = max(-127 if activation == 'e4m3' else 0, least)
        if numbers['exponent'] != 0:
            pack()
    if how.format == 'mxfp4' and rows * columns:
        _check_scales(kind, packed, columns // -(-k // BLOCK_K), scales, numbers['exponent'], activation)
    if how.group is None and group not in (32, 64):
        group = BLOCK_K  # which others are packed as
    return PackedWeights(packed, (*experts, n, k), numbers['format'], group, activation, numbers['exponent'], tensor_scale)
