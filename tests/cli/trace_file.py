"""Timelines of the virtual GPU are whole, of matmul and of described families: roles have names and wait for what their
kernel has, nothing lasts less than no time, each stage is full once per k-tile, and the page shows every role. Two runs
stand on one page, by instance or by the file of an earlier run; where Chromium is there, it opens the page.

usage: trace_file.py PROGRAM
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


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


def numbers(folder):
    """What the page says beside its bars."""
    page = (pathlib.Path(folder) / 'trace.html').read_text()
    assert '://' not in page, 'the page needs something else'
    return json.loads(re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page).group(1))['runs']


def close(first, second):
    """The same words and shares: files have times to the picosecond."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(close(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(close, first, second))
    return abs(first - second) < 1e-6 if isinstance(first, float) else first == second


def open_page(folder):
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
    if browser is None:
        return
    run = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', '--dump-dom',
                          f'file://{folder}/trace.html'], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and run.stdout.count('<rect') > 100, run.stderr
    assert 'CONSOLE' not in run.stderr, run.stderr


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

    # Beside it, another instance; then the same run by its file.
    problem = ('matmul', '--m', '300', '--n', '600', '--k', '700')
    picture, kept = pathlib.Path(folder) / 'both.svg', pathlib.Path(folder) / 'kept.json'
    trace(folder, *problem, '--beside', 'bf16_64x64', '--svg', picture)
    first, second = numbers(folder)
    assert 'bf16_64x64' in second['title'] and 'bf16_64x64' not in first['title'], (first['title'], second['title'])
    for run in first, second:
        assert 'role waits least for others' in run['bottleneck'], run
        multiply = next(role for role in run['roles'] if role['role'] == 'multiply 0')
        assert multiply['waits'] <= 1 and abs(sum(multiply['causes'].values()) - multiply['waits']) < 1e-9, multiply
        [ring] = run['stages']
        assert ring['ring'] == 'input' and 0 < ring['mean_full'] <= ring['stages'], ring
    words = {text.text for text in xml.etree.ElementTree.parse(picture).iter('{http://www.w3.org/2000/svg}text')}
    assert {first['title'], second['title']} <= words, words
    open_page(folder)
    trace(folder, *problem, '--instance', 'bf16_64x64', '--ctas', '256')
    (pathlib.Path(folder) / 'trace.json').rename(kept)
    trace(folder, *problem, '--beside', str(kept))
    assert close(numbers(folder), [first, second]), (numbers(folder), first, second)

    # Another target, and families that are described, one of which has no role but one.
    slices, said = trace(folder, 'matmul', '--arch', 'sm80', '--m', '130', '--n', '130', '--k', '200')
    assert {'load', 'multiply 0'} <= set(slices), set(slices)
    slices, said = trace(folder, 'grouped', '--sizes', '70,0,9', '--n', '130', '--k', '200')
    assert {'load', 'multiply 0', 'input stage 0'} <= set(slices), set(slices)
    slices, said = trace(folder, 'quantise')
    assert 'quantise' in said, said

    # A page alone is all that is written; where nothing is named, the timeline goes to out/ of the checkout.
    for options, written in (['--html', 'page.html'], {'page.html'}), ([], {'out', 'out/trace.json'}):
        with tempfile.TemporaryDirectory() as empty:
            subprocess.run([sys.argv[1], 'trace', 'quantise', *options], check=True, cwd=empty, stdout=subprocess.DEVNULL,
                           env={name: value for name, value in os.environ.items() if name != 'TW_CHECKOUT'})
            found = {str(path.relative_to(empty)) for path in pathlib.Path(empty).rglob('*')}
            assert found == written, (options, found)
print('Timelines are whole.')
