"""bench/held_out holds what tools/held_out.py draws with the seed that its files name, and nothing of it was known before.

usage: held_out.py REPOSITORY
"""
import json
import pathlib
import subprocess
import sys

repository = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(repository / 'tools'))
sys.dont_write_bytecode = True
import held_out  # noqa: E402

folder = repository / 'bench/held_out'
known = held_out.read_known(folder)
families = {model['family'] for kind in ('decoders', 'encoders', 'networks')
            for model in json.loads((repository / 'bench/shapes/models.json').read_text())[kind]}
table = json.loads((folder / 'models.json').read_text())
shared = families & {model['family'] for kind in ('decoders', 'encoders', 'networks') for model in table[kind]}
assert not shared, f'{sorted(shared)} are models of bench/shapes as well.'


def check(kind, shapes):
    assert len(shapes) == 60, f'{kind} has {len(shapes)} shapes.'
    assert len({json.dumps(shape) for shape in shapes}) == 60, f'{kind} has a shape twice.'
    assert sum(shape['from'] == 'log-uniform' for shape in shapes) == 30, kind
    for shape in shapes:
        assert held_out.key_of(shape) not in known, f'{kind}: {shape} was known.'
        if kind in ('e4m3', 'blockwise'):
            steps = held_out.STEPS[kind]
            assert not (shape['m'] % steps[0] or shape['n'] % steps[1] or shape['k'] % steps[2]), shape
        if kind == 'attention':
            assert shape['heads'] % shape['key_heads'] == 0 and shape['columns'] % 8 == 0, shape
            assert not shape['causal'] or shape['queries'] == shape['keys'], shape
        if kind == 'conv2d':
            assert shape['c'] % shape['groups'] == 0 and shape['k'] % shape['groups'] == 0, shape
    if kind == 'bf16':
        assert sum(shape['n'] % 8 > 0 or shape['k'] % 8 > 0 for shape in shapes[30:]) >= 4, 'Few rows are off 16 bytes.'


# Any seed gives such sets, always the same, and another seed others.
for seed in ('00000000', 'deadbeef'):
    drawn = held_out.sets(folder, seed)
    assert drawn == held_out.sets(folder, seed), 'The same seed draws other shapes.'
    for name, text in drawn.items():
        check(name.removesuffix('.json'), json.loads(text)['shapes'])
assert drawn != held_out.sets(folder, '00000000')
# What is known has all of today's development shapes and suites.
missing = [key for key in held_out.known_of(repository / 'bench', with_results=False) if key not in known]
assert not missing, f'{missing} are not in known.json: run tools/held_out.py known, commit, and draw anew.'

files = sorted(path.name for path in folder.glob('*.json') if path.name not in ('known.json', 'models.json'))
seeds = {json.loads((folder / name).read_text())['seed'] for name in files}
assert files == sorted(drawn) and len(seeds) == 1, f'{files} of {seeds} are no whole draw.'
seed = seeds.pop()
for name, text in held_out.sets(folder, seed).items():
    assert (folder / name).read_text() == text, f'{name} is not what tools/held_out.py draws with {seed}.'
# The seed is a commit that has the program; an archive of the tree has no commits, and a shallow clone not all.
git = ['git', '-C', str(repository)]
if subprocess.run([*git, 'rev-parse', '--git-dir'], capture_output=True).returncode == 0:
    shallow = subprocess.run([*git, 'rev-parse', '--is-shallow-repository'], capture_output=True, text=True).stdout.strip()
    has = subprocess.run([*git, 'cat-file', '-e', f'{seed}:tools/held_out.py'], capture_output=True).returncode == 0
    assert has or shallow == 'true', f'{seed} is no commit that has tools/held_out.py.'
print(f'{len(files)} sets are what their seed draws; of today, nothing was known.')
