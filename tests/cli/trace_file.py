"""The timeline is whole: every slot in use ends, nothing lasts less than no time, roles have names, and
what does not fit the record is counted.

usage: trace_file.py PROGRAM
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    def trace(*options):
        path = pathlib.Path(folder) / 'trace.json'
        run = subprocess.run([sys.argv[1], 'trace', 'matmul', '--on', 'virtual', '--m', '300', '--n', '600',
                              '--k', '700', '-o', path, *options], capture_output=True, text=True, check=True)
        lost = int(re.search(r'(\d+) acquires did not fit', run.stdout).group(1))
        return json.loads(path.read_text())['traceEvents'], lost

    events, lost = trace()
    assert lost == 0
    _, lost = trace('--capacity', '16')
    assert lost > 0, 'a record of 16 acquires cannot hold them all'

names = {event['args']['name'] for event in events if event['ph'] == 'M'}
assert names == {'load', 'multiply 0', 'multiply 1', 'store 0', 'store 1'}, names
open_slots = collections.Counter()
for event in events:
    if event['ph'] == 'X':
        assert event['dur'] >= 0 and event['ts'] >= 0, event
    if event['ph'] == 'b':
        open_slots[event['id']] += 1
        assert open_slots[event['id']] == 1, f'{event} begins while it is in use'
    if event['ph'] == 'e':
        open_slots[event['id']] -= 1
        assert open_slots[event['id']] == 0, event
assert not +open_slots, open_slots
# Every role of a CTA sees the same k-tiles: 11 of each tile.
stages = collections.Counter((e['pid'], e['tid']) for e in events if e['ph'] == 'b' and e['tid'] in (0, 1, 2))
assert len({count for count in stages.values()}) <= 2 and all(count % 11 == 0 for count in stages.values()), stages
print(f'{len(events)} events are in order.')
