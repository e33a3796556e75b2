"""Kernels in Triton, whose PTX tests/ptx/triton/ptx has: make.py compiles them, run.py runs what it made."""
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def silu_and_multiply(x, z, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    gate = tl.load(x + row * 2 * columns + at, mask=inside).to(tl.float32)
    value = tl.load(x + row * 2 * columns + columns + at, mask=inside).to(tl.float32)
    tl.store(z + row * columns + at, (gate / (1 + tl.exp(-gate)) * value).to(z.dtype.element_ty), mask=inside)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (first + depth)[None, :], mask=(rows[:, None] < m) & ((first + depth)[None, :] < k), other=0.0)
        right = tl.load(b + (first + depth)[:, None] * n + columns[None, :], mask=((first + depth)[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def matmul_int8(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.int32)
    for first in range(0, k, K):
        depth = first + tl.arange(0, K)
        total += tl.dot(tl.load(a + rows[:, None] * k + depth[None, :]), tl.load(b + columns[None, :] * k + depth[:, None]), out_dtype=tl.int32)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def matmul_tma(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        total = tl.dot(a.load([row, first]), b.load([column, first]).T, total)
    c.store([row, column], total.to(tl.bfloat16))


@triton.jit
def matmul_tma_device(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        total = tl.dot(left.load([row, first]), right.load([column, first]).T, total)
    result.store([row, column], total.to(tl.float16))


@triton.jit
def matmul_persistent(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    down, across = tl.cdiv(m, M), tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=True):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), dtype=tl.float32)
        for first in range(0, k, K):
            total = tl.dot(a.load([row, first]), b.load([column, first]).T, total)
        c.store([row, column], total.to(tl.bfloat16))


@triton.jit
def matmul_specialised(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    down, across = tl.cdiv(m, M), tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), warp_specialize=True):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), dtype=tl.float32)
        for first in range(0, k, K):
            total = tl.dot(a.load([row, first]), b.load([column, first]).T, total)
        c.store([row, column], total.to(tl.bfloat16))


@triton.jit
def grouped_matmul(a, b, c, ends, n, k, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    # Rows of a belong to groups one behind the other, each with its own b; ends[g] is the first row behind group g.
    begin = 0
    tile = tl.program_id(0)
    across = tl.cdiv(n, N)
    seen = 0
    for group in range(groups):
        end = tl.load(ends + group)
        tiles = tl.cdiv(end - begin, M) * across
        while tile < seen + tiles:
            own = tile - seen
            rows = begin + own // across * M + tl.arange(0, M)
            columns = own % across * N + tl.arange(0, N)
            total = tl.zeros((M, N), dtype=tl.float32)
            for first in range(0, k, K):
                depth = first + tl.arange(0, K)
                left = tl.load(a + rows[:, None] * k + depth[None, :], mask=rows[:, None] < end, other=0.0)
                right = tl.load(b + group * k * n + depth[:, None] * n + columns[None, :])
                total = tl.dot(left, right, total)
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=rows[:, None] < end)
            tile += tl.num_programs(0)
        seen += tiles
        begin = end


@triton.jit
def split_k(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    share = k // tl.num_programs(2)
    begin = tl.program_id(2) * share
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, share, K):
        depth = begin + first + tl.arange(0, K)
        total = tl.dot(tl.load(a + rows[:, None] * k + depth[None, :]), tl.load(b + depth[:, None] * n + columns[None, :]), total)
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total, sem='relaxed')


@triton.jit
def locked_sum(x, total, lock, count, BLOCK: tl.constexpr):
    # Each program adds its sum behind a lock, and counts itself.
    part = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    before, seen = tl.load(total), tl.load(count)
    tl.debug_barrier()  # every thread loads, and the first one stores
    tl.store(total, before + tl.sum(part, axis=0))
    tl.store(count, seen + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=-float('inf'))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def attention(q, k, v, o, tokens, scale, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * T + tl.arange(0, T)
    width = tl.arange(0, D)
    base = head * tokens * D
    query = tl.load(q + base + rows[:, None] * D + width[None, :])
    greatest = tl.full((T,), -float('inf'), dtype=tl.float32)
    weight = tl.zeros((T,), dtype=tl.float32)
    total = tl.zeros((T, D), dtype=tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * T, tokens) if CAUSAL else tokens
    for first in range(0, end, S):
        keys = first + tl.arange(0, S)
        key = tl.load(k + base + keys[None, :] * D + width[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float('inf'))
        now = tl.maximum(greatest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(greatest - now)
        weight = weight * shrink + tl.sum(powers, axis=1)
        value = tl.load(v + base + keys[:, None] * D + width[None, :])
        total = tl.dot(powers.to(tl.float16), value, total * shrink[:, None])
        greatest = now
    tl.store(o + base + rows[:, None] * D + width[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def layer_norm(x, w, b, y, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    result = centred * scale * tl.load(w + at, mask=inside) + tl.load(b + at, mask=inside)
    tl.store(y + row * columns + at, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm(x, w, y, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    tl.store(y + row * columns + at, (values * scale * tl.load(w + at, mask=inside)).to(y.dtype.element_ty), mask=inside)


@triton.jit
def atomics(x, sums, least, most, bits, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0)
    tl.atomic_add(sums + values % 16, values, mask=inside)
    tl.atomic_min(least + values % 4, values, mask=inside)
    tl.atomic_max(most + values % 4, values, mask=inside)
    tl.atomic_or(bits + values * 0, 1 << (values % 31), mask=inside)


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(values, BINS, mask=at < n))


@triton.jit
def keep_greatest(a, b):
    return tl.maximum(a, b)


@triton.jit
def scans(x, sums, maxima, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + row)
    tl.store(sums + row, tl.cumsum(values, axis=0))
    tl.store(maxima + row, tl.associative_scan(values, 0, keep_greatest))


@triton.jit
def reductions(x, sums, maxima, places, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    values = tl.load(x + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(sums + rows, tl.sum(values, axis=1))
    tl.store(maxima + tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS), tl.max(values, axis=0))
    tl.store(places + rows, tl.argmax(values, axis=1))


@triton.jit
def gather(table, index, y, columns, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    at = tl.arange(0, BLOCK)
    inside = at < columns
    tl.store(y + tl.program_id(0) * columns + at, tl.load(table + row * columns + at, mask=inside), mask=inside)


@triton.jit
def gather_in_tile(x, index, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(y + at, tl.gather(tl.load(x + at), tl.load(index + at), axis=1))


@triton.jit
def rope(x, cosine, sine, y, heads, HALF: tl.constexpr):
    token, head = tl.program_id(0), tl.program_id(1)
    at = tl.arange(0, HALF)
    base = (token * heads + head) * 2 * HALF
    first = tl.load(x + base + at).to(tl.float32)
    second = tl.load(x + base + HALF + at).to(tl.float32)
    c, s = tl.load(cosine + token * HALF + at), tl.load(sine + token * HALF + at)
    tl.store(y + base + at, (first * c - second * s).to(tl.bfloat16))
    tl.store(y + base + HALF + at, (second * c + first * s).to(tl.bfloat16))


@triton.jit
def quantise(x, codes, scales, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(values), axis=0) / 448.0, 1e-12)
    tl.store(codes + row * columns + at, (values / scale).to(tl.float8e4nv), mask=at < columns)
    tl.store(scales + row, scale)


@triton.jit
def cross_entropy(logits, labels, losses, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    greatest = -float('inf')
    total = 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(logits + row * columns + at, mask=at < columns, other=-float('inf'))
        now = tl.maximum(greatest, tl.max(values, axis=0))
        total = total * tl.exp(greatest - now) + tl.sum(tl.exp(values - now), axis=0)
        greatest = now
    wanted = tl.load(logits + row * columns + tl.load(labels + row))
    tl.store(losses + row, tl.log(total) + greatest - wanted)


@triton.jit
def convolution(x, w, y, height, width, M: tl.constexpr, C: tl.constexpr, F: tl.constexpr):
    # 3 x 3 with a border of zeros, as nine products: a row of the left operand is a pixel.
    pixel = tl.program_id(0) * M + tl.arange(0, M)
    line, place = pixel // width, pixel % width
    channel, filter = tl.arange(0, C), tl.arange(0, F)
    total = tl.zeros((M, F), dtype=tl.float32)
    for position in range(9):
        i, j = line + position // 3 - 1, place + position % 3 - 1
        inside = (i >= 0) & (i < height) & (j >= 0) & (j < width) & (line < height)
        left = tl.load(x + (i * width + j)[:, None] * C + channel[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(left, tl.load(w + position * C * F + channel[:, None] * F + filter[None, :]), total)
    tl.store(y + pixel[:, None] * F + filter[None, :], total.to(tl.float16), mask=(line < height)[:, None])


@triton.jit
def transpose(x, y, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    tile = tl.load(x + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    tl.store(y + j[:, None] * rows + i[None, :], tl.trans(tile), mask=(j[:, None] < columns) & (i[None, :] < rows))


@triton.jit
def reverse(x, scratch, y, BLOCK: tl.constexpr, SAFE: tl.constexpr):
    # Through memory: other threads of the program read what one has written.
    at = tl.arange(0, BLOCK)
    tl.store(scratch + at, tl.load(x + at))
    if SAFE:
        tl.debug_barrier()
    tl.store(y + at, tl.load(scratch + (BLOCK - 1 - at)))


@triton.jit
def sort_rows(x, y, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(y + at, tl.sort(tl.load(x + at)))


@triton.jit
def largest(x, y, COLUMNS: tl.constexpr, K: tl.constexpr):
    values = tl.load(x + tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS))
    tl.store(y + tl.program_id(0) * K + tl.arange(0, K), tl.topk(values, K))


@triton.jit
def matmul_scaled(a, a_scales, b, b_scales, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        depth = first + tl.arange(0, K)
        blocks = first // 32 + tl.arange(0, K // 32)
        left = tl.load(a + rows[:, None] * k + depth[None, :])
        right = tl.load(b + columns[None, :] * k + depth[:, None])
        left_scales = tl.load(a_scales + rows[:, None] * (k // 32) + blocks[None, :])
        right_scales = tl.load(b_scales + columns[:, None] * (k // 32) + blocks[None, :])
        total = tl.dot_scaled(left, left_scales, 'e4m3', right, right_scales, 'e4m3', total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)
