"""A skip is told as a skip: by programs of GoogleTest, by CTest, and by tools/test_summary.py.

usage: skips.py --program test_skipping --ctest CTEST --summary tools/test_summary.py --folder FOLDER
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

REASON = 'There is no unicorn here.'
# The folder's tests: name, filter of GoogleTest, or a command.
TESTS = {'all_skipped': '*IsSkipped', 'partly_skipped': '*IsSkipped:*Runs', 'runs': '*Runs', 'fails': '*Fails', 'nothing_said': None}


def check(good, text):
    if not good:
        sys.exit(text)


def run(program, tests):
    done = subprocess.run([program, f'--gtest_filter={tests}'], capture_output=True, text=True)
    return done.returncode, f'Skipped: Skipping.IsSkipped: {REASON}' in done.stdout


def summary_of(options, tests):
    """The exit status and the lines for a run of CTest over `tests`."""
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    text = ''
    for name in tests:
        command = f'"{options.program}" "--gtest_filter={TESTS[name]}"' if TESTS[name] else f'"{sys.executable}" -c "raise SystemExit(77)"'
        text += f'add_test({name} {command})\nset_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)\n'
    (options.folder / 'CTestTestfile.cmake').write_text(text)
    results = options.folder / 'results.xml'
    told = subprocess.run([options.ctest, '--test-dir', options.folder, '--output-junit', results, '--test-output-size-passed', '1048576'],
                          capture_output=True, text=True).stdout
    done = subprocess.run([sys.executable, options.summary, results], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), told


def main():
    parser = argparse.ArgumentParser()
    for name in ('program', 'ctest', 'summary', 'folder'):
        parser.add_argument(f'--{name}', type=pathlib.Path, required=True)
    options = parser.parse_args()
    for tests, expected in (('*IsSkipped', (77, True)), ('*IsSkipped:*Runs', (0, True)), ('*Runs', (0, False)), ('*IsSkipped:*Fails', (1, True))):
        found = run(options.program, tests)
        check(found == expected, f'{tests}: status and whether the reason is told are {found}, not {expected}')

    status, lines, told = summary_of(options, ['all_skipped', 'partly_skipped', 'runs', 'nothing_said'])
    check('all_skipped (Skipped)' in told, f'CTest does not call it skipped:\n{told}')
    check(status == 0, f'nothing failed, but the status is {status}')
    check(lines[0].startswith('2 passed, 0 failed, 2 skipped;'), lines[0])
    check(f'skipped: all_skipped: {REASON}' in lines, f'no reason of the program in {lines}')
    check(f'skipped in part: partly_skipped: {REASON}' in lines, f'no reason of the part in {lines}')
    check('skipped: nothing_said: it does not say why' in lines, f'no line of the silent one in {lines}')

    status, lines, _ = summary_of(options, ['runs', 'fails'])
    check(status == 1, f'a test failed, but the status is {status}')
    check(lines[0].startswith('1 passed, 1 failed, 0 skipped;') and 'failed: fails' in lines, str(lines))

    status = subprocess.run([sys.executable, options.summary, options.folder / 'none.xml'], capture_output=True).returncode
    check(status == 2, f'without a file the status is {status}')


main()
