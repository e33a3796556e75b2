#!/usr/bin/env python3
"""tilewright.quantise_blocks against torch on a GPU, then through tilewright.matmul_blockwise: random matrices, a compiled layer, a graph.

usage: PYTHONPATH=python python3 python/tests/gpu_quantise_against_torch.py [--problems 200] [--seed N]
With --virtual the random matrices, small ones, run on the virtual GPU, and nothing else does.

Elements and scales are held bitwise against the definition, which torch computes in float32 on the host. Products are held twice against
float64: that of the elements times their scales, with the error that gpu_blockwise_against_torch.py derives; and that of x and w as
they were. An e4m3 element of a block is off by 2^-4 of itself, or by half of the smallest, 2^-10 of the scale; making it takes two float32
roundings of 2^-24.
"""
import sys

import torch

import tilewright
import torch_script
from gpu_blockwise_against_torch import BF16, E4M3, E5M2, wide

LARGEST = {E4M3: 448.0, E5M2: 57344.0}


def quantised(x, scale_rows, dtype, powers_of_two):
    """The definition, on the host."""
    m, k = x.shape[-2:]
    padded = torch.nn.functional.pad(x.float(), (0, -k % 128, 0, -m % scale_rows))
    blocks = padded.unflatten(-1, (-1, 128)).unflatten(-3, (-1, scale_rows))  # [.., lines, rows, blocks, 128]
    amax = blocks.abs().amax((-1, -3))
    # Not by a number, which torch may turn into a product with its inverse.
    scales = torch.where(amax == 0, 1.0, amax / torch.full_like(amax, LARGEST[dtype]))
    if powers_of_two:
        fraction, exponent = torch.frexp(scales)
        scales = torch.ldexp(torch.ones_like(scales), exponent - (fraction == 0.5).int())
    inverse = (1 / scales).unsqueeze(-2).unsqueeze(-1)
    return (blocks * inverse).flatten(-2).flatten(-3, -2)[..., :m, :k].to(dtype), scales


def check_random_matrices(draw, device, wanted):
    for _ in range(wanted):
        on_host = device == 'cpu'
        extent = lambda: draw.randint(*draw.choice([(1, 16), (17, 300)] if on_host else [(1, 16), (17, 300), (301, 3000)]))
        batch = draw.choice(((), (), (3,), (2, 2)))
        source = draw.choice((BF16, torch.float16, torch.float32))
        scale_rows, dtype, powers_of_two = draw.choice((1, 128)), draw.choice((E4M3, E5M2)), draw.random() < 0.3
        column_major = draw.random() < 0.5
        x = torch.randn(*batch, extent(), extent()) * 2.0 ** draw.randint(-8, 4)
        x[..., :1, :] *= draw.choice((0.0, 1.0, 16.0))
        x = x.to(source)
        made = tilewright.quantise_blocks(x.to(device), scale_rows=scale_rows, out_dtype=dtype, column_major=column_major,
                                          powers_of_two=powers_of_two)
        right = quantised(x, scale_rows, dtype, powers_of_two)
        same = [torch.equal(made[0].cpu().view(torch.uint8), right[0].view(torch.uint8)), torch.equal(made[1].cpu(), right[1])]
        if not all(same) or (column_major and made[1].stride(-2) != 1):
            sys.exit(f'{tuple(x.shape)} {source} to {dtype}, scale_rows {scale_rows}, column_major {column_major}, powers_of_two '
                     f'{powers_of_two}: elements and scales are right: {same}')
    print(f'{wanted} matrices are quantised bit by bit as torch does')


def layer(x, w, column_major=True, scale_rows=128):
    x_elements, x_scales = tilewright.quantise_blocks(x, column_major=column_major)
    w_elements, w_scales = tilewright.quantise_blocks(w, scale_rows=scale_rows)
    return tilewright.matmul_blockwise(x_elements, w_elements.mT, x_scales, w_scales.mT)


def bounds_of_elements(x, w, scale_rows):
    """The least and the greatest product of the elements times their scales."""
    (x_elements, x_scales), (w_elements, w_scales) = quantised(x.cpu(), 1, E4M3, False), quantised(w.cpu(), scale_rows, E4M3, False)
    device = x.device
    a, b = wide(x_elements.to(device), x_scales.to(device), 1), wide(w_elements.to(device), w_scales.to(device), scale_rows)
    error = a.abs() @ b.abs().mT * (8 * 20 * 2.0**-13 + (x_scales.shape[-1] + 8) * 2.0**-24)
    off = lambda exact, scales, rows: (exact.double().abs() * (2.0**-4 + 2.0**-22)
                                       + 2.0**-10 * wide(torch.ones_like(exact), scales.to(device), rows))
    x_off, w_off = off(x, x_scales, 1), off(w, w_scales, scale_rows)
    lost = x_off @ w.double().abs().mT + (x.double().abs() + x_off) @ w_off.mT
    return a @ b.mT, error, x.double() @ w.double().mT, lost


def check_products(draw, device, wanted):
    for _ in range(wanted):
        on_host = device == 'cpu'
        batch = draw.choice(((), (), (3,)))
        m, n = (draw.randint(1, 60 if on_host else 600) for _ in range(2))
        k = 16 * draw.randint(1, 30 if on_host else 200)
        scale_rows, column_major = draw.choice((128, 128, 1)), draw.random() < 0.5
        x, w = torch.randn(*batch, m, k, device=device).to(BF16), torch.randn(n, k, device=device).to(BF16)
        d = layer(x, w, column_major, scale_rows)
        value, error, exact, lost = bounds_of_elements(x, w, scale_rows)
        cast = d.double().abs() * 2.0**-8
        for what, right, bound in (('the elements', value, error), ('x and w', exact, lost + error)):
            wrong = ~((d.double() - right).abs() <= bound + cast)
            if wrong.any() or d.shape != right.shape:
                sys.exit(f'{tuple(x.shape)} by {n}, scale_rows {scale_rows}: {wrong.sum()} elements are not the product of {what}.')
    print(f'{wanted} products of quantised matrices are right')


def compiled_and_captured():
    for m in (8, 512):
        x, w = torch.randn(m, 2048, device='cuda', dtype=BF16), torch.randn(1024, 2048, device='cuda', dtype=BF16)
        expected = layer(x, w)
        torch_script.check_compiled_and_captured(f' of {m} rows', layer, (x, w), expected)
    print('compiled and captured layers are as eager ones')


def check(draw, device, problems):
    check_random_matrices(draw, device, problems)
    check_products(draw, device, problems // 4)


if __name__ == '__main__':
    torch_script.run(200, check, compiled_and_captured)
