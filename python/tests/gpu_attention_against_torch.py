#!/usr/bin/env python3
"""tilewright.attention and attention_paged against torch on a GPU: random problems, and a compiled model of two layers.

usage: PYTHONPATH=python python3 python/tests/gpu_attention_against_torch.py [--problems 300] [--seed N]
With --virtual the random problems, small ones, run on the virtual GPU, and nothing else does.

Problems have lengths of 0 and 1, windows, capped scores, sinks, heads that share keys, sequences packed and in pages, whose
unused rows are NaN. Each is held against softmax in float64; its error may be 1.25 times that of the same sums by torch in
the type of the operands, or two roundings of the largest output where that is more. In the model, tilewright.attention takes
the place of scaled_dot_product_attention; its hidden states are compared with those of float32.
"""
import collections
import math
import sys

import torch
import torch.nn.functional as functional

import tilewright
import torch_script


def scores_of(q, k, given, dtype):
    """(head,query,key) of one sequence, by torch in `dtype`, and minus infinity where a query does not see a key."""
    ratio = q.shape[1] // k.shape[1]
    q, k = q.to(dtype).transpose(0, 1), k.to(dtype).repeat_interleave(ratio, 1).transpose(0, 1)
    scores = (q @ k.mT).to(torch.promote_types(dtype, torch.float32)) * given.get('scale', 1 / math.sqrt(q.shape[-1]))
    if given.get('softcap'):
        scores = given['softcap'] * torch.tanh(scores / given['softcap'])
    if given.get('causal'):
        queries, keys = scores.shape[1:]
        behind = torch.arange(keys, device=q.device) - (torch.arange(queries, device=q.device) + keys - queries)[:, None]
        scores = scores.masked_fill(behind > 0, -math.inf)
        if given.get('window'):
            scores = scores.masked_fill(behind <= -given['window'], -math.inf)
    return scores


def attended(q, k, v, given, dtype):
    """(token,head,column) of one sequence; a query that sees nothing gives zeros."""
    scores = scores_of(q, k, given, dtype)
    sinks = given.get('sinks')
    if sinks is not None:
        column = sinks.to(scores.dtype)[:, None, None].expand(-1, scores.shape[1], 1)
        scores = torch.cat([scores, column], -1)
    weights = torch.softmax(scores, -1).nan_to_num(0.0)[..., :k.shape[0]] if scores.shape[-1] else scores
    ratio = q.shape[1] // k.shape[1]
    return (weights.to(dtype) @ v.to(dtype).repeat_interleave(ratio, 1).transpose(0, 1)).transpose(0, 1)


class Problem:
    def __init__(self, draw, device):
        most = 150 if device == 'cpu' else 3000
        self.kind = draw.choice(('equal', 'by head', 'packed', 'paged'))
        self.dtype = draw.choice((torch.bfloat16, torch.bfloat16, torch.float16))
        self.columns, self.values = draw.choice(((128, 128), (64, 64), (96, 96), (128, 64), (192, 128), (256, 256)))
        self.key_heads = draw.choice((1, 2, 3))
        self.heads = self.key_heads * draw.choice((1, 2, 4, 5))
        self.sequences = draw.choice((1, 2, 3))
        self.page = draw.choice((8, 16, 64, 128, 256))
        few = self.kind == 'paged'

        def length(largest):
            return draw.choice((0, 1, draw.randint(2, largest), draw.randint(2, largest)))
        same = length(8 if few else most), length(most)
        self.lengths = [(same[0] if self.kind != 'packed' else length(most),
                         same[1] if self.kind in ('equal', 'by head') else length(most)) for _ in range(self.sequences)]
        self.given = dict(causal=draw.random() < 0.6)
        if self.given['causal'] and draw.random() < 0.4:
            self.given['window'] = draw.randint(1, most // 2)
        if draw.random() < 0.2:
            self.given['softcap'] = draw.choice((2.0, 30.0))
        if draw.random() < 0.2:
            self.given['scale'] = draw.choice((0.02, 0.3))
        if draw.random() < 0.25 and self.kind != 'by head':
            self.given['sinks'] = torch.randn(self.heads, device=device)
        self.device, self.draw = device, draw

    def __str__(self):
        words = {name: value for name, value in self.given.items() if name != 'sinks'}
        return (f'{self.kind} {self.dtype}, lengths {self.lengths}, heads {self.heads} / {self.key_heads}, columns '
                f'{self.columns} / {self.values}, pages of {self.page}, {words}{", sinks" * ("sinks" in self.given)}')

    def normal(self, *shape):
        return torch.randn(shape, device=self.device).to(self.dtype)

    def integers(self, numbers):
        return torch.tensor(numbers, dtype=torch.int32, device=self.device)

    def run(self):
        """Sequences' (q, k, v), and what came out of them."""
        sizes = ((self.heads, self.columns), (self.key_heads, self.columns), (self.key_heads, self.values))
        lengths = [(queries, keys, keys) for queries, keys in self.lengths]
        parts = [[self.normal(tokens, *size) for tokens, size in zip(of, sizes)] for of in lengths]
        if self.kind == 'paged':
            return parts, self.paged(parts)
        if self.kind == 'packed':
            ends = self.integers(self.lengths).cumsum(0, dtype=torch.int32)
            output = tilewright.attention(*(torch.cat(all_of) for all_of in zip(*parts)), query_ends=ends[:, 0].contiguous(),
                                          key_ends=ends[:, 1].contiguous(), **self.given)
            return parts, output.split([queries for queries, _ in self.lengths])
        stacked = [torch.stack(all_of) for all_of in zip(*parts)]
        if self.kind == 'by head':
            stacked = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in stacked]
        return parts, tilewright.attention(*stacked, **self.given)

    def paged(self, parts):
        room = -(-max(keys for _, keys in self.lengths) // self.page) + 1
        pages = self.sequences * room + 1
        order = list(range(pages))
        self.draw.shuffle(order)
        table = self.integers(order[:self.sequences * room]).view(self.sequences, room)
        by_head, caches = self.draw.random() < 0.5, []
        for which in (1, 2):
            columns = parts[0][which].shape[-1]
            cache = torch.full((pages, self.page, self.key_heads, columns), math.nan, device=self.device, dtype=self.dtype)
            for sequence, part in enumerate(parts):
                for first in range(0, len(part[which]), self.page):
                    rows = part[which][first:first + self.page]
                    cache[table[sequence, first // self.page], :len(rows)] = rows
            caches.append(cache.transpose(1, 2).contiguous().transpose(1, 2) if by_head else cache)
        return tilewright.attention_paged(torch.stack([part[0] for part in parts]), *caches, table,
                                          self.integers([keys for _, keys in self.lengths]), **self.given)


def check_random_problems(draw, device, wanted):
    done, refused = collections.Counter(), collections.Counter()
    while sum(done.values()) < wanted:
        problem = Problem(draw, device)
        try:
            parts, outputs = problem.run()
        except tilewright.Unsupported as refusal:
            refused[str(refusal)[:160]] += 1
            if sum(refused.values()) > 2 * wanted:
                sys.exit(f'More is refused than computed: {refused.most_common(3)}')
            continue
        for part, output in zip(parts, outputs):
            exact = attended(*part, problem.given, torch.float64)
            rounded = attended(*part, problem.given, problem.dtype)
            largest = exact.abs().max().item() if exact.numel() else 0.0
            unit = torch.finfo(problem.dtype).eps
            allowed = max(1.25 * (rounded.double() - exact).abs().max().item() if exact.numel() else 0.0, 2 * unit * largest)
            error = (output.double() - exact).abs().nan_to_num(math.inf).max().item() if exact.numel() else 0.0
            if not error <= allowed:
                sys.exit(f'{problem}: errs by {error:.3e}, of which {allowed:.3e} are allowed')
        done[problem.kind] += 1
    print(f'{wanted} problems are right: {dict(done)}; {sum(refused.values())} were refused: {refused.most_common(3)}')


class Layer(torch.nn.Module):
    """Attention with heads that share keys, and an MLP."""

    def __init__(self, width, heads, key_heads):
        super().__init__()
        self.heads, self.key_heads, self.columns = heads, key_heads, width // heads
        self.qkv = torch.nn.Linear(width, (heads + 2 * key_heads) * self.columns, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x, by_tilewright):
        sizes = [count * self.columns for count in (self.heads, self.key_heads, self.key_heads)]
        q, k, v = (part.unflatten(-1, (-1, self.columns)) for part in
                   self.qkv(functional.layer_norm(x, x.shape[-1:])).split(sizes, -1))
        if by_tilewright:
            y = tilewright.attention(q, k, v, causal=True)
        else:
            y = functional.scaled_dot_product_attention(
                *(tensor.transpose(1, 2) for tensor in (q, k, v)), is_causal=True, enable_gqa=True).transpose(1, 2)
        x = x + self.out(y.flatten(2))
        return x + self.down(functional.gelu(self.up(functional.layer_norm(x, x.shape[-1:]))))


class Model(torch.nn.Module):
    def __init__(self, width, heads, key_heads):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width, heads, key_heads) for _ in range(2))

    def forward(self, x, by_tilewright):
        for layer in self.layers:
            x = layer(x, by_tilewright)
        return x


def check_model(device, width, heads, key_heads, sequences, lengths, backend):
    """Compiled with our attention: no further from float32 than 1.25 times the same model with torch's."""
    model = Model(width, heads, key_heads).to(device)
    rounded = Model(width, heads, key_heads).to(device, torch.bfloat16)
    rounded.load_state_dict(model.state_dict())
    model.load_state_dict(rounded.state_dict())
    compiled = torch.compile(rounded, fullgraph=True, backend=backend)
    for tokens in lengths:
        x = torch.randn(sequences, tokens, width, device=device).bfloat16()
        with torch.no_grad():
            right, theirs, ours = model(x.float(), False), rounded(x, False), compiled(x, True)
        error, allowed = ((y.float() - right).abs().max().item() for y in (ours, theirs))
        if not error <= 1.25 * allowed:
            sys.exit(f'{sequences} x {tokens} tokens: a compiled model errs by {error:.3e}, with torch\'s attention by {allowed:.3e}')
    print(f'a compiled model of two layers is right at {lengths} tokens')


def captured_pages():
    """One graph serves whatever lengths and pages are in memory when it is replayed."""
    q = torch.randn(4, 1, 8, 128, device='cuda').bfloat16()
    caches = [torch.randn(64, 64, 2, 128, device='cuda').bfloat16() for _ in 'kv']
    table, lengths = (torch.zeros(shape, dtype=torch.int32, device='cuda') for shape in ((4, 16), (4,)))

    def call(): return tilewright.attention_paged(q, *caches, table, lengths)
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = call()
    for numbers in ([1024, 0, 1, 700], [5, 512, 513, 64], [1024] * 4):
        table.copy_(torch.randperm(64).view(4, 16))
        lengths.copy_(torch.tensor(numbers))
        output.fill_(math.nan)
        graph.replay()
        if not torch.equal(output, call()):
            sys.exit(f'A captured call with {numbers} keys has other bits than the call itself.')
    print('captured calls with three sets of lengths and pages have the bits of the calls')


def on_a_gpu():
    check_model('cuda', 1024, 8, 2, 2, (100, 1024, 2000), 'inductor')
    captured_pages()


if __name__ == '__main__':
    torch_script.run(300, check_random_problems, on_a_gpu)
