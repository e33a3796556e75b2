"""The program that loads kernels when they are asked for is the one that has them all: it lists and explains the same, takes the same
kernel for a request and refuses in the same words. A kernel that is not compiled is named.

usage: on_demand.py ON_DEMAND WHOLE INSTANCE   (INSTANCE: of matmul, which is compiled)
"""
import json
import os
import subprocess
import sys

ON_DEMAND, WHOLE, INSTANCE = sys.argv[1:]
environment = {name: value for name, value in os.environ.items() if name not in ('TW_CHECKOUT', 'TW_KERNELS')}


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def listed(program):
    entries = json.loads(run(program, 'list', '--json')[1].splitlines()[-1])
    for entry in entries:
        entry.pop('gpu')
    return entries


entries = listed(WHOLE)
assert listed(ON_DEMAND) == entries, 'The lists differ.'
for words in (['explain', entries[0]['instance']], ['explain', entries[-1]['instance']], ['layout', '(8,8):(8,1)'], ['run', '--help'],
              ['run', 'matmul', '--k', '-1'], ['run', 'matmul', '--a-type', 's8', '--d-type', 'fp32'], ['run', 'grouped', '--instance', 'none'],
              ['run', 'conv2d', '--instance', 'conv_bf16', '--c', '12'], ['run', 'matmul', '--instance', INSTANCE, '--on', 'virtual'],
              ['check', 'matmul', '--instance', INSTANCE, '--schedules', '3'], ['fuzz', 'none']):
    few, all_ = run(ON_DEMAND, *words), run(WHOLE, *words)
    assert few == all_, f'{words}: {few}, but the whole program {all_}'
status, out, _ = run(ON_DEMAND, 'run', 'matmul', '--instance', INSTANCE, '--on', 'virtual')
assert status == 0 and 'all 33153 elements are exact' in out, out

# Which kernel a family's usual request takes is asked without running it: what is not compiled is named.
names = {entry['instance'] for entry in entries}
for family in sorted({entry['family'] for entry in entries}):
    for target in sorted({entry['target'] for entry in entries if entry['family'] == family}):
        status, out, errors = run(ON_DEMAND, 'run', family, '--arch', target, '--on', 'virtual')
        named = next((name for name in names if f' {name} ' in errors or f', {name} on' in out), None)
        assert named and (status == 0 or 'is not compiled: there is no' in errors), f'{family} on {target}: {status} {out}{errors}'
        _, whole, _ = run(WHOLE, 'run', family, '--arch', target, '--on', 'virtual', '--unchecked')
        assert f', {named} on ' in whole, f'{family} on {target}: {named}, but the whole program: {whole}'
print(f'{len(entries)} instances, known without their kernels.')
