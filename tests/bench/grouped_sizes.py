"""bench/grouped_torch.py makes the sizes of grouped_case_test.cpp, and refuses files that are none of ./tw bench.

usage: grouped_sizes.py FOLDER
"""
import importlib.util
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / 'bench/grouped_torch.py'
spec = importlib.util.spec_from_file_location('grouped_torch', SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

made = script.sizes_of(8, 8192, 1)
known = '{' + ', '.join(map(str, made)) + '}'
if known not in (HERE / 'grouped_case_test.cpp').read_text().replace('\n', ' '):
    sys.exit(f'grouped_case_test.cpp does not expect {known}.')
if sum(made) != 8192 or script.sizes_of(64, 100, 3) == script.sizes_of(64, 100, 4):
    sys.exit('Sizes must share all rows, and differ by seed.')

file = pathlib.Path(sys.argv[1]) / 'grouped.json'
for text, complaint in (('{}', 'has no results'),
                        (json.dumps({'results': [{'side': 'own', 'm': 8}]}), 'has no groups')):
    file.write_text(text)
    run = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True)
    if run.returncode == 0 or complaint not in run.stderr:
        sys.exit(f'{text} is not refused with "{complaint}": {run.stderr}')
print('The sizes are the same, and two bad files are refused.')
