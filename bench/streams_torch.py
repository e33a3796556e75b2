"""Families whose rows stream through registers, for beside_torch.py: problems, and what torch.compile makes of the same.

A shape names its family: rms_norm, rotary, quantise or block_quantise. Both sides write into buffers that rotate.
"""
BF16, FP32, E4M3 = 0, 2, 4  # of tw_type
BLOCK = 128  # columns that share a scale of quantise
MX_BLOCK = 32
POSITIONS = 8192
IN_ROWS = 1  # of tw_scale_order


def words_of(shape):
    if shape['family'] == 'rotary':
        return 'rotary {rows} tokens, {heads} and {key_heads} heads of {head_size}'.format(**shape)
    scales = ', scales of 128 rows' if shape.get('scale_rows') == 128 else ''
    return '{family} {rows} x {columns}'.format(**shape) + scales + (', residual' if shape.get('residual') else '')


def rms_norm(torch, x, weight, output):
    y = x.float()
    output.copy_(y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * weight.float())


def rms_norm_of_sum(torch, x, residual, weight, output, total):
    total.copy_(x + residual)
    rms_norm(torch, x + residual, weight, output)


def rotary(torch, qkv, cosines, sines, q, k, v):
    tokens, heads, size = q.shape
    key_heads = k.shape[1]
    all_heads = qkv.view(tokens, heads + 2 * key_heads, size)
    cosine, sine = (table[:tokens, None] for table in (cosines, sines))

    def rotated(x):
        real, imaginary = x.float().chunk(2, -1)
        return torch.cat((real * cosine - imaginary * sine, imaginary * cosine + real * sine), -1)
    q.copy_(rotated(all_heads[:, :heads]))
    k.copy_(rotated(all_heads[:, heads:heads + key_heads]))
    v.copy_(all_heads[:, heads + key_heads:])


def quantise(torch, x, elements, scales, scale_rows):
    rows, columns = x.shape
    blocks = x.float().view(rows // scale_rows, scale_rows, columns // BLOCK, BLOCK)
    scale = blocks.abs().amax((1, 3), keepdim=True) / 448
    elements.copy_((blocks / scale).to(torch.float8_e4m3fn).view(rows, columns))
    scales.copy_(scale[:, 0, :, 0])


def block_quantise(torch, x, elements, scales):
    """OCP's rule: the power of two below the largest magnitude, by the format's largest."""
    rows, columns = x.shape
    blocks = x.float().view(rows, columns // MX_BLOCK, MX_BLOCK)
    exponent = (blocks.abs().amax(-1, keepdim=True).view(torch.int32) >> 23) - 8
    inverse = ((254 - exponent) << 23).view(torch.float32)
    elements.copy_((blocks * inverse).clamp(-448, 448).to(torch.float8_e4m3fn).view(rows, columns))
    scales.copy_(exponent[:, :, 0])


class Streams:
    """One problem in as many buffers as `sets_of` says for its bytes."""

    def __init__(self, torch, shape, sets_of):
        self.torch, self.shape, self.family = torch, shape, shape['family']
        rows = shape['rows']
        normal = lambda *size: torch.randn(*size, device='cuda', dtype=torch.bfloat16)
        empty = lambda *size, dtype=torch.bfloat16: torch.empty(*size, device='cuda', dtype=dtype)
        if self.family == 'rotary':
            heads, key_heads, size = (shape[name] for name in ('heads', 'key_heads', 'head_size'))
            columns = (heads + 2 * key_heads) * size
            angles = torch.rand(POSITIONS, size // 2, device='cuda') * 6
            self.tables = angles.cos(), angles.sin()
            make = lambda: (normal(rows, columns), *self.tables, empty(rows, heads, size), empty(rows, key_heads, size),
                            empty(rows, key_heads, size))
            bytes_ = 4 * rows * columns
        else:
            columns = shape['columns']
            bytes_ = 2 * rows * columns
            if self.family == 'rms_norm':
                weight = 1 + 0.1 * normal(columns)
                if shape.get('residual'):
                    make = lambda: (normal(rows, columns), normal(rows, columns), weight, empty(rows, columns), empty(rows, columns))
                else:
                    make = lambda: (normal(rows, columns), weight, empty(rows, columns))
                bytes_ *= 4 if shape.get('residual') else 2
            elif self.family == 'quantise':
                lines = rows // shape['scale_rows']
                make = lambda: (normal(rows, columns), empty(rows, columns, dtype=torch.float8_e4m3fn),
                                empty(lines, columns // BLOCK, dtype=torch.float32))
                bytes_ = bytes_ * 3 // 2
            else:
                make = lambda: (normal(rows, columns), empty(rows, columns, dtype=torch.float8_e4m3fn),
                                empty(rows, columns // MX_BLOCK, dtype=torch.uint8))
                bytes_ = bytes_ * 3 // 2
        self.sets = [make() for _ in range(sets_of(torch, bytes_))]

    def peers(self):
        torch = self.torch
        torch._dynamo.reset()  # of other shapes
        function = {'rms_norm': rms_norm_of_sum if self.shape.get('residual') else rms_norm, 'rotary': rotary,
                    'quantise': quantise, 'block_quantise': block_quantise}[self.family]
        extra = (self.shape['scale_rows'],) if self.family == 'quantise' else ()
        compiled = torch.compile(lambda *tensors: function(torch, *tensors, *extra), fullgraph=True, dynamic=False)

        def call(index):
            compiled(*self.sets[index])
            return self.output(index)
        return {'torch.compile': call}

    @staticmethod
    def place(matrix, tensor, type_, columns=None):
        matrix.data, matrix.type = tensor.data_ptr(), type_
        matrix.row_stride, matrix.column_stride = columns or tensor.stride(0), 1

    def problem(self, index, new_problem):
        problem, tensors, shape = new_problem(self.family), self.sets[index], self.shape
        if self.family == 'rotary':
            problem.tokens, problem.rows, problem.all_positions = shape['rows'], shape['rows'], POSITIONS
            problem.heads, problem.key_heads, problem.head_size = shape['heads'], shape['key_heads'], shape['head_size']
            for name, tensor in zip(('qkv', 'cosines', 'sines', 'q', 'k', 'v'), tensors):
                self.place(getattr(problem, name), tensor, FP32 if name.endswith('sines') else BF16)
            return problem
        problem.m, problem.k = shape['rows'], shape['columns']
        if self.family == 'rms_norm':
            names = ('source', 'residual', '', 'output', 'sum') if shape.get('residual') else ('source', '', 'output')
            for name, tensor in zip(names, tensors):
                if name:
                    self.place(getattr(problem, name), tensor, BF16)
                else:
                    problem.weight, problem.weight_type = tensor.data_ptr(), BF16
            return problem
        self.place(problem.source, tensors[0], BF16)
        self.place(problem.elements, tensors[1], E4M3)
        if self.family == 'quantise':
            problem.scale_rows = shape['scale_rows']
            self.place(problem.scales, tensors[2], FP32)
        else:
            problem.scales, problem.scale_order = tensors[2].data_ptr(), IN_ROWS
        return problem

    def output(self, index):
        return self.sets[index][{'rms_norm': 3 if self.shape.get('residual') else 2, 'rotary': 3}.get(self.family, 1)]
