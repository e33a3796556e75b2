"""tools/progress.py says how many steps of ninja and tests of ctest are done and how long the rest takes, also where nothing ends for a
while, and shows what failed.

usage: progress.py PROGRESS
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RULES = '''rule wait
  command = sleep 0.5 && touch $out
  description = Waiting for $out
rule fail
  command = echo the words of a compiler && exit 3
  description = Failing
'''
SAID = re.compile(r'^tw: (\d+) of (\d+) (steps|tests), about \d+ (s|min) left', re.MULTILINE)


def run(folder, kind, *command, interval='0.2'):
    return subprocess.run([sys.executable, sys.argv[1], kind, f'{folder}/log', *command], capture_output=True, text=True,
                          env={**os.environ, 'TW_PROGRESS_SECONDS': interval})


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    (folder / 'build.ninja').write_text(RULES + ''.join(f'build {i}: wait\n' for i in range(4)) + 'build all: phony 0 1 2 3\nbuild bad: fail\n')
    ninja = ['ninja', '-C', temporary, '-j1']
    done = run(folder, 'steps', *ninja, 'all')
    said = SAID.findall(done.stderr)
    assert done.returncode == 0 and done.stdout == '', done
    assert done.stderr.startswith('tw: building, 1 s so far\n'), done.stderr
    assert {count for count, *_ in said} >= {'1', '2', '3'} and all(total == '4' and what == 'steps' for _, total, what, _ in said), done.stderr
    assert 'Waiting for 2' in (folder / 'log').read_text()

    # A quick build is silent.
    done = run(folder, 'steps', *ninja, 'all', interval='5')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', ''), done

    done = run(folder, 'steps', *ninja, 'bad')
    assert done.returncode == 1 and 'the words of a compiler' in done.stderr and 'FAILED: bad' in done.stderr, done
    done = run(folder, 'steps', *ninja, 'unknown')
    assert done.returncode == 1 and "unknown target 'unknown'" in done.stderr, done

    # ctest speaks for itself; what it is at is said where it is silent.
    (folder / 'CTestTestfile.cmake').write_text('add_test(quick true)\nadd_test(slow sleep 1.2)\nadd_test(wrong false)\n')
    done = run(folder, 'tests', 'ctest', '--test-dir', temporary)
    assert done.returncode == 8 and '1/3 Test #1: quick' in done.stdout and 'wrong (Failed)' in done.stdout, done
    assert re.search(r'^tw: 1 of 3 tests, about \d+ s left \(running: slow\)$', done.stderr, re.MULTILINE), done.stderr
print('Steps and tests are told.')
