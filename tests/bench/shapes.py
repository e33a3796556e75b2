"""bench/shapes holds what tools/shapes.py makes of its table of models, and what is for development stays out of what is fitted.

usage: shapes.py REPOSITORY
"""
import json
import pathlib
import sys

repository = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(repository / 'tools'))
import shapes  # noqa: E402

folder = repository / 'bench/shapes'
made = shapes.suites(folder)
assert sorted(made) == sorted(path.name for path in folder.glob('*.json') if path.name != 'models.json'), sorted(made)
for name, text in made.items():
    assert (folder / name).read_text() == text, f'{name} is not what tools/shapes.py makes: run it.'

table = json.loads((folder / 'models.json').read_text())
sides = {}
for kind in ('decoders', 'encoders', 'networks'):
    for model in table[kind]:
        sides.setdefault(model['family'], set()).add(model['side'])
assert all(side in ({'train'}, {'development'}, {'development-2'}) for side in sides.values()), sides

known = {(shape['n'], shape['k']) for path in (repository / 'bench/suites').glob('matmul-*.json')
         for shape in json.loads(path.read_text())['shapes']}
for kind in ('bf16', 'e4m3', 'blockwise'):
    known |= {(shape['n'], shape['k']) for shape in json.loads((folder / f'{kind}-train.json').read_text())['shapes']}
for kind, count in (('bf16', 100), ('e4m3', 60), ('blockwise', 60)):
    development = json.loads((folder / f'{kind}-development.json').read_text())['shapes']
    assert len({(shape['m'], shape['n'], shape['k']) for shape in development}) == count, kind
    shared = [shape for shape in development if (shape['n'], shape['k']) in known]
    assert not shared, f'{kind}: {shared} has the n and k of a shape that is fitted to.'
    assert all(1 <= shape['m'] <= 16384 for shape in development), kind
print('The suites are those of the table; nothing for development is trained on.')
