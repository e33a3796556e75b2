#!/usr/bin/env python3
"""tilewright.pack_weights on a GPU: random weights of every layout, held against torch.

usage: PYTHONPATH=python python3 python/tests/gpu_pack_weights_against_torch.py [--problems 200] [--seed N]
With --virtual the weights run on the virtual GPU.

Weights that torch reads from the arrays of a checkpoint are those that torch reads from the packed bytes, bit by bit. Scales are small
numbers of few bits, so that no product is rounded.
"""
import sys

import torch

import tilewright
import torch_script

E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0], dtype=torch.float64)
AWQ = [0, 2, 4, 6, 1, 3, 5, 7]
HALF = {'bf16': torch.bfloat16, 'fp16': torch.float16}


def words(codes):
    """int32, of eight in the last extent."""
    shifted = codes.long().unflatten(-1, (-1, 8)) << torch.arange(0, 32, 4)
    return shifted.sum(-1).to(torch.int32)  # which keeps the lowest 32 bits


def in_bytes(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).to(torch.uint8)


def unpacked(packed):
    """Weights as float64, by the words of layout/packed_weights.h."""
    *experts, n, k = packed.shape
    scale_bytes = {'mxfp4': 1, 'nvfp4': 1, 'int4': 2, 'int4_zeros': 4}[packed.format]
    record = 2 * (128 // packed.group) * scale_bytes
    rows, columns = -(-n // 64), -(-k // 128)
    blocks = packed.data.cpu().view(-1, 4096 + 32 * record)
    row, at = torch.meshgrid(torch.arange(64), torch.arange(128), indexing='ij')
    of_a_lane = 4 if packed.activation == 'e4m3' else 2  # of k, in a register
    thread = row // 16 * 32 + row % 8 * 4 + at % (4 * of_a_lane) // of_a_lane
    byte = at // 64 * 2048 + thread * 16 + at % 64 // (8 * of_a_lane) * 2 * of_a_lane
    pair, odd = row // 8 % 2 + at // 8 % 2 * 2, at % 2
    word = lambda byte: sum(blocks[:, byte + place].long() << 8 * place for place in range(4))
    bits = word(byte) >> 16 * odd & 0xFFFF
    scale = 4096 + (row // 16 * 8 + row % 8) * record + (2 * (at // packed.group) + row // 8 % 2) * scale_bytes
    if packed.format.startswith('int4'):
        half = lambda place: (blocks[:, place].int() | blocks[:, place + 1].int() << 8).to(torch.int16).view(HALF[packed.activation]).double()
        zeros = 8 if packed.format == 'int4' else half(scale + 2) - {'bf16': 128, 'fp16': 1024}[packed.activation]
        weights = ((bits >> 4 * pair & 15) - zeros) * half(scale)
    elif packed.activation == 'e4m3':
        bits, later, element = word(byte + row // 8 % 2 * 4), at // 16 % 2, at % 4
        codes = bits >> 16 * later + 4 * element & 7 | (bits >> 8 * element + 7 - 4 * later & 1) << 3
        weights = E2M1[codes] * 2.0 ** (blocks[:, scale].double() / 8 - 5 + packed.exponent)
    else:
        low = torch.tensor({'bf16': [6, 3, 0, 9], 'fp16': [9, 6, 3, 0]}[packed.activation])[pair]
        codes = bits >> low & 7 | (bits >> torch.tensor([15, 12, 14, 13])[pair] & 1) << 3
        stored = blocks[:, scale].double()
        if packed.format == 'nvfp4':
            scales = (8 + stored % 8) * 2.0 ** ((stored / 8).floor() - 24)
        elif packed.activation == 'bf16':
            scales = 2.0 ** (stored - 127 - 126 + packed.exponent)
        else:
            scales = 2.0 ** (stored / 8 - 15 - 14 + packed.exponent)
        weights = E2M1[codes] * torch.where(stored == 255, torch.nan, scales)
    whole = weights.view(-1, rows, columns, 64, 128).transpose(2, 3).reshape(-1, rows * 64, columns * 128)
    return whole[:, :n, :k].reshape(*experts, n, k)


def drawn(draw, layout):
    """Arguments of pack_weights, and the weights."""
    n, k = 8 * draw.randint(1, 40), 32 * draw.randint(1, 20)
    experts = draw.choice(((), (), (3,)))
    codes = torch.randint(0, 16, (*experts, n, k))
    if layout in ('mxfp4', 'gpt_oss'):
        scales = torch.randint(118, 130, (*experts, n, k // 32), dtype=torch.uint8)
        right = E2M1[codes] * 2.0 ** (scales.double() - 127).repeat_interleave(32, -1)
        packed = in_bytes(codes)
        return dict(codes=packed.unflatten(-1, (-1, 16)) if layout == 'gpt_oss' else packed, scales=scales,
                    activation=draw.choice(('bf16', 'fp16', 'e4m3'))), right
    if layout == 'nvfp4':
        scales = (torch.randint(-64, 64, (*experts, n, k // 16)) / 16).to(torch.float8_e4m3fn)
        return dict(codes=in_bytes(codes), scales=scales), E2M1[codes] * scales.double().repeat_interleave(16, -1)
    group = draw.choice([group for group in (32, 64, 128, k) if k % group == 0])
    dtype = HALF[draw.choice(('bf16', 'fp16'))]
    scales = (torch.randint(1, 16, (*experts, n, k // group)) / 8).to(dtype)
    with_zeros = draw.random() < 0.6
    zeros = torch.randint(0, 16, (*experts, n, k // group)) if with_zeros else torch.full((*experts, n, k // group), 8)
    offset = 1 if layout == 'gptq' and with_zeros else 0
    right = (codes - (zeros + offset).repeat_interleave(group, -1)) * scales.double().repeat_interleave(group, -1)
    if layout == 'compressed_tensors':
        arrays = words(codes), scales, words(zeros.mT).mT
    elif layout == 'awq':
        order = lambda given: given.mT.unflatten(-1, (-1, 8))[..., AWQ].flatten(-2)  # [k.., n] with AWQ's order in eights
        arrays = words(order(codes)), scales.mT, words(order(zeros))
    else:
        arrays = words(codes).mT, scales.mT, words(zeros.mT)
    arrays = [array.contiguous() for array in arrays]
    return dict(codes=arrays[0], scales=arrays[1], zeros=arrays[2] if with_zeros else None), right


def check_random_weights(draw, device, wanted):
    layouts = ('gptq', 'gptq_v2', 'awq', 'compressed_tensors', 'mxfp4', 'gpt_oss', 'nvfp4')
    for place in range(wanted):
        layout = layouts[place % len(layouts)]
        arguments, right = drawn(draw, layout)
        given = {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
        packed = tilewright.pack_weights(layout=layout, **given)
        made = unpacked(packed)
        if not torch.equal(made, right):
            first = (made != right).nonzero()[0].tolist()
            sys.exit(f'{layout} {packed}: {int((made != right).sum())} weights differ, the first at {first}: {made[tuple(first)]} instead of '
                     f'{right[tuple(first)]}')
    print(f'{wanted} weights are packed')


def check_far_scales():
    """Who asks for an exponent that does not hold all scales is told so."""
    codes = torch.full((64, 64), 0x11, dtype=torch.uint8, device='cuda')
    scales = torch.full((64, 4), 127, dtype=torch.uint8, device='cuda')
    scales[3, 1] = 140
    try:
        tilewright.pack_weights(codes, scales, layout='mxfp4', exponent=0)
    except tilewright.Unsupported as refused:
        print(f'refused: {refused}')
    else:
        sys.exit('A scale of 2^13 was packed with exponent 0.')


if __name__ == '__main__':
    torch_script.run(200, check_random_weights, check_far_scales)
