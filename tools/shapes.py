#!/usr/bin/env python3
"""Makes suites of shapes out of the dimensions of models. usage: shapes.py [FOLDER]

FOLDER (bench/shapes) has models.json. For each side of the fit, train and development, a suite is drawn of bf16, of e4m3, of
block scales and of convolutions; a third, development-2, is of convolutions alone. any-train has products of no model, log-uniform
in m, n and k, which models leave out: few columns, short sums, odd rows. hard-train has products of the classes in which cuBLASLt
had been ahead amid foreign kernels, log-uniform within each. Constants were fitted to train and any-train, and kernels were
made for hard-train; attention-decode-train is for the choice of attention. The others were held out before the first fit; they were measured many times since, and kernels and prices were made after what they showed: what
judges today is drawn by tools/held_out.py. The seed is fixed: the same table makes the same suites. No product of a development
model has the n and k of a model that is trained on, nor those of bench/suites, to which earlier models were fitted.
"""
import collections
import json
import math
import pathlib
import random
import sys

SEED = 20261116
COUNTS = {'train': {'bf16': 220, 'e4m3': 100, 'blockwise': 100, 'conv2d': 60},
          'development': {'bf16': 100, 'e4m3': 60, 'blockwise': 60, 'conv2d': 60},
          'development-2': {'conv2d': 60},
          'any-train': {'bf16': 100, 'e4m3': 80},
          'hard-train': {'bf16': 36, 'e4m3': 25}}
DRAWN_AS = {'development': 'held_out', 'development-2': 'judge'}  # what they were called when they were drawn
SHARDS = (1, 2, 4, 8)
USUAL_ROWS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384, 512, 640, 768,
              1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 12288, 16384]
MOST_ROWS = 16384
MOST_FLOPS = 3e12  # a launch of about 4 ms in bf16
MOST_BYTES = 3e9


def decoder_products(model, shards):
    """(what, n, k) of the projections of one GPU's share of a decoder."""
    hidden, heads = model['hidden'], model['heads']
    products = []
    if 'kv_rank' in model:
        query = heads * (model['nope'] + model['rope']) // shards
        key = model['kv_rank'] + model['rope']
        products += [('o', hidden, heads * model['value'] // shards), ('kv_a', key, hidden),
                     ('kv_b', heads * (model['nope'] + model['value']) // shards, model['kv_rank'])]
        if model['q_rank']:
            products += [('q_b', query, model['q_rank']), ('q_a', model['q_rank'], hidden), ('qkv_a', model['q_rank'] + key, hidden)]
        else:
            products += [('q', query, hidden)]
    else:
        query, key = heads * model['head'] // shards, max(1, model['kv_heads'] // shards) * model['head']
        products += [('qkv', query + 2 * key, hidden), ('q', query, hidden), ('kv', key, hidden), ('o', hidden, query)]
    if 'ffn' in model:
        inner = model['ffn'] // shards
        products += [('up', inner, hidden), ('down', hidden, inner)]
        if model.get('gated', True):
            products += [('gate_up', 2 * inner, hidden)]
    if 'expert' in model:
        inner = model['expert'] // shards
        products += [('expert_gate_up', 2 * inner, hidden), ('expert_down', hidden, inner), ('router', model['experts'], hidden)]
    products += [('vocabulary', -(-model['vocabulary'] // shards), hidden)]
    return products


def encoder_products(model):
    hidden, inner, width = model['hidden'], model['ffn'], model['heads'] * model['head']
    products = [('qkv', 3 * width, hidden), ('q', width, hidden), ('o', hidden, width), ('down', hidden, inner),
                ('gate_up', 2 * inner, hidden) if model.get('gated') else ('up', inner, hidden)]
    if model.get('single_stream'):
        products += [('qkv_up', 3 * width + inner, hidden), ('o_down', hidden, width + inner)]
    return products


def products_of(table, side):
    """Lists of (what, n, k, tokens), by family and model."""
    families = {}
    for model in table['decoders']:
        if model.get('side') != side:
            continue
        products = families.setdefault(model['family'], {}).setdefault(model['name'], [])
        for shards in SHARDS if model['hidden'] >= 2048 else (1,):
            for what, n, k in decoder_products(model, shards):
                label = f"{model['family']} {model['name']} {what}" + (f' /{shards}' if shards > 1 else '')
                if n >= 32 and k >= 64 and all((n, k) != known[1:3] for known in products):
                    products.append((label, n, k, None))
    for model in table['encoders']:
        if model.get('side') == side:
            families.setdefault(model['family'], {})[model['name']] = [
                (f"{model['family']} {model['name']} {what}", n, k, model['tokens']) for what, n, k in encoder_products(model)]
    return families


def rows_of(random_, what, tokens):
    """How many tokens: log-uniform, half of them numbers that users like, half whatever comes."""
    most = 512 if 'vocabulary' in what else MOST_ROWS
    if tokens is not None:
        return min(most, random_.choice(tokens) * random_.choice([1, 1, 2, 4, 8, 16, 32]))
    exponent = random_.uniform(0, math.log2(most))
    if random_.random() < 0.5:
        return min(USUAL_ROWS, key=lambda rows: abs(math.log2(rows) - exponent))
    return max(1, round(2 ** exponent))


def draw_products(random_, families, kind, count, avoided):
    """Families take turns; one that has nothing new to give after many tries is passed over."""
    shapes, seen, turns, tries = [], set(), [], 0
    while len(shapes) < count:
        if tries == 200:
            turns.pop()
        if not turns:
            turns = sorted(families)
            random_.shuffle(turns)
        tries = 0 if tries == 200 else tries + 1
        family = turns[-1]
        model = random_.choice(sorted(families[family]))
        label, n, k, tokens = random_.choice(families[family][model])
        m = rows_of(random_, label, tokens)
        ragged = random_.random()
        if kind == 'bf16' and ragged < 0.06:  # pruned widths, odd vocabularies
            n, label = n - random_.randrange(1, 32), label + ', ragged n'
        elif kind == 'bf16' and ragged < 0.08:
            k, label = k - random_.randrange(1, 32), label + ', ragged k'
        elif kind == 'e4m3' and (n % 16 or k % 16):  # the peer has no others
            continue
        elif kind == 'blockwise' and (n % 64 or k % 128 or 'router' in label):
            continue
        bytes_ = (2 if kind == 'bf16' else 1) * (m * k + n * k) + 2 * m * n
        if n < 16 or 2 * m * n * k > MOST_FLOPS or bytes_ > MOST_BYTES or (n, k) in avoided or (m, n, k) in seen:
            continue
        seen.add((m, n, k))
        turns.pop()
        tries = 0
        shapes.append({'m': m, 'n': n, 'k': k, 'from': label})
    return shapes


def draw_convolutions(random_, networks, count):
    shapes, seen = [], set()
    while len(shapes) < count:
        network = random_.choice(networks)
        side, c, k, filter_, stride, groups = random_.choice(network['layers'])
        images = random_.choice([1, 2, 4, 8, 16, 32, 64, 128])
        if images * side * side * max(c, k // stride ** 2) > 6e8 or (images, side, c, k, filter_, stride, groups) in seen:
            continue
        seen.add((images, side, c, k, filter_, stride, groups))
        shapes.append({'n': images, 'h': side, 'w': side, 'c': c, 'k': k, 'r': filter_, 's': filter_, 'stride': stride,
                       'pad': 0 if filter_ == stride else (filter_ - 1) // 2, 'dilation': 1, 'groups': groups,
                       'from': f"{network['family']} {network['name']}"})
    return shapes


def log_uniform(random_, low, high, step=1):
    value = 2 ** random_.uniform(math.log2(low), math.log2(high))
    return max(step, round(value / step) * step)


def any_product(random_, steps):
    """m to 8192, n and k 64 to 32768, multiples of `steps`."""
    return tuple(log_uniform(random_, low, high, step) for low, high, step in zip((1, 64, 64), (8192, 32768, 32768), steps))


def draw_any(random_, kind, count):
    """Rows of whole 16 bytes; at most 0.3 ms of tensor cores."""
    shapes, step = [], 8 if kind == 'bf16' else 16
    while len(shapes) < count:
        m, n, k = any_product(random_, (1, step, step))
        if 2 * m * n * k <= 2e11 and (n * k + m * n) <= 4e8:
            shapes.append({'m': m, 'n': n, 'k': k, 'from': 'log-uniform'})
    return shapes


# Where m, n and k lie, each class; the last is drawn in whole elements, of bf16 alone.
HARD = {'short sums': ((16, 800), (2000, 18000), (64, 400)),
        'few tiles, long sums': ((100, 1000), (200, 1500), (10000, 32000)),
        'few columns': ((2000, 7000), (100, 400), (500, 18000)),
        'rows amid lines': ((300, 800), (1000, 12000), (800, 8000)),
        'small': ((2000, 5000), (200, 1000), (170, 600)),
        'odd rows, short sums': ((100, 900), (500, 14000), (90, 260))}


def draw_hard(random_, kind, count):
    """The classes take turns."""
    shapes, step = [], 8 if kind == 'bf16' else 16
    names = [name for name in HARD if kind == 'bf16' or name != 'odd rows, short sums']
    while len(shapes) < count:
        name = names[len(shapes) % len(names)]
        steps = (1, 1, 1) if name == 'odd rows, short sums' else (1, step, step)
        m, n, k = (log_uniform(random_, low, high, by) for (low, high), by in zip(HARD[name], steps))
        if 2 * m * n * k <= 1e11 and not (name == 'rows amid lines' and k % (8 * step) == 0):
            shapes.append({'m': m, 'n': n, 'k': k, 'from': name})
    return shapes


def draw_decode():
    """One query of each sequence, 4 MB to 2 GB of keys and values; as many with a head of keys for each head as with fewer."""
    random_, shapes, drawn = random.Random(20261118), [], collections.Counter()
    while len(shapes) < 32:
        columns = (64, 128)[len(shapes) % 2]
        heads, batch, keys = (log_uniform(random_, low, high) for low, high in ((5, 64), (1, 256), (200, 32768)))
        key_heads = random_.choice([1, 4, 8, heads])
        kind = columns, key_heads == heads
        if heads % key_heads or not 4e6 < 4 * batch * keys * key_heads * columns < 2e9 or drawn[kind] == 8:
            continue
        drawn[kind] += 1
        shapes.append({'batch': batch, 'heads': heads, 'key_heads': key_heads, 'queries': 1, 'keys': keys, 'columns': columns,
                       'causal': False})
    return shapes


def suite_text(head, shapes):
    lines = ',\n'.join(json.dumps(shape) for shape in shapes)
    return json.dumps(head)[:-1] + ', "shapes": [\n' + lines + '\n]}\n'


def suites(folder):
    """File names and texts."""
    table = json.loads((folder / 'models.json').read_text())
    known = set()
    for path in sorted((folder.parent / 'suites').glob('matmul-*.json')):
        known |= {(shape['n'], shape['k']) for shape in json.loads(path.read_text())['shapes']}
    train = products_of(table, 'train')
    for models in train.values():
        for products in models.values():
            known |= {(n, k) for _, n, k, _ in products}
    texts = {}
    for side, counts in COUNTS.items():
        families = products_of(table, side)
        avoided = known if side == 'development' else set()
        for kind, count in counts.items():
            random_ = random.Random(f'{SEED} {DRAWN_AS.get(side, side)} {kind}')
            about = f'{side}: drawn by tools/shapes.py from models.json, seed {SEED}'
            if kind == 'conv2d':
                networks = [network for network in table['networks'] if network['side'] == side]
                head, shapes = {'about': about, 'family': 'conv2d', 'type': 'bf16'}, draw_convolutions(random_, networks, count)
            else:
                head = {'about': about, 'family': 'matmul', 'a': 'bf16' if kind == 'bf16' else 'e4m3'}
                drawn = {'any-train': draw_any, 'hard-train': draw_hard}.get(side)
                shapes = drawn(random_, kind, count) if drawn else draw_products(random_, families, kind, count, avoided)
            texts[f'{kind}-{side}.json'] = suite_text(head, shapes)
    about = 'one query of each sequence, drawn by tools/shapes.py; the choice of attention is fitted to it'
    texts['attention-decode-train.json'] = suite_text({'about': about}, draw_decode())
    return texts


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'bench/shapes')
    for name, text in suites(folder).items():
        (folder / name).write_text(text)


if __name__ == '__main__':
    main()
