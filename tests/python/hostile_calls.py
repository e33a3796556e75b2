"""Calls of every function of the package: sound ones by small shapes of all kinds, and what makes them hostile."""
import numpy

import tilewright
from hostile_arrays import ODD_INTEGERS, ODD_REALS, ODD_WORDS, Arrays, Odd

TARGETS = ('sm80', 'sm90a', 'sm100a', None)


class Calls:
    """Draws a call: (name, function, arguments by name)."""

    def __init__(self, draw, targets=TARGETS):
        self.draw, self.arrays, self.targets = draw, Arrays(draw), targets

    def any(self):
        maker = self.draw.choice(self.makers)
        return maker.__name__, *maker(self)

    def extent(self, most=20, step=1):
        return step * self.draw.randint(1, max(1, most // step))

    def sometimes(self, chance, arguments):
        return arguments if self.draw.random() < chance else {}

    def out(self, shape, type, chance=0.4):
        return self.sometimes(chance, dict(out=self.arrays.strided(shape, type) if self.draw.random() < 0.3
                                           else self.arrays.plain(shape, type)))

    def options(self):
        options = dict(target=self.draw.choice(self.targets))
        return options

    def epilogue(self, m, n, batch=()):
        if self.draw.random() < 0.6:
            return {}
        fields = dict(alpha=self.draw.choice((1.0, 0.5, -2.0)))
        fields |= self.sometimes(0.4, dict(bias=self.arrays.sound((n,), self.draw.choice(('fp32', 'fp16', 'bf16')))))
        if 'bias' not in fields:
            fields |= self.sometimes(0.3, dict(row_bias=self.arrays.sound((m,), 'fp32')))
        fields |= self.sometimes(0.2, dict(row_scale=self.arrays.sound((m,), 'fp32')))
        fields |= self.sometimes(0.2, dict(column_scale=self.arrays.sound((n,), 'fp32')))
        fields |= self.sometimes(0.3, dict(activation=self.draw.choice(('relu', ('clamp', -3, 3)))))
        fields |= self.sometimes(0.2, dict(source=self.arrays.plain((*batch, m, n), self.draw.choice(('fp32', 'fp16', 'bf16')))))
        fields |= self.sometimes(0.1, dict(auxiliary=self.arrays.plain((*batch, m, n), 'fp32')))
        fields |= self.sometimes(0.1, dict(amax=numpy.zeros(1, 'float32')))
        return dict(epilogue=tilewright.Epilogue(**fields))

    # Sound calls.

    def matmul(self):
        type = self.draw.choice(('bf16', 'fp16', 'fp32', 's8', 'e4m3'))
        m, n, k = self.extent(), self.extent(), self.extent(64)
        batch = self.draw.choice(((), (), (2,), (2, 3)))
        a = self.arrays.sound((*batch, m, k), type, False)
        b = self.arrays.turned((*self.draw.choice((batch, ())), k, n), type)
        d = {'bf16': 'bf16', 'fp16': 'fp16', 'fp32': 'fp32', 's8': 's32', 'e4m3': 'bf16'}[type]
        epilogue = {} if type == 's8' else self.epilogue(m, n, batch)
        return tilewright.matmul, dict(a=a, b=b, **epilogue, **self.out((*batch, m, n), d), **self.options())

    def _blockwise(self):
        m, n, k = self.extent(), self.extent(140), self.extent(260, 4)
        blocks = -(-k // 128)
        a, b = self.arrays.plain((m, k), 'e4m3'), self.arrays.turned((k, n), 'e4m3')
        scales = self.arrays.sound((m, blocks), 'fp32', False), self.arrays.turned((blocks, -(-n // 128)), 'fp32')
        return m, n, dict(a=a, b=b, a_scales=scales[0], b_scales=scales[1])

    def matmul_blockwise(self):
        m, n, arrays = self._blockwise()
        return tilewright.matmul_blockwise, dict(**arrays, **self.epilogue(m, n), **self.out((m, n), 'bf16'), **self.options())

    def matmul_requantised(self):
        m, n, arrays = self._blockwise()
        out = self.sometimes(0.3, dict(out=(self.arrays.plain((m, n), 'e4m3'), numpy.zeros((m, -(-n // 128)), 'float32'))))
        return tilewright.matmul_requantised, dict(**arrays, **out, **self.sometimes(0.3, dict(column_major=not out)), **self.options())

    def quantise_blocks(self):
        m, k = self.extent(), self.extent(260, 8)
        rows = self.draw.choice((1, 1, 128))
        out = self.sometimes(0.3, dict(out=(self.arrays.plain((m, k), 'e4m3'), numpy.zeros((-(-m // rows), -(-k // 128)), 'float32'))))
        x = self.arrays.sound((m, k), self.draw.choice(('bf16', 'fp16', 'fp32')), False)
        return tilewright.quantise_blocks, dict(x=x, scale_rows=rows, **out, **self.sometimes(0.3, dict(powers_of_two=True)),
                                                **self.options())

    def _packed(self, rows, k, type):
        """Bytes that hold elements, or elements of a byte."""
        if type in ('e4m3', 'e5m2'):
            return self.arrays.plain((rows, k), type)
        return self.arrays.bits((rows, -(-k // 4) * 3 if type != 'e2m1' else -(-k // 2)), 'bytes')

    def _scales(self, rows, k, scale_type):
        groups = -(-k // {'ue8m0': 32, 'ue4m3': 16}[scale_type])
        count = -(-rows // 128) * -(-groups // 4) * 512
        return numpy.full(count, 127 if scale_type == 'ue8m0' else 0x38, 'uint8')

    def matmul_block_scaled(self):
        m, n, k = self.extent(), self.extent(), self.extent(128, 32)
        types = self.draw.choice((('e4m3', 'e4m3'), ('e2m1', 'e2m1'), ('e3m2', 'e3m2'), ('e2m3', 'e4m3'), ('e4m3', 'e2m1')))
        scale = 'ue4m3' if types == ('e2m1', 'e2m1') and self.draw.random() < 0.5 else 'ue8m0'
        told = {f'{name}_type': type for name, type in zip('ab', types) if type[0] == 'e' and type not in ('e4m3', 'e5m2')}
        d = self.draw.choice(('bf16', 'fp32'))
        return tilewright.matmul_block_scaled, dict(
            a=self._packed(m, k, types[0]), b=self._packed(n, k, types[1]).T, a_scales=self._scales(m, k, scale),
            b_scales=self._scales(n, k, scale), scale_type=scale, out_dtype=d, **told, **self.sometimes(0.2, dict(k=k)),
            **self.epilogue(m, n), **self.out((m, n), d), **self.options())

    def _block_format(self):
        return self.draw.choice((('e4m3', 'ue8m0'), ('e5m2', 'ue8m0'), ('e2m3', 'ue8m0'), ('e3m2', 'ue8m0'), ('e2m1', 'ue8m0'),
                                 ('e2m1', 'ue4m3')))

    def block_quantise(self):
        m, k = self.extent(), self.extent(128, 32)
        type, scale = self._block_format()
        order = self.draw.choice(('blocks', 'rows'))
        scales = self._scales(m, k, scale) if order == 'blocks' else numpy.zeros((m, -(-k // (32 if scale == 'ue8m0' else 16))), 'uint8')
        out = self.sometimes(0.4, dict(out=(self._packed(m, k, type), scales)))
        return tilewright.block_quantise, dict(x=self.arrays.sound((m, k), self.draw.choice(('bf16', 'fp16', 'fp32')), False), **out,
                                               out_dtype=type, scale_type=scale, scale_order=order, **self.options())

    def block_dequantise(self):
        m, k = self.extent(), self.extent(128, 32)
        type, scale = self._block_format()
        d = self.draw.choice(('bf16', 'fp16', 'fp32'))
        told = {} if type in ('e4m3', 'e5m2') else dict(elements_type=type)
        return tilewright.block_dequantise, dict(elements=self._packed(m, k, type), scales=self._scales(m, k, scale), out_dtype=d,
                                                 scale_type=scale, **told, **self.sometimes(0.2, dict(k=k - self.draw.randint(0, 1))),
                                                 **self.options())

    def pack_weights(self):
        layout = self.draw.choice(('gptq', 'gptq_v2', 'awq', 'compressed_tensors', 'mxfp4', 'gpt_oss', 'nvfp4'))
        n, k, type = 8 * self.extent(10), 32 * self.extent(6), self.draw.choice(('bf16', 'fp16'))
        experts = self.draw.choice(((), (), (2,)))

        def drawn(dtype, *shape):
            count = numpy.prod((*experts, *shape)) * numpy.dtype(dtype).itemsize
            return numpy.frombuffer(bytearray(self.draw.randbytes(count)), dtype).reshape(*experts, *shape)

        if layout in ('mxfp4', 'gpt_oss', 'nvfp4'):
            codes = drawn('uint8', n, k // 32, 16) if layout == 'gpt_oss' else drawn('uint8', n, k // 2)
            scales = drawn('uint8', n, k // 16 if layout == 'nvfp4' else k // 32)
            scales = scales & 0x3f if layout == 'nvfp4' else 118 + scales % 12
            told = self.sometimes(0.5, dict(activation=type))
            return tilewright.pack_weights, dict(codes=codes, scales=scales, layout=layout, **told, **self.options())
        groups = k // self.draw.choice([group for group in (32, 64, 128, k) if k % group == 0])
        turned = layout != 'compressed_tensors'
        codes = drawn('int32', *{'awq': (k, n // 8), 'compressed_tensors': (n, k // 8)}.get(layout, (k // 8, n)))
        zeros = self.sometimes(0.5, dict(zeros=drawn('uint32', *((groups, n // 8) if turned else (n // 8, groups)))))
        scales = self.arrays.sound((*experts, *((groups, n) if turned else (n, groups))), type)
        order = self.sometimes(0.2, dict(g_idx=[place // (k // groups) for place in range(k)]))
        return tilewright.pack_weights, dict(codes=codes, scales=scales, layout=layout, **zeros, **order, **self.options())

    def matmul_grouped(self):
        groups, n, k = self.extent(4), self.extent(), self.extent(64, 8)
        sizes = [self.draw.randint(0, 5) for _ in range(groups)]
        m = sum(sizes) + self.draw.randint(0, 2) or 1
        type = self.draw.choice(('fp16', 'bf16'))
        ends = numpy.cumsum(sizes, dtype='int32')
        b = self.arrays.turned((groups, k, n), type)
        if self.draw.random() < 0.3:
            index = numpy.array([self.draw.randint(-1, m) for _ in range(m)], 'int32')
            a = self.arrays.sound((m + 1, k), 'bf16')
            b = self.arrays.turned((groups, k, n), 'bf16')
            return tilewright.matmul_grouped, dict(a=a, b=b, rows=ends, row_index=index, **self.options())
        return tilewright.matmul_grouped, dict(a=self.arrays.sound((m, k), type), b=b, rows=ends, **self.out((m, n), type),
                                               **self.options())

    def conv2d(self):
        n, h, w, c, k = self.extent(2), self.extent(8), self.extent(8), self.extent(16, 4), self.extent(16, 4)
        r, s = self.draw.randint(1, min(3, h)), self.draw.randint(1, min(3, w))
        stride, padding = self.draw.randint(1, 2), self.draw.randint(0, 1)
        type = self.draw.choice(('fp16', 'bf16'))
        p, q = ((extent + 2 * padding - filter) // stride + 1 for extent, filter in ((h, r), (w, s)))
        return tilewright.conv2d, dict(x=self.arrays.sound((n, h, w, c), type), w=self.arrays.sound((k, r, s, c), type), stride=stride,
                                       padding=padding, **self.out((n, p, q, k), type, 0.2), **self.options())

    def attention(self):
        sequences, queries, keys, heads, ratio = self.extent(2), self.extent(9), self.extent(20), self.extent(2), self.extent(2)
        size, type = self.draw.choice((32, 64, 128)), self.draw.choice(('bf16', 'fp16'))
        shape = (sequences, queries, heads * ratio, size)
        k, v = (self.arrays.plain((sequences, keys, heads, size), type) for _ in 'kv')
        sinks = self.sometimes(0.2, dict(sinks=self.arrays.sound((heads * ratio,), 'fp32')))
        causal = self.sometimes(0.4, dict(causal=True)) if keys >= queries else {}
        return tilewright.attention, dict(q=self.arrays.plain(shape, type), k=k, v=v, **self.out(shape, type, 0.2), **sinks, **causal,
                                          **self.sometimes(0.2, dict(log_sums=True)), **self.options())

    def attention_paged(self):
        sequences, heads, pages, size = self.extent(3), self.extent(2), self.extent(4), self.draw.choice((64, 128))
        page_size, type = self.draw.choice((16, 64)), self.draw.choice(('bf16', 'fp16'))
        cache = [self.arrays.plain((pages + 1, page_size, heads, size), type) for _ in 'kv']
        table = numpy.array([[self.draw.randint(0, pages) for _ in range(pages)] for _ in range(sequences)], 'int32')
        lengths = numpy.array([self.draw.randint(1, pages * page_size) for _ in range(sequences)], 'int32')
        q = self.arrays.plain((sequences, 1, heads, size), type)
        return tilewright.attention_paged, dict(q=q, k=cache[0], v=cache[1], page_table=table, key_lengths=lengths, **self.options())

    def rms_norm(self):
        m, k, type = self.extent(), self.extent(96, 8), self.draw.choice(('bf16', 'fp16'))
        residual = self.sometimes(0.4, dict(residual=self.arrays.sound((m, k), type)))
        out = self.plain_pair(m, k, type) if residual else self.arrays.plain((m, k), type)
        return tilewright.rms_norm, dict(x=self.arrays.sound((m, k), type, False), weight=self.arrays.sound((k,), type), **residual,
                                         **self.sometimes(0.3, dict(out=out)), **self.options())

    def plain_pair(self, m, k, type):
        return self.arrays.plain((m, k), type), self.arrays.plain((m, k), type)

    def rotary(self):
        tokens, heads, key_heads, size = self.extent(6), self.extent(4), self.extent(2), self.extent(64, 16)
        type, positions, rows = self.draw.choice(('bf16', 'fp16')), tokens + self.draw.randint(0, 3), tokens + self.draw.randint(0, 3)
        tables = [self.arrays.sound((positions, size // 2), 'fp32') for _ in range(2)]
        lists = self.sometimes(0.5, dict(positions=numpy.array([self.draw.randint(-2, positions + 2) for _ in range(tokens)], 'int32')))
        if self.draw.random() < 0.5:
            slots = list(range(-2, rows + 2))
            self.draw.shuffle(slots)
            lists |= dict(slots=numpy.array(slots[:tokens], 'int32'), k=self.arrays.plain((rows, key_heads * size), type),
                          v=self.arrays.plain((rows, key_heads * size), type))
        return tilewright.rotary, dict(qkv=self.arrays.sound((tokens, (heads + 2 * key_heads) * size), type), cosines=tables[0],
                                       sines=tables[1], heads=heads, key_heads=key_heads, **lists, **self.options())

    def call(self):
        """A named function's problem by the names of its description."""
        way = self.draw.randrange(4)
        m, n, k = self.extent(), self.extent(), self.extent(64, 8)
        if way == 0:
            return tilewright.call, dict(family='matmul', a=self.arrays.plain((m, k), 'fp16'), b=self.arrays.turned((k, n), 'fp16'),
                                         d=self.arrays.plain((m, n), 'fp16'), **self.epilogue(m, n), **self.options())
        if way == 1:
            return tilewright.call, dict(family='rms_norm', source=self.arrays.plain((m, k), 'fp16'), weight=self.arrays.plain((k,), 'fp16'),
                                         output=self.arrays.plain((m, k), 'fp16'), **self.sometimes(0.3, dict(m=m)), **self.options())
        if way == 2:
            return tilewright.call, dict(family='quantise', source=self.arrays.plain((m, k), 'fp32'),
                                         elements=self.arrays.plain((m, k), 'e4m3'), scales=numpy.zeros((m, -(-k // 128)), 'float32'),
                                         scale_rows=1, **self.options())
        return tilewright.call, dict(family='block_quantise', source=self.arrays.plain((m, 4 * k), 'fp16'),
                                     elements=self._packed(m, 4 * k, 'e2m1'), elements_type='e2m1', scales=self._scales(m, 4 * k, 'ue8m0'),
                                     **self.sometimes(0.3, dict(k=4 * k)), **self.options())

    def numbers(self):
        if self.draw.random() < 0.5:
            return tilewright.to_bf16, dict(array=self.arrays.bits((self.extent(), self.extent()), 'fp32'))
        return tilewright.from_bf16, dict(bits=self.arrays.bits((self.extent(), self.extent()), 'bf16'))

    def buffers(self):
        shape, type = (self.extent(), self.extent()), self.draw.choice(('bf16', 'fp16', 'fp32', 's8', 's32', 'e4m3'))
        if self.draw.random() < 0.3:
            return tilewright.Buffer.zeros, dict(shape=shape, type=type)
        if self.draw.random() < 0.5:
            return tilewright.Buffer.of, dict(values=[self.draw.randint(-9, 9) for _ in range(shape[0] * shape[1])], shape=shape, type=type)
        return tilewright.Buffer, dict(data=bytearray(4 * shape[0] * shape[1] + 64), shape=shape, type=type,
                                       **self.sometimes(0.3, dict(strides=(shape[1], 1))), **self.sometimes(0.3, dict(offset=8)))

    makers = (matmul, matmul, matmul_blockwise, matmul_requantised, quantise_blocks, matmul_block_scaled, matmul_block_scaled, block_quantise,
              block_dequantise, pack_weights, matmul_grouped, conv2d, attention, attention_paged, rms_norm, rotary, call, call, numbers, buffers)

    # Hostile ones.

    def spoil(self, arguments):
        """Changes one argument, adds one, or takes one away."""
        way = self.draw.random()
        if way < 0.04 or not arguments:
            arguments[self.draw.choice(('k', 'n', 'm', 'stream', 'out', 'instance', 'target', 'epilogue', 'a_type', 'out_dtype', 'nothing',
                                        'batch_invariant', 'scale_type', 'log_sums'))] = self.odd()
            return
        if way < 0.07:
            arguments.pop(self.draw.choice(list(arguments)))
            return
        name = self.draw.choice(list(arguments))
        if way < 0.17:  # memory of another
            arguments[name] = arguments[self.draw.choice(list(arguments))]
            return
        arguments[name] = self.spoilt(arguments[name])

    def odd(self):
        return self.draw.choice((self.draw.choice(ODD_INTEGERS), self.draw.choice(ODD_REALS), self.draw.choice(ODD_WORDS), None, [], (), {},
                                 object(), Odd(), numpy.zeros(3), numpy.float16(2), (1, 2), [1, 'x'], 1j))

    def spoilt(self, given):
        if isinstance(given, tilewright.Epilogue):
            fields = vars(given)
            name = self.draw.choice(list(fields))
            fields[name] = self.spoilt(fields[name]) if self.draw.random() < 0.7 else self.odd()
            return given if self.draw.random() < 0.95 else self.odd()
        if isinstance(given, tuple) and given and not isinstance(given[0], (int, str)):
            parts = list(given)
            place = self.draw.randrange(len(parts))
            parts[place] = self.spoilt(parts[place])
            return self.draw.choice((tuple(parts), tuple(parts), parts, tuple(parts[:-1]), (*parts, parts[0]), parts[0]))
        if given is None or isinstance(given, (int, float, str, tuple, list, bytearray)):
            return self.odd()
        return self.arrays.spoilt(given) if self.draw.random() < 0.9 else self.odd()
