"""./tw run --on gpu of an AMD target: by HIP where it can be opened, else a sentence that says why not.

usage: hip.py --program FILE --stub FOLDER

The stub's libamdhip64.so records launches and computes nothing, so that the results must be found to be wrong.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('--program', required=True)
parser.add_argument('--stub', required=True)
options = parser.parse_args()
wrong = []


def run(*arguments, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([options.program, 'run', 'matmul', '--m', '70', '--n', '130', '--k', '64', *arguments], env=environment,
                          capture_output=True, text=True)


def expect(told, words, status):
    text = told.stdout + told.stderr
    if words not in text or told.returncode != status:
        wrong.append(f'Instead of "{words}" and status {status}: "{text.strip()}" and {told.returncode}.')


def on_gpu(target, words, status, **variables):
    expect(run('--arch', target, '--on', 'gpu', **variables), words, status)


with tempfile.TemporaryDirectory() as folder:
    record = pathlib.Path(folder) / 'record'
    stub = {'LD_LIBRARY_PATH': options.stub, 'STUB_RECORD': str(record)}
    on_gpu('gfx942', "There is no AMD GPU here: HIP's library, libamdhip64.so, is not found.", 2, LD_LIBRARY_PATH=folder)
    on_gpu('gfx942', 'There is no AMD GPU here.', 2, STUB_DEVICE='none', **stub)
    on_gpu('gfx942', 'The GPU is gfx950; the instance cdna3_bf16 is for gfx942.', 2, STUB_DEVICE='gfx950', **stub)
    if record.exists():
        wrong.append(f'What was refused was launched: {record.read_text()}')
    # Without --on, the kernel runs on the virtual GPU where no other is.
    expect(run('--arch', 'gfx942', LD_LIBRARY_PATH=folder), 'on the virtual GPU: all 9100 elements are exact', 0)
    on_gpu('gfx942', 'on a stub: wrong', 1, **stub)
    launches = [line.split() for line in record.read_text().splitlines()] if record.exists() else []
    # Four tiles of 64 by 128, of eight waves; the stub has four CUs.
    if len(launches) != 1 or 'cdna3_bf16' not in launches[0][0] or launches[0][1:3] != ['4', '512']:
        wrong.append(f'The launches are {launches}.')
    # An emulator may execute what is launched, or not: this one says what memory is.
    emulator = pathlib.Path(folder) / 'emulator'
    emulator.write_text('#!/bin/sh\ncd $1 && head -c 4 code_object | grep -q ELF && grep -q "cdna3_bf16.* 4 512 " launch && '
                        '[ -s arguments ] && for file in 1000*; do head -c $(stat -c %s $file) /dev/zero > $file.new && mv $file.new $file; done\n')
    emulator.chmod(0o755)
    told = run('--arch', 'gfx942', '--on', 'gpu', TW_AMD_EMULATOR=str(emulator), **stub)
    expect(told, 'on a stub: wrong', 1)
    if 'nobody wrote' in told.stdout:
        wrong.append(f'What the emulator wrote is not what the program reads: {told.stdout}')
    on_gpu('gfx942', 'The launch failed: the emulator failed.', 2, TW_AMD_EMULATOR='false', **stub)

    # Problems for the fuzzer are launched likewise.
    def fuzz(words, status, **variables):
        expect(subprocess.run([options.program, 'fuzz', '--on', 'gpu', '--arch', 'gfx942', '--instance', 'cdna3_bf16', '--minutes', '0.02',
                               '--largest', '70', '--seed', '1', '--corpus', ''], env={**os.environ, **variables}, cwd=folder,
                              capture_output=True, text=True), words, status)

    fuzz("There is no AMD GPU here: HIP's library, libamdhip64.so, is not found.", 2, LD_LIBRARY_PATH=folder)
    fuzz('fuzz on a stub, seed 1', 1, **stub)
print('\n'.join(wrong) or 'Four runs are refused with a sentence, two are launched by HIP.')
sys.exit(1 if wrong else 0)
