#!/usr/bin/env python3
"""Draws the shapes that judge the library and that nothing is made for. usage: held_out.py known | draw COMMIT

bench/held_out has a table of models (models.json), what was known when the sets were drawn (known.json) and a set of 60 shapes
for each of bf16, e4m3, block scales (blockwise), grouped, conv2d and attention: 30 of the models and 30 log-uniform ones.
`known` collects from bench/shapes, suites, tuned and results; `draw` takes the first 8 hex digits of the commit that landed
this program, models.json and known.json as the seed, so that nobody chose it. No product has the n and k of a known one, no
convolution a known layer, no groups a known number, n and k, no attention known heads and keys. tests/bench/held_out.py draws again and compares.

Log-uniform: m to 8192, n and k 64 to 32768; of bf16 every fifth has any n and k, others have multiples of 8. e4m3: n and k are
multiples of 16, and block scales: m of 4, n of 64, k of 128, for cuBLASLt has no others. Groups: 2 to 128, up to 32768 rows,
n and k multiples of 8, as torch asks for. Convolutions: every fifth has any channels, others multiples of 8; about a fifth has
groups, a fifth of wider filters dilation. Attention: a third each of causal prefill, cross attention and decode; of models
prefill and decode as often, encoders in full.
"""
import csv
import json
import pathlib
import random
import re
import sys

import shapes

KINDS = ('bf16', 'e4m3', 'blockwise', 'grouped', 'conv2d', 'attention')
COUNT = 60
STEPS = {'bf16': (1, 8, 8), 'e4m3': (1, 16, 16), 'blockwise': (4, 64, 128), 'grouped': (1, 8, 8)}  # m, n and k
MOST_FLOPS = 1e12
MOST_BYTES = 1e9
MOST_ATTENTION_FLOPS = 4e12
MOST_CACHE_BYTES = 4e9
USUAL_COLUMNS = (64, 64, 128, 128, 128, 80, 96, 256)


def fits(kind, m, n, k, matrices=1):
    bytes_ = (1 if kind in ('e4m3', 'blockwise') else 2) * (m * k + matrices * n * k) + 2 * m * n
    return 2 * m * n * k <= MOST_FLOPS and bytes_ <= (2 if matrices > 1 else 1) * MOST_BYTES


def model_product(random_, kind, table):
    families = table['products']
    family = random_.choice(sorted(families))
    label, n, k, tokens = random_.choice(families[family][random_.choice(sorted(families[family]))])
    m = -(-shapes.rows_of(random_, label, tokens) // STEPS[kind][0]) * STEPS[kind][0]
    served = kind == 'bf16' or (n % STEPS[kind][1] == 0 and k % STEPS[kind][2] == 0)
    return {'m': m, 'n': n, 'k': k, 'from': label} if served and fits(kind, m, n, k) else None


def any_product(random_, kind, index):
    steps = (1, 1, 1) if kind == 'bf16' and index % 5 == 0 else STEPS[kind]
    m, n, k = shapes.any_product(random_, steps)
    return {'m': m, 'n': n, 'k': k, 'from': 'log-uniform'} if fits(kind, m, n, k) else None


def model_group(random_, table):
    model = random_.choice([model for model in table['decoders'] if 'experts' in model])
    shards, hidden, inner = random_.choice(shapes.SHARDS), model['hidden'], model['expert']
    groups, tokens = model['experts'] // shards, shapes.log_uniform(random_, 16, 16384)
    what, n, k = random_.choice([('gate_up', 2 * inner, hidden), ('down', hidden, inner)])
    rows = max(1, tokens * model['taken'] // shards)
    if groups < 2 or not fits('grouped', rows, n, k, groups):
        return None
    return {'groups': groups, 'rows': rows, 'n': n, 'k': k, 'from': f"{model['family']} {model['name']} {what} /{shards}"}


def any_group(random_):
    groups, rows = shapes.log_uniform(random_, 2, 128), shapes.log_uniform(random_, 16, 32768)
    n, k = (shapes.log_uniform(random_, 128, 16384, 8) for _ in range(2))
    return {'groups': groups, 'rows': rows, 'n': n, 'k': k, 'from': 'log-uniform'} if fits('grouped', rows, n, k, groups) else None


def convolution(images, h, w, c, k, filter_, stride, groups, dilation, label):
    pad = 0 if filter_ == stride else (filter_ - 1) // 2 * dilation
    shape = {'n': images, 'h': h, 'w': w, 'c': c, 'k': k, 'r': filter_, 's': filter_, 'stride': stride, 'pad': pad,
             'dilation': dilation, 'groups': groups, 'from': label}
    p, q = ((side + 2 * pad - dilation * (filter_ - 1) - 1) // stride + 1 for side in (h, w))
    pixels = images * p * q
    good = (p > 0 and q > 0 and 2 * pixels * k * filter_ ** 2 * (c // groups) <= MOST_FLOPS / 2 and
            2 * (images * h * w * c + pixels * k) <= MOST_BYTES)
    return shape if good else None


def model_convolution(random_, table):
    network = random_.choice(table['networks'])
    side, c, k, filter_, stride, groups, *dilation = random_.choice(network['layers'])
    return convolution(random_.choice([1, 2, 4, 8, 16, 32, 64]), side, side, c, k, filter_, stride, groups,
                       dilation[0] if dilation else 1, f"{network['family']} {network['name']}")


def any_convolution(random_, index):
    h = shapes.log_uniform(random_, 6, 160)
    w = shapes.log_uniform(random_, max(6, h // 2), 2 * h)
    filter_, groups = random_.choice([1, 1, 3, 3, 3, 3, 5, 7]), random_.choice([1, 1, 1, 1, 1, 1, 1, 1, 4, 16])
    step = 1 if index % 5 == 0 else 8
    c, k = (shapes.log_uniform(random_, 8, 1024, step) * groups for _ in range(2))
    stride = random_.choice([1, 1, 1, 2])
    dilation = random_.choice([1, 1, 1, 1, 2]) if filter_ > 1 and stride == 1 else 1
    if max(c, k) > 2048:
        return None
    return convolution(shapes.log_uniform(random_, 1, 64), h, w, c, k, filter_, stride, groups, dilation, 'log-uniform')


def attended(batch, heads, key_heads, queries, keys, columns, causal, label):
    flops = 4 * batch * heads * queries * keys * columns * (0.5 if causal and queries > 1 else 1)
    bytes_ = 2 * batch * columns * (2 * key_heads * keys + 2 * heads * queries)
    if flops > MOST_ATTENTION_FLOPS or bytes_ > MOST_CACHE_BYTES:
        return None
    return {'batch': batch, 'heads': heads, 'key_heads': key_heads, 'queries': queries, 'keys': keys, 'columns': columns,
            'causal': causal, 'from': label}


def model_attention(random_, table):
    models = [model for model in table['decoders'] if 'head' in model]
    if random_.random() < 0.25:
        model = random_.choice(table['encoders'])
        tokens = random_.choice(model['tokens'])
        return attended(random_.choice([1, 2, 4, 8, 16, 32]), model['heads'], model['heads'], tokens, tokens, model['head'], False,
                        f"{model['family']} {model['name']}")
    model = random_.choice(models)
    shards = random_.choice([1, 1, 2, 4, 8])
    if model['heads'] % shards:
        return None
    heads, key_heads = model['heads'] // shards, max(1, model['kv_heads'] // shards)
    label = f"{model['family']} {model['name']}" + (f' /{shards}' if shards > 1 else '')
    if heads % key_heads:
        return None
    if random_.random() < 0.5:
        tokens = shapes.log_uniform(random_, 128, 16384, random_.choice([1, 128]))
        return attended(random_.choice([1, 1, 2, 4]), heads, key_heads, tokens, tokens, model['head'], True, label + ', prefill')
    return attended(shapes.log_uniform(random_, 1, 128), heads, key_heads, 1, shapes.log_uniform(random_, 256, 65536, 16), model['head'], False,
                    label + ', decode')


def any_attention(random_, index):
    key_heads, ratio = shapes.log_uniform(random_, 1, 32), random_.choice([1, 1, 2, 4, 8])
    columns, batch = random_.choice(USUAL_COLUMNS), shapes.log_uniform(random_, 1, 64)
    queries, keys = shapes.log_uniform(random_, 64, 16384), shapes.log_uniform(random_, 64, 32768)
    queries, keys, causal = ((queries, queries, True), (queries, keys, False), (1, keys, False))[index % 3]
    return attended(batch, key_heads * ratio, key_heads, queries, keys, columns, causal, 'log-uniform')


def of_models(random_, kind, table):
    if kind == 'grouped':
        return model_group(random_, table)
    if kind == 'conv2d':
        return model_convolution(random_, table)
    return model_attention(random_, table) if kind == 'attention' else model_product(random_, kind, table)


def of_any(random_, kind, index):
    if kind == 'grouped':
        return any_group(random_)
    if kind == 'conv2d':
        return any_convolution(random_, index)
    return any_attention(random_, index) if kind == 'attention' else any_product(random_, kind, index)


def key_of(shape):
    """What tells a shape from the known ones: m, images and batches do not."""
    if 'h' in shape:
        return ('layer', shape['h'], shape['w'], shape['c'], shape['k'], shape['r'])
    if 'keys' in shape:
        return ('attention', shape['heads'], shape['key_heads'], shape['keys'], shape['columns'])
    if 'groups' in shape:
        return ('groups', shape['groups'], shape['n'], shape['k'])
    return ('product', shape['n'], shape['k'])


def draw(seed, kind, table, known):
    random_ = random.Random(f'{seed} {kind}')
    drawn, keys, most = [], [], 2 if kind in ('bf16', 'e4m3', 'blockwise') else 3
    for _ in range(100 * COUNT):
        first_half = len(drawn) < COUNT // 2
        shape = of_models(random_, kind, table) if first_half else of_any(random_, kind, len(drawn))
        if shape is None or key_of(shape) in known or shape in drawn or keys.count(key_of(shape)) >= most:
            continue
        drawn.append(shape)
        keys.append(key_of(shape))
        if len(drawn) == COUNT:
            return drawn
    sys.exit(f'{kind}: only {len(drawn)} of {COUNT} shapes are new.')


def text_of(seed, kind, drawn):
    head = {'about': 'held out: drawn by tools/held_out.py, 30 of models.json, 30 log-uniform', 'seed': seed,
            'family': kind if kind in ('blockwise', 'grouped', 'conv2d', 'attention') else 'matmul'}
    head['a' if 'm' in drawn[0] else 'type'] = 'e4m3' if kind in ('e4m3', 'blockwise') else 'bf16'
    return shapes.suite_text(head, drawn)


def known_of(bench, with_results=True):
    """Keys of all shapes that stand in files of today, and of all products of the models there."""
    found, table = set(), json.loads((bench / 'shapes/models.json').read_text())
    for side in {model['side'] for model in table['decoders'] + table['encoders']}:
        for models in shapes.products_of(table, side).values():
            found |= {('product', n, k) for products in models.values() for _, n, k, _ in products}
    for path in [*(bench / 'shapes').glob('*.json'), *(bench / 'suites').glob('*.json')]:
        for shape in json.loads(path.read_text()).get('shapes', []):
            if 'seq' in shape:
                shape = {**shape, 'key_heads': shape.get('kv_heads', shape['heads']), 'keys': shape['seq'], 'columns': shape['dim']}
            found.add(key_of(shape))
    measured = [*(bench / 'results').glob('*.md'), *(bench / 'results').glob('*.csv')] if with_results else []
    for path in [*(bench / 'tuned').glob('*.json'), *measured]:
        text = path.read_text()
        for _, n, k in re.findall(r'(?<![\dx])(\d+) ?x ?(\d+) ?x ?(\d+)(?! ?x|\d)', text):
            found.add(('product', int(n), int(k)))
        for h, w, c, k, r in re.findall(r'\d+x(\d+)x(\d+)x(\d+) to (\d+), (\d+)x\d+', text):
            found.add(('layer', int(h), int(w), int(c), int(k), int(r)))
        if path.suffix != '.csv':
            continue
        for row in csv.DictReader(line for line in text.splitlines() if not line.startswith('#')):
            if row.get('n') and row.get('k') and row.get('family', 'matmul') in ('matmul', 'blockwise'):
                found.add(('product', int(row['n']), int(row['k'])))
            if row.get('heads') and row.get('tokens'):
                found.add(('attention', int(row['heads']), int(row['key_heads']), int(row['tokens']), int(row['columns'])))
    for keys in (4096, 8192, 32768):  # bench/attention_torch.py
        found |= {('attention', 32, 8, keys, columns) for columns in (64, 128)}
    source = (bench.parent / 'src/families/grouped_bench.cpp').read_text()
    found |= {('groups', int(groups), int(n), int(k)) for groups, n, k in re.findall(r'"(\d+)x\d+x(\d+)x(\d+)"', source)}
    return found


def read_known(folder):
    return {tuple(key) for key in json.loads((folder / 'known.json').read_text())['known']}


def sets(folder, seed):
    """File names and texts."""
    table, known = json.loads((folder / 'models.json').read_text()), read_known(folder)
    table['products'] = shapes.products_of(table, None)
    return {f'{kind}.json': text_of(seed, kind, draw(seed, kind, table, known)) for kind in KINDS}


def main():
    folder = pathlib.Path(__file__).resolve().parents[1] / 'bench/held_out'
    if sys.argv[1:] == ['known']:
        lines = ',\n'.join(json.dumps(key) for key in sorted(known_of(folder.parent)))
        (folder / 'known.json').write_text('{"about": "collected by tools/held_out.py known", "known": [\n' + lines + '\n]}\n')
    elif len(sys.argv) == 3 and sys.argv[1] == 'draw' and re.fullmatch('[0-9a-f]{8,40}', sys.argv[2]):
        for name, text in sets(folder, sys.argv[2][:8]).items():
            (folder / name).write_text(text)
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
