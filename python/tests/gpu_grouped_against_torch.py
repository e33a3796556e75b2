#!/usr/bin/env python3
"""tilewright.matmul_grouped against torch on a GPU, in bf16 and in FP8 with scales of blocks: random groups, and a graph whose sizes change.

usage: PYTHONPATH=python python3 python/tests/gpu_grouped_against_torch.py [--problems 120] [--seed N]
With --virtual the random groups, small ones, run on the virtual GPU, and nothing else does.

Groups of no row, of one, and one with most of them; one behind the other, with a capacity, or gathered by an index. Each group is held against
torch's product in float64. Half of the products are of small integers (FP8: with scales that are powers of two), whose sums are exact, and
are compared bitwise. The others are normal, FP8 as tilewright.quantise_blocks leaves it, and held to the errors that gpu_against_torch.py and
gpu_blockwise_against_torch.py derive. Rows of no group must be left as they were.
"""
import collections
import sys

import torch

import tilewright
import torch_script
from gpu_blockwise_against_torch import BF16, E4M3, wide

MARK = 77.0  # what rows of no group hold


class Problem:
    def __init__(self, draw, device):
        on_host = device == 'cpu'
        self.groups = draw.choice((1, 3, 8) if on_host else (1, 3, 8, 64))
        ordinary, most = (20, 200) if on_host else (200, 6000)
        self.sizes = [draw.choice((0, 1, draw.randint(2, ordinary))) for _ in range(self.groups)]
        if draw.random() < 0.7:
            self.sizes[draw.randrange(self.groups)] = draw.randint(most // 2, most)
        self.n, self.k = (16 * draw.randint(1, 12 if on_host else 40) for _ in range(2))
        self.fp8, self.exact = draw.random() < 0.5, draw.random() < 0.5
        self.kind = draw.choice(('lying', 'capacity', 'gathered'))
        if self.kind == 'capacity':
            self.sizes = [min(size, 4 * ordinary) for size in self.sizes]
        self.a_rows = draw.randint(1, 2 * ordinary)
        self.column_major = draw.random() < 0.5
        self.device, self.draw = device, draw

    def __str__(self):
        return (f'{"fp8" if self.fp8 else "bf16"} {self.kind} {"exact" if self.exact else "normal"}, sizes {self.sizes}, n {self.n}, '
                f'k {self.k}, {self.a_rows} rows to gather from, column_major {self.column_major}')

    def numbers(self, *shape):
        drawn = torch.randint(-2, 3, shape, device=self.device).float() if self.exact else torch.randn(shape, device=self.device)
        return drawn.to(BF16)

    def scaled(self, x, scale_rows):
        """The operand, its scales (None: bf16), and both in float64."""
        if not self.fp8:
            return x, None, x.double()
        if self.exact:
            elements = x.float().to(E4M3)
            lines = -(-x.shape[-2] // scale_rows), -(-x.shape[-1] // 128)
            scales = 2.0 ** torch.randint(-2, 3, (*x.shape[:-2], *lines), device=self.device)
        else:
            elements, scales = tilewright.quantise_blocks(x, scale_rows=scale_rows, column_major=self.column_major and scale_rows == 1)
        return elements, scales, wide(elements, scales, scale_rows)

    def run(self):
        """The result, where it must be left alone, the products in float64, and their errors."""
        spare, capacity = self.draw.randint(0, 5), max(self.sizes) + self.draw.randint(0, 3)
        rows = sum(self.sizes) + spare
        shape = {'lying': (rows,), 'capacity': (self.groups, max(capacity, 1)), 'gathered': (self.a_rows,)}[self.kind]
        a, a_scales, a_wide = self.scaled(self.numbers(*shape, self.k), 1)
        w, w_scales, w_wide = self.scaled(self.numbers(self.groups, self.n, self.k), 128)
        sizes = torch.tensor(self.sizes, device=self.device)
        ends = sizes.cumsum(0)
        given = dict(a_scales=a_scales, b_scales=None if w_scales is None else w_scales.mT)
        if self.kind == 'gathered':
            index = torch.randint(-1, self.a_rows, (rows,), dtype=torch.int32, device=self.device)
            given['row_index'] = index
            a_wide = torch.where((index >= 0)[:, None], a_wide[index.clamp(min=0)], 0.0)
        out = torch.full((*(shape if self.kind == 'capacity' else (rows,)), self.n), MARK, dtype=BF16, device=self.device)
        counts = sizes if self.kind == 'capacity' else ends
        tilewright.matmul_grouped(a, w.mT, counts.to(torch.int32), out, **given)
        value, magnitude = torch.full_like(out, MARK, dtype=torch.float64), torch.zeros_like(out, dtype=torch.float64)
        for group, size in enumerate(self.sizes):
            first = 0 if self.kind == 'capacity' else int(ends[group]) - size
            place = (group, slice(size)) if self.kind == 'capacity' else slice(first, first + size)
            value[place] = a_wide[place] @ w_wide[group].mT
            magnitude[place] = a_wide[place].abs() @ w_wide[group].abs().mT
        blocks = -(-self.k // 128)
        part = 8 * 20 * 2.0**-13 + (blocks + 8) * 2.0**-24 if self.fp8 else -(-self.k // 8) * 12 * 2.0**-24
        return out, value, magnitude * (0.0 if self.exact else part)


def check_random_groups(draw, device, wanted):
    done, refused = collections.Counter(), collections.Counter()
    while sum(done.values()) < wanted:
        problem = Problem(draw, device)
        try:
            out, value, error = problem.run()
        except tilewright.Unsupported as refusal:
            refused[str(refusal)[:160]] += 1
            if sum(refused.values()) > wanted:
                sys.exit(f'More is refused than computed: {refused.most_common(3)}')
            continue
        low, high = (value - error).to(BF16), (value + error).to(BF16)
        wrong = (~((out >= low) & (out <= high))).nonzero()
        if len(wrong):
            where = tuple(wrong[0].tolist())
            sys.exit(f'{problem}: {len(wrong)} elements are wrong, the first at {where}: {out[where].item()}, not between '
                     f'{low[where].item()} and {high[where].item()}')
        done[f'{"fp8" if problem.fp8 else "bf16"} {problem.kind}'] += 1
    print(f'{wanted} products are right: {dict(done)}; {sum(refused.values())} were refused: {refused.most_common(3)}')


def captured():
    """One graph serves whatever sizes are in memory when it is replayed."""
    a, w = torch.randint(-2, 3, (1000, 512), device='cuda').to(BF16), torch.randint(-2, 3, (4, 256, 512), device='cuda').to(BF16)
    ends = torch.zeros(4, dtype=torch.int32, device='cuda')
    graph = torch.cuda.CUDAGraph()
    out = torch.empty(1000, 256, dtype=BF16, device='cuda')
    with torch.cuda.graph(graph):
        tilewright.matmul_grouped(a, w.mT, ends, out)
    for sizes in ([1000, 0, 0, 0], [0, 1, 998, 1], [250] * 4):
        ends.copy_(torch.tensor(sizes).cumsum(0))
        out.fill_(MARK)
        graph.replay()
        expected = torch.cat([rows.double() @ weight.double().mT for rows, weight in zip(a.split(sizes), w)]).to(BF16)
        if not torch.equal(out, expected):
            sys.exit(f'A captured product with groups of {sizes} is wrong.')
    print('captured products with three sets of sizes are exact')


if __name__ == '__main__':
    torch_script.run(120, check_random_groups, captured)
