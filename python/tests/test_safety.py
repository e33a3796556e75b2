"""No call touches memory that the caller's arrays do not have, nor memory that is gone; whatever is refused is a tilewright.Error."""
import copy
import pickle
import unittest

import support

support.need('numpy')

import numpy

import tilewright
from tilewright import Buffer, Invalid

BYTES, HALF, FLOAT = numpy.uint8, numpy.float16, numpy.float32
ROW = numpy.ones(64, HALF).tobytes()


def zeros(shape, dtype=BYTES):
    return numpy.zeros(shape, dtype)


class Case(unittest.TestCase):
    def refused(self, sentence, function, *arguments, **options):
        with self.assertRaisesRegex(Invalid, sentence):
            function(*arguments, **options)


class OutputsOfAnotherShape(Case):
    """With one row no stride tells that the output is too small."""

    def test_block_scaled(self):
        for shape in ((1, 8), (1, 60001), (2, 60000)):
            self.refused('d has shape|by that of d', tilewright.matmul_block_scaled, zeros((1, 32)), zeros((600, 32)).T, zeros(512),
                         zeros(5 * 512), tilewright.to_bf16(zeros(shape, FLOAT)), a_type='e2m1', b_type='e2m1')

    def test_rotary(self):
        tables = numpy.ones((1, 8), FLOAT), numpy.ones((1, 8), FLOAT)
        self.refused(r'q has shape \(1, 16\), but must be 1 by 992', tilewright.rotary, numpy.ones((1, 1024), HALF), *tables, 62, 1,
                     q=zeros((1, 16), HALF))
        self.refused('v has shape', tilewright.rotary, numpy.ones((1, 1024), HALF), *tables, 62, 1, v=zeros((1, 8), HALF))

    def test_block_quantise(self):
        self.refused('elements has shape', tilewright.block_quantise, numpy.ones((1, 1024), HALF),
                     out=(zeros((1, 8)), zeros(8192)), out_dtype='e2m1', scale_type='ue4m3')
        self.refused('scales has 100 bytes', tilewright.block_quantise, numpy.ones((1, 1024), HALF),
                     out=(zeros((1, 512)), zeros(100)), out_dtype='e2m1', scale_type='ue4m3')

    def test_block_dequantise(self):
        self.refused('values has shape', tilewright.block_dequantise, zeros((1, 512)), zeros(8192), zeros((1, 8), HALF),
                     elements_type='e2m1', scale_type='ue4m3')

    def test_call(self):
        arrays = dict(source=numpy.ones((8, 64), HALF), output=zeros((8, 64), HALF), weight=numpy.ones(64, HALF))
        self.refused('source has shape .8, 64., but must be 12 by 64', tilewright.call, 'rms_norm', **arrays, m=12)
        self.refused('output has shape', tilewright.call, 'rms_norm', **{**arrays, 'output': zeros((8, 8), HALF)}, k=64)
        tilewright.call('rms_norm', **arrays, m=8)

    def test_k_lowers_packed_bytes_alone(self):
        elements, scales = tilewright.block_quantise(numpy.ones((2, 64), HALF), out_dtype='e2m1')
        self.assertEqual(tilewright.block_dequantise(elements, scales, elements_type='e2m1', k=63).shape, (2, 63))
        self.refused('k is 65', tilewright.block_dequantise, elements, scales, elements_type='e2m1', k=65)
        bits = tilewright.block_quantise(numpy.ones((2, 64), HALF))
        self.refused('elements has shape', tilewright.call, 'block_dequantise', elements=bits[0], scales=bits[1],
                     values=zeros((2, 63), HALF), k=63)

    def test_pages_beyond_the_table(self):
        q, cache = numpy.ones((1, 1, 1, 64), HALF), numpy.ones((4, 16, 1, 64), HALF)
        table, lengths = numpy.arange(2, dtype=numpy.int32)[None], numpy.array([20], numpy.int32)
        self.refused('keys is 1000, but page_table has room for 2 pages of 16', tilewright.attention_paged, q, cache, cache, table,
                     lengths, keys=1000)

    def test_a_table_without_pages(self):
        q, cache = numpy.ones((3, 1, 1, 64), HALF), numpy.ones((4, 16, 1, 64), HALF)
        try:
            tilewright.attention_paged(q, cache, cache, zeros((3, 0), numpy.int32), zeros(3, numpy.int32), target='sm80')
        except tilewright.Error as error:
            self.assertNotIsInstance(error, tilewright.Found)

    def test_a_batch_of_one_serves_all(self):
        a, b = numpy.ones((1, 4, 64), HALF), numpy.ones((3, 64, 8), HALF)
        x, y = (tilewright.block_quantise(one.reshape(-1, 64))[0] for one in (a, b.swapaxes(1, 2).copy()))
        scales = numpy.full(3 * 512, 127, BYTES)
        d = tilewright.matmul_block_scaled(x[None], y.reshape(3, 8, 64).swapaxes(1, 2), scales, scales, out_dtype='fp32',
                                           target='sm80')
        self.assertEqual(d.shape, (3, 4, 8))
        self.assertTrue((d == d[0, 0, 0]).all())


class Memory(Case):
    def test_read_only_memory_lives_until_the_end(self):
        d = tilewright.rms_norm(Buffer(ROW * 8, (8, 64), 'fp16'), Buffer(ROW, (64,), 'fp16'))
        self.assertEqual(set(numpy.round(d.values(), 3)), {1.0})

    def test_read_only_bias(self):
        ones = Buffer(ROW * 16, (16, 64), 'fp16')
        for _ in range(4):
            bias = Buffer(numpy.full(16, 7, FLOAT).tobytes(), (16,), 'fp32')
            d = tilewright.matmul(ones, ones.T, epilogue=tilewright.Epilogue(bias=bias))
            self.assertEqual(set(d.values()), {71.0})

    def test_capsules(self):
        class Exporter:
            def __init__(self, array):
                self.array = array

            def __dlpack_device__(self):
                return 1, 0

            def __dlpack__(self):
                return self.array.__dlpack__()

        d = tilewright.rms_norm(Exporter(numpy.ones((8, 64), HALF)), Exporter(numpy.full(64, 2, HALF)))
        self.assertEqual(set(numpy.round(d.values(), 2)), {2.0})

    def test_vectors_with_strides(self):
        x, every_second = numpy.ones((2, 64), HALF), numpy.arange(128, dtype=HALF)[::2]
        self.refused('weight has shape .64,. and strides .2,., but its values must lie', tilewright.rms_norm, x, every_second)
        qkv, table = numpy.ones((2, 64), HALF), numpy.ones((8, 8), FLOAT)
        for name in ('slots', 'positions'):
            self.refused(f'{name} has shape', tilewright.rotary, qkv, table, table, 2, 1,
                         **{name: numpy.array([0, 3, 2, 3], numpy.int32)[::2]})
        elements, scales = zeros((2, 64)), zeros(2048)
        self.refused('scales has shape', tilewright.block_quantise, x, out=(elements, scales[::2]))
        a, b = tilewright.block_quantise(x), tilewright.block_quantise(numpy.ones((8, 64), HALF))
        self.refused('a_scales has shape', tilewright.matmul_block_scaled, a[0], b[0].T, scales[::2], b[1])

    def test_lists_of_other_types(self):
        qkv, table = numpy.ones((2, 64), HALF), numpy.ones((8, 8), FLOAT)
        self.refused('positions has type fp32, but must be s32', tilewright.rotary, qkv, table, table, 2, 1,
                     positions=zeros(2, FLOAT))

    def test_a_filter_of_another_type(self):
        self.refused('filter has type fp32 and image has type fp16', tilewright.call, 'conv2d',
                     image=zeros((1, 8, 8, 16), HALF), filter=zeros((8, 3, 3, 16), FLOAT), d=zeros((1, 6, 6, 8), HALF), n=1,
                     c=16, k=8)


class Rotary(Case):
    def test_positions_and_slots_outside(self):
        """Positions are taken for the nearest, and what has no row is not stored."""
        generator = numpy.random.default_rng(5)
        qkv, angles = generator.standard_normal((5, 64)).astype(HALF), generator.standard_normal((3, 8))
        tables = numpy.cos(angles).astype(FLOAT), numpy.sin(angles).astype(FLOAT)
        limits = numpy.iinfo(numpy.int32)
        positions = numpy.array([-1, 1, 3, limits.max, limits.min], numpy.int32)
        slots = numpy.array([1, 4, -1, limits.max, limits.min], numpy.int32)
        for target in ('sm80', 'sm90a'):
            caches = [numpy.full((4, 16), 9, HALF) for _ in range(4)]
            q, k, v = tilewright.rotary(qkv, *tables, 2, 1, k=caches[0], v=caches[1], positions=positions, slots=slots,
                                        target=target)
            right, *_ = tilewright.rotary(qkv, *tables, 2, 1, k=caches[2], v=caches[3], target=target,
                                          positions=positions.clip(0, 2), slots=numpy.array([1, -1, -1, -1, -1], numpy.int32))
            numpy.testing.assert_array_equal(q, right)
            numpy.testing.assert_array_equal(k, caches[2])
            numpy.testing.assert_array_equal(v, caches[3])
            self.assertTrue((k[[0, 2, 3]] == 9).all() and not (k[1] == 9).all())


class PackedTypes(Case):
    def test_one_column(self):
        x = numpy.random.default_rng(3).standard_normal((5, 96)).astype(HALF)
        for type in ('e2m1', 'e2m3', 'e3m2'):
            elements, scales = tilewright.block_quantise(x, out_dtype=type)
            values = tilewright.block_dequantise(elements, scales, elements_type=type, out_dtype='fp32')
            for a, b in (((0, 5), (0, 1)), ((0, 1), (0, 5)), ((0, 1), (0, 1))):
                d = tilewright.matmul_block_scaled(elements[slice(*a)], elements[slice(*b)].T, scales, scales, a_type=type,
                                                   b_type=type, out_dtype='fp32', target='sm80')
                numpy.testing.assert_allclose(d, values[slice(*a)] @ values[slice(*b)].T, rtol=1e-5, atol=1e-5)


class Exceptions(Case):
    def test_what_is_no_array(self):
        x = numpy.ones((2, 64), HALF)
        for wrong in (None, [1.0], 'x', 5, object()):
            self.refused('x is a', tilewright.rms_norm, wrong, x[0])
            self.refused('', tilewright.rotary, wrong, x, x, 1, 1)
            self.refused('', tilewright.block_quantise, wrong)
            self.refused('', tilewright.block_dequantise, wrong, x)
            self.refused('', tilewright.matmul_block_scaled, wrong, x, x, x)
            self.refused('', tilewright.matmul, wrong, x)

    def test_what_is_no_number(self):
        x, weight = numpy.ones((2, 64), HALF), numpy.ones(64, HALF)
        self.refused("epsilon is 'x', but must be a number", tilewright.rms_norm, x, weight, epsilon='x')
        self.refused('out is a ndarray, but must be a pair', tilewright.rms_norm, x, weight, x.copy(), out=x.copy())
        self.refused('qkv has 64 columns, but they are of 0', tilewright.rotary, x, x, x, 0, 0)
        for alpha in (10 ** 400, 1e300, 'x', None):
            self.refused('alpha is', tilewright.matmul, x, x.T, epilogue=tilewright.Epilogue(alpha=alpha))
        self.refused('', tilewright.matmul, x, x.T, instance='\udcff')
        self.refused('batch_invariant is', tilewright.matmul, x, x.T, batch_invariant=x)
        self.refused('cannot be had', tilewright.conv2d, zeros((1, 8, 8, 16), HALF), zeros((8, 3, 3, 16), HALF), padding=2 ** 40)

    def test_families(self):
        self.refused('The family is None', tilewright.call, None)
        self.refused('The family is', tilewright.call, 'matmul\0x')
        self.refused('The family is', tilewright.call, ['matmul'])
        self.refused('rms_norm multiplies nothing', tilewright.call, 'rms_norm', epilogue=tilewright.Epilogue(alpha=2.0))

    def test_interfaces(self):
        array = numpy.ones((8, 8), HALF)

        class Lying:
            def __init__(self, **changes):
                self.__array_interface__ = {**array.__array_interface__, **changes}

        for change in (dict(data=5), dict(data=None), dict(data=(0, 0, 0)), dict(strides=(16,)), dict(strides=5), dict(shape=5),
                       dict(shape=(-1, 8)), dict(typestr=5), dict(typestr='<f0'), dict(shape=(None, 2))):
            self.refused('', tilewright.matmul, Lying(**change), array)

        class Exporter:
            def __init__(self, device, capsule=None):
                self.device, self.capsule = device, capsule

            def __dlpack_device__(self):
                return self.device

            def __dlpack__(self):
                return self.capsule

        for wrong in (Exporter(None), Exporter(()), Exporter('x'), Exporter((2, 0)), Exporter((1, 0), 5)):
            self.refused('', tilewright.matmul, wrong, array)

    def test_buffers(self):
        self.refused('cannot be had', Buffer, None, (2 ** 40, 2 ** 40), 'fp16')
        self.refused('shape is 5', Buffer, None, 5, 'fp16')
        self.refused('no number of s8', Buffer.of, [300], (1,), 's8')
        memory = memoryview(bytearray(4))
        memory.release()
        self.refused('must be numbers', Buffer.of, memory, (4,), 's8')
        self.refused('data is a int', Buffer, 5, (1,), 's8')
        larger = Buffer.zeros((4, 4), 'fp16')
        larger.shape = (400, 400)
        self.refused('covers elements', tilewright.matmul, larger, larger)


class Copies(Case):
    def test_buffers(self):
        whole = Buffer.of(range(32), (4, 8), 'bf16')
        for one in (whole, whole.T, Buffer(ROW * 2, (2, 64), 'fp16'), Buffer(whole.data, (2, 3), 'bf16', (8, 2), whole.offset + 9),
                    Buffer.zeros((0, 4), 's8')):
            for same in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
                self.assertEqual((same.shape, same.type, same.values()), (one.shape, one.type, one.values()))
                self.assertEqual(same.data.readonly, one.data.readonly)
        apart = copy.deepcopy(whole)
        apart.data[apart.offset * 2] ^= 1
        self.assertNotEqual(apart.values(), whole.values())
        self.assertIs(copy.copy(whole).data.obj, whole.data.obj)

    def test_arrays_that_tell_their_type(self):
        bits = tilewright.to_bf16(numpy.arange(32, dtype=FLOAT).reshape(4, 8)).T
        for same in (pickle.loads(pickle.dumps(bits)), copy.deepcopy(bits), copy.copy(bits)):
            self.assertEqual(same.type, 'bf16')
            self.assertEqual(same.dtype, bits.dtype)
            numpy.testing.assert_array_equal(same, bits)


class Names(unittest.TestCase):
    def test_dir(self):
        shown = [name for name in dir(tilewright) if not name.startswith('_')]
        self.assertEqual(sorted(shown), sorted(tilewright.__all__))


if __name__ == '__main__':
    unittest.main(verbosity=2)
