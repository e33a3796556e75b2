#!/usr/bin/env python3
"""tilewright.matmul_blockwise against torch on a GPU: random products, a compiled layer, a graph.

usage: PYTHONPATH=python python3 python/tests/gpu_blockwise_against_torch.py [--problems 300] [--seed N]
With --virtual the random products, small ones, run on the virtual GPU, and nothing else does.

Two of three products are of small integers with scales that are powers of two: sums are exact, and results are held bitwise against
float64, cast. The others are normal, with any scales. There the tensor core takes 16 products at once, aligns them and the sum to the
largest, cuts each at 2^-13 of it and the new sum at no more than twice that: 128 products are off by less than 8 * 20 * 2^-13 of the sum of
their magnitudes. Scales, blocks and parts of a sum add a float32 rounding each, of 2^-24. An element is right when it lies between
the casts of value - error and value + error.
"""
import collections
import sys

import torch

import tilewright
import torch_script

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
BF16, FP32 = torch.bfloat16, torch.float32


def wide(tensor, scales, rows):
    """A tensor of rows by k in float64, times the scales of its blocks, each of `rows` rows and 128 of k."""
    spread = scales.double().repeat_interleave(rows, -2).repeat_interleave(128, -1)
    return tensor.float().double() * spread[..., :tensor.shape[-2], :tensor.shape[-1]]


class Problem:
    def __init__(self, draw, device):
        on_host = device == 'cpu'
        extent = lambda: draw.randint(*draw.choice([(1, 16), (17, 150), (100, 300)] if on_host else [(1, 16), (17, 300), (301, 2000)]))
        m, n, k = extent(), extent(), 16 * draw.randint(1, 20 if on_host else 300)
        self.b_rows = draw.choice((128, 128, 128, 1))
        a_type, self.out_dtype = (E4M3, BF16) if self.b_rows == 128 else (E5M2, FP32)
        self.exact = draw.random() < 0.67
        batch = draw.choice(((), (), (), (2,)))
        blocks = -(-k // 128)
        self.a, self.w = self.operand(device, *batch, m, k).to(a_type), self.operand(device, n, k).to(E4M3)
        self.a_scales = self.scales(draw, device, *batch, m, blocks)
        self.w_scales = self.scales(draw, device, -(-n // self.b_rows), blocks)
        self.bias = torch.randint(-3, 4, (n,), device=device).float() if draw.random() < 0.4 else None
        self.source = torch.randint(-3, 4, (*batch, m, n), device=device).to(BF16) if draw.random() < 0.3 else None
        self.words = (f'{tuple(self.a.shape)} by {n}, b_rows {self.b_rows}, exact {self.exact}, strides of scales {self.a_scales.stride()} '
                      f'{self.w_scales.stride()}, bias {self.bias is not None}, source {self.source is not None}')

    def operand(self, device, *shape):
        return torch.randint(-2, 3, shape, device=device).float() if self.exact else torch.randn(shape, device=device)

    def scales(self, draw, device, *shape):
        scales = (2.0 ** torch.randint(-2, 3, shape, device=device)) if self.exact else torch.rand(shape, device=device) * 2 + 0.001
        return scales.mT.contiguous().mT if draw.random() < 0.5 else scales

    def result(self):
        return tilewright.matmul_blockwise(
            self.a, self.w.mT, self.a_scales, self.w_scales.mT, out_dtype=self.out_dtype,
            epilogue=tilewright.Epilogue(bias=self.bias, source=self.source))

    def bounds(self):
        """The least and the greatest value, as they are stored."""
        a, w = wide(self.a, self.a_scales, 1), wide(self.w, self.w_scales, self.b_rows)
        value, magnitude = a @ w.mT, a.abs() @ w.abs().mT
        roundings = self.a_scales.shape[-1] + 8
        error = torch.zeros_like(value) if self.exact else magnitude * (8 * 20 * 2.0**-13 + roundings * 2.0**-24)
        for side in (self.bias, self.source):
            if side is not None:
                value = value + side.double()
                if not self.exact:
                    error = error + (value.abs() + side.double().abs()) * 2.0**-23
        return (value - error).to(self.out_dtype), (value + error).to(self.out_dtype)


def check_random_problems(draw, device, wanted):
    done, exact, refused = 0, 0, collections.Counter()
    while done < wanted:
        problem = Problem(draw, device)
        try:
            d = problem.result()
        except tilewright.Unsupported as error:
            refused[str(error)[:160]] += 1
            if sum(refused.values()) > wanted:
                sys.exit(f'More is refused than computed: {refused.most_common(3)}')
            continue
        low, high = problem.bounds()
        wrong = ((d < low) | (d > high) | d.isnan()).nonzero()
        if d.dtype != low.dtype or d.shape != low.shape or len(wrong):
            where = tuple(wrong[0].tolist()) if len(wrong) else None
            values = (d[where].item(), low[where].item(), high[where].item()) if where else (d.dtype, d.shape)
            sys.exit(f'{problem.words}: {len(wrong)} elements are wrong, the first at {where}: {values}')
        done += 1
        exact += problem.exact
    print(f'{done} products are right, {exact} of them exact; {sum(refused.values())} were refused: {refused.most_common(3)}')


def layer(a, w, a_scales, w_scales, bias):
    return tilewright.matmul_blockwise(a, w.mT, a_scales, w_scales.mT, epilogue=tilewright.Epilogue(bias=bias, activation='relu'))


def compiled_and_captured():
    for m in (8, 512):
        a, w = torch.randint(-2, 3, (m, 2048), device='cuda').float().to(E4M3), torch.randint(-2, 3, (1024, 2048), device='cuda').float().to(E4M3)
        a_scales, w_scales = 2.0 ** torch.randint(-2, 3, (m, 16), device='cuda'), 2.0 ** torch.randint(-2, 3, (8, 16), device='cuda')
        bias = torch.randint(-3, 4, (1024,), device='cuda').float()
        expected = torch.relu(wide(a, a_scales, 1) @ wide(w, w_scales, 128).mT + bias).to(BF16)
        torch_script.check_compiled_and_captured(f' of {m} rows', layer, (a, w, a_scales, w_scales, bias), expected)
    print('compiled and captured layers are exact')


if __name__ == '__main__':
    torch_script.run(300, check_random_problems, compiled_and_captured)
