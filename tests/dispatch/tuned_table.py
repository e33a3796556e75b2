"""tools/tuned_table.py compiles what ./tw bench --tune writes, and refuses what it does not understand.

usage: tuned_table.py TOOL
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ENTRY = {'type': 'bf16', 'm': 1, 'n': 4096, 'k': 14336, 'instance': 'bf16_16x64', 'split_k': 2, 'group': 4, 'raster': 'n'}


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
status, text, _ = run({'device': 'NVIDIA H200', 'entries': []})
assert status == 0 and 'return {};' in text, text
status, text, _ = run({'device': 'NVIDIA H200', 'entries': [ENTRY]})
assert status == 0, text
assert '    {"NVIDIA H200", "bf16", 1, 4096, 14336, "bf16_16x64", 2, 4, Raster::AlongN},\n' in text, text
for wrong in ({'entries': []}, {'device': 'NVIDIA H200'}, {'device': 'NVIDIA H200', 'entries': [{'m': 1}]},
              {'device': 'NVIDIA H200', 'entries': [{**ENTRY, 'raster': 'z'}]},
              {'device': 'NVIDIA H200', 'entries': [{**ENTRY, 'm': 'many'}]}):
    status, _, sentence = run(wrong)
    assert status == 1 and 'json: ' in sentence and 'Traceback' not in sentence, (wrong, sentence)
print('The table is compiled, and what is wrong with it is said.')
