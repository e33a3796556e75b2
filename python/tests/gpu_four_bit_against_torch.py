#!/usr/bin/env python3
"""tilewright.matmul_four_bit against torch on a GPU: random products of every layout, and the layer that vLLM would have.

usage: PYTHONPATH=python python3 python/tests/gpu_four_bit_against_torch.py [--problems 100] [--seed N]
With --virtual the products, small ones, run on the virtual GPU.

The weights are those of gpu_pack_weights_against_torch.py, which are numbers of 16 bits; activations are small integers. A sum of k products
in float32 is off by at most k * 2^-24 of the sum of magnitudes, and its rounding by 2^-8 (bf16) or 2^-11 (fp16) of itself. Of e4m3 the
tensor core keeps 13 bits below the largest of what it adds up: a row has four activations that are not 0, and as many sums are off by at
most 5 * 2^-13 of the magnitudes each.
"""
import sys
import types

import torch

import tilewright
import tilewright.vllm
import torch_script
from gpu_pack_weights_against_torch import E2M1, HALF, drawn

HALF_UNIT = {'bf16': 2.0 ** -8, 'fp16': 2.0 ** -11, 'e4m3': 2.0 ** -8}
OF_A = {**HALF, 'e4m3': torch.float8_e4m3fn}
OF_D = {**HALF, 'e4m3': torch.bfloat16}


def activations(shape, type):
    a = torch.randint(-2, 3, shape)
    if type == 'e4m3':
        chosen = torch.rand(shape).argsort(-1) < 4
        a = torch.where(chosen, a, 0)
    return a.to(OF_A[type])


def check_product(words, d, a, weights, type, bias=None):
    a, weights = a.to(d.device), weights.to(d.device)
    right = a.double() @ weights.mT + (0 if bias is None else bias.to(d.device).double())
    of_magnitudes = 20 * 2.0 ** -13 if type == 'e4m3' else a.shape[-1] * 2.0 ** -24
    bound = a.double().abs() @ weights.abs().mT * of_magnitudes + right.abs() * HALF_UNIT[type] + 2.0 ** -24
    wrong = ~((d.double() - right).abs() <= bound)
    if d.dtype != OF_D[type] or d.shape != right.shape or wrong.any():
        sys.exit(f'{words}: {tuple(d.shape)} {d.dtype}, {int(wrong.sum())} of {wrong.numel()} elements are wrong.')


def check_random_products(draw, device, wanted):
    layouts, refused = ('gptq', 'awq', 'compressed_tensors', 'mxfp4', 'gpt_oss', 'nvfp4'), 0
    for place in range(wanted):
        layout = layouts[place % len(layouts)]
        arguments, weights = drawn(draw, layout)
        given = {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
        packed = tilewright.pack_weights(layout=layout, **given)
        shape = (*weights.shape[:-2], draw.choice((1, 3, 16, 40, 200)), weights.shape[-1])
        a = activations(shape, packed.activation)
        words = f'{layout} {packed} by {tuple(shape)}'
        try:
            d = tilewright.matmul_four_bit(a.to(device), packed, weights_are_constant=draw.random() < 0.5)
        except tilewright.Unsupported as error:
            refused += 1
            if packed.group != 32 or not packed.format.startswith('int4'):
                sys.exit(f'{words} is refused: {error}')
            continue
        check_product(words, d, a, weights, packed.activation)
    print(f'{wanted - refused} products are right, {refused} of int4 in groups of 32 are refused')


def check_experts(draw, device, wanted):
    """MXFP4 in groups of rows, most of which may be empty; the rows behind the last are left alone. Some rows of bf16 are gathered, of others
    each expert has room for as many."""
    for place in range(wanted):
        experts, n, k = draw.choice((1, 3, 8, 60, 128)), draw.randrange(1, 300), 32 * draw.randrange(1, 20)
        sizes = [draw.choice((0, 0, 1, draw.randrange(2, 20), draw.randrange(2, 200 if experts < 9 else 40))) for _ in range(experts)]
        codes = torch.randint(0, 256, (experts, n, k // 2), dtype=torch.uint8)
        scales = torch.randint(125, 129, (experts, n, k // 32), dtype=torch.uint8)
        type = draw.choice(('bf16', 'e4m3'))
        codes, scales = codes.to(device), scales.to(device)
        packed = tilewright.pack_weights(codes, scales, layout='mxfp4', activation=type)
        weights = E2M1.to(device)[torch.stack((codes & 15, codes >> 4), -1).long()].view(experts, n, k)
        weights = weights * (2.0 ** (scales.double() - 127)).repeat_interleave(32, -1)
        kind = draw.choice(('plain', 'gathered', 'capacity') if type == 'bf16' else ('plain', 'capacity'))
        capacity = max(sizes) + draw.randrange(3) + 1 if kind == 'capacity' else 0
        m = experts * capacity if capacity else sum(sizes) + 3
        begins = [expert * capacity for expert in range(experts)] if capacity else [sum(sizes[:expert]) for expert in range(experts)]
        told = torch.tensor(sizes if capacity else [begin + size for begin, size in zip(begins, sizes)], dtype=torch.int32, device=device)
        a, out = activations((m, k), type).to(device), torch.full((m, n), 7.0, dtype=torch.bfloat16, device=device)
        used = torch.zeros(m, dtype=torch.bool, device=device)
        for begin, size in zip(begins, sizes):
            used[begin:begin + size] = True
        if kind == 'gathered':
            index = torch.randint(-1, m, (m,), dtype=torch.int32, device=device)
            tilewright.matmul_four_bit(a, packed, out, rows=told, row_index=index)
            a = torch.where((index < 0)[:, None], 0, a[index.clamp_min(0)])
        else:
            tilewright.matmul_four_bit(a, packed, out, rows=told, capacity=capacity)
        if not (out[~used] == 7).all():
            sys.exit(f'{experts} experts of {n} x {k}: rows of nobody were written.')
        for expert, (begin, size) in enumerate(zip(begins, sizes)):
            rows = slice(begin, begin + size)
            if size:
                check_product(f'{kind}, {sizes} rows of {n} x {k}, expert {expert}', out[rows], a[rows], weights[expert], type)
    print(f'{wanted} products of experts are right')


def check_products(draw, device, wanted):
    check_random_products(draw, device, wanted)
    check_experts(draw, device, wanted)


class Base:
    """What vLLM's MPLinearKernel does for its kernels."""

    def __init__(self, c, w_q, w_s, w_zp=None):
        self.config, self.w_q_name, self.w_s_name, self.w_zp_name = c, w_q, w_s, w_zp


def check_layer():
    """A layer of compressed-tensors and one of GPTQ, loaded and called as vLLM does."""
    kernel = tilewright.vllm.kernel_class(Base)
    n, k, group = 512, 1024, 128
    codes = torch.randint(0, 16, (n, k))
    scales = (torch.randint(1, 16, (n, k // group)) / 8).to(torch.bfloat16)
    weights = (codes - 8) * scales.double().repeat_interleave(group, -1)
    words = (codes.unflatten(-1, (-1, 8)) << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)
    config = types.SimpleNamespace(full_weight_shape=(k, n), partition_weight_shape=(k, n), weight_type='uint4b8', act_type=torch.bfloat16,
                                   group_size=group, zero_points=False, has_g_idx=False)
    for by_columns in (False, True):
        layer = torch.nn.Module()
        turned = lambda tensor: tensor.mT.contiguous() if by_columns else tensor
        layer.weight = torch.nn.Parameter(turned(words).cuda(), requires_grad=False)
        layer.scales = torch.nn.Parameter(turned(scales).cuda(), requires_grad=False)
        layer.weight.input_dim = 0 if by_columns else 1
        served, reason = kernel.can_implement(config)
        if not served:
            sys.exit(f'The layer is refused: {reason}')
        one = kernel(config, 'weight', 'scales')
        one.process_weights_after_loading(layer)
        x, bias = torch.randint(-2, 3, (2, 7, k)).to(torch.bfloat16), torch.randint(-8, 9, (n,)).to(torch.bfloat16)
        d = one.apply_weights(layer, x.cuda(), bias.cuda())
        check_product('the layer', d.flatten(0, 1), x.flatten(0, 1), weights, 'bf16', bias)
    print('layers as vLLM calls them are right')


if __name__ == '__main__':
    torch_script.run(100, check_products, check_layer)
