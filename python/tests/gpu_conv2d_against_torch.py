#!/usr/bin/env python3
"""tilewright.conv2d against torch on a GPU: random convolutions and their gradients, a compiled layer, a graph.

usage: PYTHONPATH=python python3 python/tests/gpu_conv2d_against_torch.py [--problems 200] [--seed N]
With --virtual the random convolutions run on the virtual GPU, and nothing else does.

Operands are small integers, so that sums are exact, and results are held bitwise against torch's convolution in float64, cast.
"""
import collections
import sys

import torch

import tilewright
import torch_script

BF16, FP16 = torch.bfloat16, torch.float16


def integers(device, *shape, dtype=BF16):
    return torch.randint(-3, 4, shape, device=device).to(dtype)


def right(x, w, epilogue, steps):
    d = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), w.double().permute(0, 3, 1, 2),
                                   **steps).permute(0, 2, 3, 1)
    if epilogue.bias is not None:
        d = d + epilogue.bias.double()
    if epilogue.source is not None:
        d = d + epilogue.source.double()
    return (torch.relu(d) if epilogue.activation == 'relu' else d).to(x.dtype)


def check_random_problems(draw, device, wanted):
    done, refused = 0, collections.Counter()
    most = 12 if device == 'cpu' else 60
    while done < wanted:
        dtype = draw.choice((BF16, BF16, FP16))
        r, s = draw.randint(1, 5), draw.randint(1, 5)
        h, width = draw.randint(r, most), draw.randint(s, most)
        groups = draw.choice((1, 1, 1, 2, 4))
        c = groups * draw.choice((1, 3, 8, 16, 40, 64, 72))
        k = groups * draw.randint(1, 130 if device != 'cpu' else 20)
        steps = dict(stride=(draw.randint(1, 3), draw.randint(1, 3)), padding=(draw.randint(0, 2), draw.randint(0, 2)),
                     groups=groups)
        x, w = integers(device, draw.randint(1, 4), h, width, c, dtype=dtype), integers(device, k, r, s, c // groups, dtype=dtype)
        epilogue = tilewright.Epilogue(activation=draw.choice((None, 'relu')))
        epilogue.bias = integers(device, k, dtype=torch.float32) if draw.random() < 0.5 else None
        shape = right(x, w, tilewright.Epilogue(), steps).shape
        epilogue.source = integers(device, *shape, dtype=dtype) if draw.random() < 0.5 else None
        words = f'{dtype} {tuple(x.shape)} by {tuple(w.shape)}, {steps}, bias {epilogue.bias is not None}, source {epilogue.source is not None}'
        try:
            d = tilewright.conv2d(x, w, epilogue=epilogue, **steps)
        except tilewright.Unsupported as error:
            refused[str(error)[:120]] += 1
            if sum(refused.values()) > wanted:
                sys.exit(f'More is refused than computed: {refused.most_common(3)}')
            continue
        expected = right(x, w, epilogue, steps)
        if d.dtype != expected.dtype or not torch.equal(d, expected):
            wrong = (d != expected).nonzero()
            sys.exit(f'{words}: {len(wrong)} elements are wrong, the first at {wrong[0].tolist()}')
        if done % 2 == 0:
            check_gradients(x, w, steps, words)
        done += 1
    print(f'{done} convolutions are exact; {sum(refused.values())} were refused: {refused.most_common(3)}')


def gradients(function, x, w):
    x, w = x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_()
    d = function(x, w)
    # Few of them, so that sums of many pixels are still integers of the type.
    weights = torch.arange(d.numel(), device=d.device).reshape(d.shape) % 97 == 0
    (d * weights).sum().backward()
    return x.grad, w.grad


def check_gradients(x, w, steps, words):
    """Of both operands, in groups, too."""
    ours = gradients(lambda x, w: tilewright.conv2d(x, w, **steps), x, w)
    exact = gradients(lambda x, w: right(x, w, tilewright.Epilogue(), steps), x.double(), w.double())
    for name, given, true in zip('xw', ours, exact):
        if given.dtype != x.dtype or not torch.equal(given, true.to(x.dtype)):
            wrong = (given != true.to(x.dtype)).nonzero()
            sys.exit(f'{words}: the gradient of {name} has {len(wrong)} wrong elements, the first at {wrong[0].tolist()}')


def layer(x, w, bias, residual):
    return tilewright.conv2d(x, w, padding=1, epilogue=tilewright.Epilogue(bias=bias, residual=residual, activation='relu'))


def compiled_and_captured():
    x, w = integers('cuda', 8, 28, 28, 64), integers('cuda', 64, 3, 3, 64)
    bias, residual = integers('cuda', 64), integers('cuda', 8, 28, 28, 64)
    epilogue = tilewright.Epilogue(bias=bias, residual=residual, activation='relu')
    expected = right(x, w, epilogue, dict(padding=1))
    torch_script.check_compiled_and_captured('', layer, (x, w, bias, residual), expected)
    print('compiled and captured layers are exact')


if __name__ == '__main__':
    torch_script.run(200, check_random_problems, compiled_and_captured)
