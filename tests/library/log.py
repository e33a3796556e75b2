"""TW_LOG: what the library prints are commands that repeat its calls, and why kernels were not taken.

usage: log.py CALLER PROGRAM: CALLER calls the library, PROGRAM is the command line's.
"""
import os
import shlex
import subprocess
import sys

caller, program = sys.argv[1:]


def log_of(level, tests):
    environment = dict(os.environ, TW_LOG=level)
    run = subprocess.run([caller, f'--gtest_filter={tests}'], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        sys.exit(f'TW_LOG={level}: the calls failed.\n{run.stdout}{run.stderr}')
    return run.stderr.splitlines()


def expect(right, what, lines):
    if not right:
        sys.exit('\n'.join([what] + lines))


lines = log_of('', 'Simulate.Epilogues')
expect(not lines, 'Without TW_LOG nothing is printed.', lines)

lines = log_of('loud', 'Simulate.Epilogues')
expect(lines == ["tw: TW_LOG is 'loud', but must be calls, info or dispatch."], 'An unknown level is named once.', lines)

commands = log_of('info', '*Layout:*Epilogues:*Batches*:*ExtentsOfOne*:*Named*')
expect(len(commands) >= 10, 'There is one line per call.', commands)
repeated = 0
for command in commands:
    words = shlex.split(command)
    expect(words[:2] == ['./tw', 'run'] and words[-2:] == ['--on', 'virtual'], 'No command:', [command])
    run = subprocess.run([program] + words[1:], capture_output=True, text=True)
    expect(run.returncode == 0, f'{command}\nends with {run.returncode}:', [run.stdout, run.stderr])
    repeated += 1

lines = log_of('info', '*CopiesOf*')
expect(len(lines) == 2 and all('# behind copies of A and B' in line for line in lines),
       'What begins anywhere is copied first.', lines)

lines = log_of('dispatch', '*Batches*')
told = [line for line in lines if line.startswith('tw:   not ')]
expect(told and all(line.endswith('.') for line in told), 'Rejections are sentences.', lines)
expect(sum('us expected' in line for line in lines) == 2, 'Choices are told once per shape.', lines)
expect(sum(line.startswith('./tw run') for line in lines) == 2, 'Calls are told, too.', lines)
print(f'{repeated} commands were repeated, {len(told)} rejections told.')
