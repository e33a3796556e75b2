"""./tw prove proves its protocols, refutes each with a planted fault by a schedule that replays, and never calls proved what a limit cut off.

usage: prove.py PROGRAM
"""
import re
import shlex
import subprocess
import sys

PROGRAM = sys.argv[1]
# What each planted fault is refuted by.
FOUND = {
    'ring': {'arrival-short': 'deadlock', 'same-phase': 'overwrite-while-read', 'early-release': 'overwrite-while-read'},
    'announcement': {'listener-short': 'arrival-count', 'never-begun': 'deadlock', 'split-ticket': 'wrong result', 'early-reset': 'wrong result'},
    'turn': {'no-turns': 'uninitialised', 'early-turn': 'read-before-full', 'kept-turn': 'arrival-count'},
    'fixup': {'split-add': 'deadlock', 'no-release': 'global-race', 'part-short': 'global-race', 'one-slot': 'global-race'},
}
# Mistakes that 40 drawn schedules do not show, or hardly.
RARE = ('split-ticket', 'split-add')


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True)


def row(text, protocol):
    found = re.search(rf'^{protocol} +(.*?)  +(\d+) +(\d+) +(\d+) +((?:>= )?\S+) +([\d.]+)  (.*)$', text, re.MULTILINE)
    assert found, text
    bound, executions, cut, transitions, interleavings, _, verdict = found.groups()
    return bound, int(executions), int(cut), int(transitions), interleavings, verdict


def lower_bound(text):
    number, _, exponent = text.removeprefix('>= ').partition('^')
    return int(number) ** int(exponent or 1)


done = run()
assert done.returncode == 0 and done.stderr == '', done
for protocol in FOUND:
    bound, executions, _, transitions, interleavings, verdict = row(done.stdout, protocol)
    assert verdict == 'proved' and transitions > executions > 1 and lower_bound(interleavings) > executions, done.stdout
assert row(done.stdout, 'ring')[:2] == ('2 stages, 5 k-tiles, 2 readers', 1024), done.stdout

listed = [line.split()[:2] for line in run('--fault', 'list').stdout.splitlines()]
assert listed == [[protocol, fault] for protocol, faults in FOUND.items() for fault in faults], listed
for protocol, faults in FOUND.items():
    for fault, name in faults.items():
        refuted = run(protocol, '--fault', fault, '--schedules', '40')
        assert refuted.returncode == 1 and refuted.stderr == '', refuted
        assert row(refuted.stdout, protocol)[-1] == f'refuted: {name}', refuted.stdout
        drawn = int(re.search(r'^(\d+) of 40 drawn schedules find something', refuted.stdout, re.MULTILINE)[1])
        assert (drawn < 4) == (fault in RARE), refuted.stdout
        lines = refuted.stdout.splitlines()
        first, replay = lines[3], lines[-1].removeprefix('Replay: ./tw prove ')
        assert first.startswith(f'{name}: '), refuted.stdout
        again = run(*shlex.split(replay))
        assert again.returncode == 1 and again.stdout.startswith(first), f'{replay}: {again}'

# All orders of the smallest ring: what the reduction stands for.
all_orders = row(run('ring', '--steps', '1', '--consumers', '1', '--unreduced').stdout, 'ring')
reduced = row(run('ring', '--steps', '1', '--consumers', '1').stdout, 'ring')
assert all_orders[-1] == reduced[-1] == 'proved' and all_orders[1] == 6320 and reduced[1] == 2, (all_orders, reduced)
assert lower_bound(reduced[4]) <= all_orders[1], (all_orders, reduced)

limited = run('ring', '--limit', '100')
assert limited.returncode == 2 and 'incomplete: the limit of 100 executions' in limited.stdout, limited
for words, sentence in (
        (['rings'], "There is no protocol 'rings'; there are ring, announcement, turn, fixup."),
        (['ring', '--stages', '9'], 'The protocol ring takes 1 to 3 stages, but --stages is 9.'),
        (['ring', '--steps', '0'], 'The protocol ring takes 1 to 32 k-tiles, but --steps is 0.'),
        (['fixup', '--stages', '2'], 'The protocol fixup takes no --stages.'),
        (['ring', '--fault', 'none'], "The protocol ring has no fault 'none'; it has arrival-short, same-phase, early-release."),
        (['--fault', 'no-turns'], '--fault and --replay are of one protocol: name it.'),
        (['ring', '--replay', '0*x'], "The schedule '0*x' has '0*x', but its parts are THREAD, THREAD*STEPS or THREAD'LANDING."),
        (['ring', '--replay', "7"], 'Step 1 of the schedule, 7, is not possible: it belongs to another protocol or bound.'),
        (['ring', '--limit', '0'], '--limit'),
        (['ring', '--steps', '-1'], '--steps')):
    refused = run(*words)
    assert refused.returncode == 2 and sentence in refused.stderr and refused.stderr.startswith('tw: '), refused
print(f'{len(FOUND)} protocols are proved, {len(listed)} faults are refuted.')
