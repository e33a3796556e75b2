"""tools/tuned_table.py compiles what ./tw tune writes, and refuses what it does not understand.

usage: tuned_table.py TOOL
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ENTRY = {'call': 'matmul bf16 1x4096x14336', 'instance': 'bf16_16x64', 'split_k': 2, 'group': 4, 'raster': 'n'}


def run(*tables):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = []
        for index, table in enumerate(tables):
            files.append(folder / f'{index}.json')
            files[-1].write_text(json.dumps(table))
        done = subprocess.run([sys.executable, sys.argv[1], folder / 'table.cpp', *files], capture_output=True, text=True)
        written = (folder / 'table.cpp').read_text() if done.returncode == 0 else ''
        return done.returncode, written, done.stderr


status, text, _ = run()
assert status == 0 and 'return {};' in text, text
status, text, _ = run({'device': 'NVIDIA H200', 'entries': [ENTRY]})
assert status == 0, text
assert '"NVIDIA H200"' in text, text
assert '        {"matmul bf16 1x4096x14336", "bf16_16x64", 2, 4, Raster::AlongN},\n' in text, text
for wrong in ({'entries': []}, {'device': 'NVIDIA H200'}, {'device': 'NVIDIA H200', 'entries': [{'call': 'matmul bf16 1x1x1'}]},
              {'device': 'NVIDIA H200', 'entries': [{**ENTRY, 'raster': 'z'}]},
              {'device': 'NVIDIA H200', 'entries': [{**ENTRY, 'split_k': 'many'}]}):
    status, _, sentence = run(wrong)
    assert status == 1 and 'json: ' in sentence and 'Traceback' not in sentence, (wrong, sentence)
print('The table is compiled, and what is wrong with it is said.')
