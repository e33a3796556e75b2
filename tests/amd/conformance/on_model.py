"""The conformance programs on the virtual GPU: the tables' words in the tree are the tables', and every program gives them.

usage: on_model.py PROGRAM FOLDER
"""
import pathlib
import subprocess
import sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
own = pathlib.Path(__file__).parent
expected = own / 'expected.txt'
made = subprocess.run([sys.executable, own / 'golden.py', '--check', expected, '--inputs', folder / 'inputs'])
if made.returncode != 0:
    sys.exit(1)
ran = subprocess.run([program, folder / 'inputs', expected]).returncode
# A word that is another must be told.
lines = expected.read_text().splitlines()
(folder / 'broken.txt').write_text('\n'.join(line[:-1] + ('1' if line[-1] != '1' else '2') for line in lines) + '\n')
broken = subprocess.run([program, folder / 'inputs', folder / 'broken.txt'], capture_output=True, text=True)
if f'0 programs are as the tables say, {len(lines)} are not.' not in broken.stdout:
    print('Words that are wrong are taken:', broken.stdout)
    ran = 1
sys.exit(ran)
