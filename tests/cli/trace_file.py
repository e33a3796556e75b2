"""Timelines of the virtual GPU are whole, of matmul and of described families: roles have names and wait for what their
kernel has, nothing lasts less than no time, each stage is full once per k-tile, and the page shows every role.

usage: trace_file.py PROGRAM
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile


def trace(folder, *options):
    path, page = pathlib.Path(folder) / 'trace.json', pathlib.Path(folder) / 'trace.html'
    run = subprocess.run([sys.argv[1], 'trace', *options, '-o', path, '--html', page], capture_output=True, text=True, check=True)
    events = json.loads(path.read_text())['traceEvents']
    names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name'}
    slices = collections.defaultdict(list)
    for event in events:
        if event['ph'] == 'X':
            assert event['dur'] >= 0 and event['ts'] >= 0, event
            slices[names[event['pid'], event['tid']]].append(event)
    html = page.read_text()
    for name in slices:
        assert name in html, f'{name} is not on the page'
    return slices, run.stdout


with tempfile.TemporaryDirectory() as folder:
    # 11 k-tiles of each tile, of which there are 2 x 3 or more.
    slices, said = trace(folder, 'matmul', '--m', '300', '--n', '600', '--k', '700')
    assert {'load', 'multiply 0', 'multiply 1', 'input stage 0'} <= set(slices), set(slices)
    assert any(e['name'].startswith('wait for input.full') for e in slices['multiply 0'])
    assert any(e['name'].startswith('wait for wgmma') for e in slices['multiply 0'])
    assert any(e['name'].startswith('wait for input.empty') for e in slices['load'])
    full = sum(len(events) for name, events in slices.items() if name.startswith('input stage'))
    loads = sum(e['name'].startswith('wait for input.empty') for e in slices['load'])
    assert full > 0 and full <= loads, (full, loads)
    assert 'sets the pace' in said and 'multiply 0' in said, said

    # Another target, and families that are described, one of which has no role but one.
    slices, said = trace(folder, 'matmul', '--arch', 'sm80', '--m', '130', '--n', '130', '--k', '200')
    assert {'load', 'multiply 0'} <= set(slices), set(slices)
    slices, said = trace(folder, 'grouped', '--sizes', '70,0,9', '--n', '130', '--k', '200')
    assert {'load', 'multiply 0', 'input stage 0'} <= set(slices), set(slices)
    slices, said = trace(folder, 'quantise')
    assert 'quantise' in said, said
print('Timelines are whole.')
