"""Bad input of every command: exit status 2, one clear sentence on stderr, nothing on stdout, nothing written.

usage: bad_input.py SCRIPT PROGRAM [BENCH_PROGRAM]
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

script, program, bench = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
suites = pathlib.Path(__file__).parents[2] / 'bench/suites'
CASES = [
    ([script, 'dance'], "no command 'dance'"),
    ([script, 'package', '--into', 'there'], "package takes --to FOLDER or nothing, but got '--into there'"),
    ([script, 'library', '--prefix'], 'library takes --prefix FOLDER or nothing'),
    ([script, 'library', '--parts'], 'library --parts takes --prefix FOLDER'),
    ([program], 'subcommand is required'),
    ([program, 'dance'], ''),
    ([program, 'run'], 'family is required'),
    ([program, 'explain'], 'instance is required'),
    ([program, 'explain', 'magic'], "no instance 'magic'"),
    ([program, 'run', 'conv9d'], "no family 'conv9d'"),
    *(([program, command, 'conv2d', *words], sentence)
      for command in ('run', 'check', 'trace')
      for words, sentence in ((['--stride', '0'], 'The stride along w = 0 must be from 1 to'),
                              (['--stride', '1,0,1'], 'The stride along h = 0 must be from 1 to'),
                              (['--stride', '0', '--tile', '1x1'], 'The stride along w = 0 must be from 1 to'),
                              (['--direction', 'dgrad', '--stride', '0,1'], 'The stride along h = 0 must be from 1 to'),
                              (['--groups', '0'], 'groups = 0 must be from 1 to'))),
    ([program, 'run', 'attention', '--key-heads', '0'], 'key_heads = 0 must be at least 1'),
    ([program, 'run', 'attention', '--head-size', '0'], 'head_size = 0 must be at least 1'),
    ([program, 'run', 'attention', '--head-size', '60'], 'head_size = 60 and 60 columns of values'),
    ([program, 'run', 'requantised', '--arch', 'sm80'],
     'No compiled kernel computes this product and quantises it on sm80. There is none for this device.'),
    ([program, 'run', 'quantise', '--scale-rows', '-1'], '--scale-rows is -1'),
    ([program, 'run', 'conv2d', '--instance', 'conv_bf16', '--stride', '9'], 'The stride along w = 9 must be from 1 to 8'),
    ([program, 'run', 'conv2d', '--groups', '3'], 'c = 64 must be a multiple of groups = 3'),
    ([program, 'run', 'conv2d', '--pad', '1,2,3'], '--pad has 3 numbers'),
    ([program, 'run', 'conv2d', '--instance', 'conv_bf16', '--c', '12'], 'pitch 12 elements'),
    ([program, 'run', 'conv2d', '--epilogue', 'magic'], "no epilogue 'magic'"),
    ([program, 'run', 'conv2d', '--instance', 'none'], "no instance 'none' of conv2d"),
    ([program, 'check', 'conv2d', '--data', 'zeros'], "--data is 'zeros'"),
    ([program, 'run', 'conv2d', '--direction', 'back'], 'back'),
    ([program, 'run', 'conv2d', '--direction', 'dgrad', '--instance', 'conv_bf16'], 'this kernel reads it K-major'),
    ([program, 'run', 'conv2d', '--direction', 'dgrad', '--stride', '9'], 'must be from 1 to 8'),
    ([program, 'run', 'blockwise', '--k', '-1'], '--k is -1, but must be between 0 and 65536'),
    ([program, 'run', 'blockwise', '--k', '500', '--n', '-3'], '--n is -3'),
    ([program, 'run', 'blockwise', '--a-scales', 'blocks'], "--a-scales is 'blocks', but must be row or column"),
    ([program, 'run', 'blockwise', '--epilogue', 'magic'], "no epilogue 'magic'"),
    ([program, 'run', 'blockwise', '--epilogue', 'relu,bias,gelu'], 'two activations, relu and gelu'),
    ([program, 'run', 'blockwise', '--instance', 'none'], "no instance 'none' of blockwise"),
    ([program, 'check', 'blockwise', '--data', 'zeros'], "--data is 'zeros'"),
    ([program, 'run', 'quantise', '--k', '-1'], '--k is -1, but must be between 0 and 65536'),
    ([program, 'run', 'quantise', '--scale-rows', '64'], 'A scale is of 64 rows, but must be of 1 or of 128'),
    ([program, 'run', 'quantise', '--source-type', 'e4m3'], 'The source has type e4m3, but must be bf16, fp16 or fp32'),
    ([program, 'run', 'requantised', '--d-scales', 'blocks'], "--d-scales is 'blocks', but must be row or column"),
    ([program, 'run', 'requantised', '--epilogue', 'gate'], 'The epilogue has a gate'),
    ([program, 'check', 'requantised', '--d-type', 'bf16'], 'what is quantised again is e4m3'),
    ([program, 'run', 'blockwise', '--split-k', '2', '--instance', 'blockwise_128x96'], 'split-K is 2'),
    ([program, 'run', 'requantised', '--arch', 'sm80'], 'on sm80. There is none for this device.'),
    ([program, 'check', 'quantise', '--elements-type', 'fp4'], "no type 'fp4' for --elements-type"),
    ([program, 'check', 'quantise', '--scales', 'diagonal'], "--scales is 'diagonal', but must be row or column"),
    ([program, 'run', 'grouped', '--sizes', '3,-1'], 'A size is -1, but must be between 0 and 65536'),
    ([program, 'run', 'grouped', '--sizes', '1,,2'], "--sizes is '1,,2', but must be whole numbers"),
    ([program, 'run', 'conv2d', '--pad', '1,'], "--pad is '1,', but must be whole numbers"),
    ([program, 'run', 'grouped', '--sizes', '3,9', '--capacity', '8'], 'A size is 9, but --capacity is 8 rows'),
    ([program, 'run', 'grouped', '--capacity', '400', '--spare', '1'], 'have no --spare rows'),
    ([program, 'run', 'grouped', '--epilogue', 'bias,nothing'], "no epilogue 'nothing'"),
    ([program, 'run', 'grouped', '--instance', 'gather_128x256', '--a-rows', '0'], 'Rows are gathered from 0 rows of A'),
    ([program, 'run', 'four_bit', '--instance', 'experts_mxfp4_bf16_192x16', '--sizes', '5,3', '--a-rows', '9'],
     'This kernel takes rows of A as they lie: no row index.'),
    ([program, 'run', 'four_bit', '--instance', 'mxfp4_bf16_64x16_along_k', '--a-rows', '9'],
     'A capacity and a row index are those of rows in groups, but there are none.'),
    ([program, 'run', 'grouped', '--epilogue', 'gate', '--n', '71'], 'n must be even'),
    ([program, 'run', 'grouped', '--instance', 'grouped_128x256', '--b', 'row'], 'B is MN-major; this kernel reads it K-major'),
    ([program, 'run', 'grouped', '--arch', 'sm90a', '--b', 'row'], 'B is MN-major; this kernel reads it K-major'),
    ([program, 'check', 'grouped', '--n', '70000'], '--n is 70000'),
    ([program, 'run', 'grouped', '--instance', 'none'], "no instance 'none' of grouped"),
    ([program, 'trace', 'matmul', '--beside', 'magic'], "--beside is 'magic', but matmul has no such instance"),
    ([program, 'trace', 'matmul', '--beside', 'magic.json'], "'magic.json' cannot be read"),
    ([program, 'trace', 'matmul', '--beside', str(suites / 'matmul-bf16.json')], 'is no timeline of ./tw trace'),
    ([program, 'run', 'matmul', '--arch', 'sm42'], "no target 'sm42'"),
    ([program, 'run', 'matmul', '--m', '-1'], '--m is -1, but must be between 0 and 65536'),
    ([program, 'run', 'matmul', '--k', '70000'], '--k is 70000'),
    ([program, 'run', 'matmul', '--m', 'many'], "--m is 'many', but must be a whole number"),
    ([program, 'run', 'matmul', '--m', '99999999999999999999'],
     '--m is 99999999999999999999, but must be between 0 and 65536'),
    # Types of operands, the type of D, layouts, alignment: what no kernel takes comes first.
    ([program, 'run', 'matmul', '--a-type', 'fp32'], 'tf32 (TW_TF32) is float32 in memory'),
    ([program, 'run', 'matmul', '--a-type', 's8', '--d-type', 'fp32', '--unaligned'], 'D has type fp32; this kernel stores'),
    ([program, 'run', 'matmul', '--a-type', 's8', '--d-type', 'fp16', '--b', 'row'], 'D has type fp16; this kernel stores'),
    ([program, 'run', 'matmul', '--d-type', 'fp16', '--unaligned'], 'D has type fp16; this kernel stores bf16'),
    ([program, 'run', 'matmul', '--a-type', 'fp16', '--b-type', 'tf32', '--unaligned'],
     'B has type tf32; this kernel multiplies fp16'),
    ([program, 'run', 'matmul', '--cluster', '3x3'], "--cluster '3x3'"),
    ([program, 'run', 'matmul', '--consumers', 'lazy'], "--consumers is 'lazy'"),
    ([program, 'run', 'matmul', '--epilogue', 'bias,magic'], "no epilogue 'magic'"),
    ([program, 'run', 'matmul', '--epilogue', 'relu,gelu'], 'two activations, relu and gelu'),
    ([program, 'run', 'matmul', '--epilogue', 'gate', '--n', '7'], '--n is 7'),
    ([program, 'run', 'matmul', '--epilogue', 'clamp', '--clamp-low', '9'], '--clamp-low is 9'),
    ([program, 'run', 'matmul', '--alpha', 'nan'], '--alpha is nan'),
    ([program, 'run', 'matmul', '--a-type', 'e9m9'], "no type 'e9m9' for --a-type"),
    ([program, 'run', 'matmul', '--c-type', 'posit'], "no type 'posit' for --d-type"),
    ([program, 'run', 'matmul', '--source-type', 's8'], '--source-type is s8'),
    ([program, 'run', 'matmul', '--a-type', 's8', '--b-type', 'bf16'], 'No instance serves s8 by bf16'),
    ([program, 'run', 'matmul', '--layout', 'xy'], "no layout 'xy'"),
    ([program, 'run', 'matmul', '--batch', '-1'], '--batch is -1'),
    ([program, 'run', 'matmul', '--split-k', '0'], '--split-k is 0'),
    ([program, 'run', 'matmul', '--split-k', '2', '--stream-k'], '--split-k is 2'),
    ([program, 'run', 'matmul', '--instance', 'zebra'], "no instance 'zebra'"),
    ([program, 'run', 'matmul', '--instance', 'grouped_128x256'], 'an instance of grouped, not of matmul: ./tw run grouped'),
    ([program, 'run', 'conv2d', '--instance', 'grouped_128x256'], 'an instance of grouped, not of conv2d'),
    ([program, 'run', 'matmul', '--data', 'noise'], "--data is 'noise'"),
    ([program, 'run', 'matmul', '--raster', 'z'], "--raster is 'z'"),
    ([program, 'run', 'matmul', '--group', '-2'], '--group is -2'),
    ([program, 'run', 'matmul', '--on', 'mars'], "--on is 'mars'"),
    ([program, 'run', 'matmul', '--launches', '0'], '--launches'),
    ([program, 'run', 'matmul', '--landing', 'never'], "--landing is 'never'"),
    ([script, 'demo', 'extra'], "demo takes no 'extra'"),
    ([script, 'info', 'extra'], "info takes no 'extra'"),
    ([script, 'library', '--nowhere'], "library takes --prefix FOLDER or nothing, but got '--nowhere'"),
    ([program, 'check', 'matmul', '--schedules', '0'], '--schedules'),
    ([program, 'check', 'matmul', '--sms', '1'], 'No cluster of 2 CTAs'),
    ([program, 'check', 'matmul', '--unknown'], '--unknown'),
    ([program, 'trace', 'matmul', '--ctas', '0', '-o', 'x.json'], '--ctas'),
    ([program, 'trace', 'matmul', '--on', 'moon', '-o', 'x.json'], '--on'),
    ([program, 'trace', 'matmul', '--acquires', '1', '-o', 'x.json'], '--acquires'),
    ([program, 'trace', 'matmul', '--m', '-5', '-o', 'x.json'], '--m is -5'),
    *(([program, 'trace', 'matmul', '--m', '64', '--n', '64', '--k', '64', '-o', path], f"'{path}' cannot be written: ")
      for path in ('/proc/nowhere/x.json', 'nowhere/x.json')),
    ([program, 'fuzz', '--minutes', '-1'], '--minutes'),
    ([program, 'fuzz', '--minutes', 'nan'], '--minutes is nan'),
    ([program, 'fuzz', '--problems', '0'], '--problems'),
    ([program, 'fuzz', '--problems', '3', '--minutes', '1'], 'excludes'),
    ([program, 'fuzz', '--corpus', '/'], "--corpus is '/', but must be a file"),
    ([program, 'fuzz', '--corpus', '/dev/full'], "--corpus is '/dev/full', but must be a file"),
    ([program, 'fuzz', '--arch', 'sm42'], "no target 'sm42'"),
    ([program, 'fuzz', '--on', 'mars'], "--on is 'mars'"),
    ([program, 'list', 'more'], 'more'),
    ([program, 'layout', 'coalesce(('], ''),
    ([program, 'layout', '(8,8)\v:(8,1)', '-o', 'a.svg'], ''),  # no character of XML
    ([program, 'layout', ' o '.join(['2:1'] * 10000)], 'Compositions are nested more than'),
]
if bench:
    CASES += [
        ([bench, 'conv9d', '--shape', '1x1x1'], "no family 'conv9d'"),
        ([bench, 'matmul'], 'nothing to measure'),
        ([bench, 'matmul', '--shape', '12x'], "shape '12x'"),
        ([bench, 'matmul', '--shape', '99999999999999999999x1x1'], "shape '99999999999999999999x1x1'"),
        ([bench, 'matmul', '--suite', 'missing.json'], "suite 'missing.json'"),
        ([bench, 'matmul', '--suite', str(suites / 'conv2d-bf16.json')], 'without m: it is not of matmul'),
        ([bench, 'conv2d', '--suite', str(suites / 'matmul-bf16.json')], 'has a shape without h: it is not of conv2d'),
        ([bench, 'conv2d', '--shape', '1x8x8x64'], "shape '1x8x8x64' is not of the form NxHxWxCxKxRxS"),
        ([bench, 'conv2d', '--shape', '1x8x8x64x64x3x3', '--epilogue', 'gelu'], "no epilogue 'gelu'"),
        ([bench, 'conv2d', '--shape', '1x8x8x64x64x3x3', '--peers', 'cublaslt'], "no peer 'cublaslt'; there is cudnn"),
        ([bench, 'conv2d'], 'nothing to measure'),
        ([bench, 'grouped', '--shape', '8x100x64'], "shape '8x100x64' is not of the form GROUPSxROWSxNxK"),
        ([bench, 'grouped', '--shape', '8x100x64x0'], 'with positive numbers'),
        ([bench, 'grouped', '--shape', '8x100x64x64', '--peer-library', 'no.so'],
         "The file 'no.so' is no shared library that can be opened: no.so: cannot open shared object file"),
        ([bench, 'grouped', '--shape', '8x100x64x64', '--peer-library', 'libc.so.6'], "The file 'libc.so.6' has no function tw_peer_grouped."),
        ([bench, 'blockwise', '--shape', '64x64x64', '--peer-library', 'libc.so.6'], "The file 'libc.so.6' has no function tw_peer_blockwise."),
        ([bench, 'matmul', '--shape', '8x8x8', '--peer-library', 'libc.so.6'], '--peer-library is of grouped, blockwise and attention, not of matmul.'),
        ([bench, 'attention', '--shape', '4x32x128'], "shape '4x32x128' is not of the form BATCHxHEADSxSEQxDIM"),
        ([bench, 'attention', '--shape', '4x32x128x64,2,5'], 'heads = 32 must be a multiple of key_heads = 5.'),
        ([bench, 'attention', '--shape', '4x32x128x64', '--type', 'fp32'], "type 'fp32' of attention is not measured"),
        ([bench, 'attention', '--shape', '4x32x128x64', '--epilogue', 'relu'], 'attention is no single product'),
        ([bench, 'attention', '--shape', '4x32x128x64', '--peer-library', 'libc.so.6'], "The file 'libc.so.6' has no function tw_peer_attention."),
        # Without a shape, options of shapes have the usual ones; one that only ./tw run has is for a described problem.
        ([bench, 'attention', '--type', 'fp32'], "type 'fp32' of attention is not measured"),
        ([bench, 'attention', '--each', '--instances', 'e4m3', '--type=fp32'], "type 'fp32' of attention is not measured"),
        ([bench, 'attention', '--peers', 'abacus'], "no peer 'abacus'; there is cudnn_attention"),
        ([bench, 'attention', '--peers', 'none', '--rounds', '5', '--type', 'fp32'], "type 'fp32' of attention is not measured"),
        ([bench, 'attention', '--peer-library', 'libc.so.6'], "The file 'libc.so.6' has no function tw_peer_attention."),
        ([bench, 'attention', '--each', '--queries', '-1'], '--queries is -1'),
        ([bench, 'attention', '--queries', '8', '--peers', 'none'], '--peers'),
        ([bench, 'quantise', '--shape', '64'], "shape '64' is not of the form MxK"),
        ([bench, 'quantise', '--scales', 'both'], '--scales'),
        ([bench, 'matmul', '--shape', '8x8x8', '--peers', 'abacus'], "no peer 'abacus'"),
        ([bench, 'matmul', '--shape', '8x8x8', '--rounds', '0'], '--rounds'),
    ]

failures = 0
for command, sentence in CASES:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
        written = list(pathlib.Path(folder).iterdir())
        good = (run.returncode == 2 and sentence in run.stderr and run.stderr.strip() != ''
                and run.stdout == '' and not written)
    if not good:
        failures += 1
        print(f'FAIL {" ".join(command)}: status {run.returncode}, wrote {written}\n'
              f'  stdout: {run.stdout!r}\n  stderr: {run.stderr!r}\n  expected: {sentence!r}')


def judged(what, command, status, sentence, **how):
    global failures
    run = subprocess.run(command, stderr=subprocess.PIPE, timeout=60, **how)
    errors = run.stderr.decode(errors='replace')
    if run.returncode != status or sentence not in errors:
        failures += 1
        print(f'FAIL {what}: status {run.returncode}, stderr {errors!r}')


# Output that cannot be written is no success, however much of it there is.
with open('/dev/full', 'w') as full:
    for words in (['list'], ['layout', '(2,2)'], ['--help']):
        judged(f'{words} to a full disk', [program, *words], 2, 'tw: ', stdout=full)
judged('list without stdout', ['sh', '-c', f'"{program}" list >&-'], 2, 'tw: ')
# A file appears whole or not at all: here none may have more than 500 bytes, as where a disk is full.
listed = subprocess.run([program, 'list', '--json'], capture_output=True, text=True).stdout.splitlines()[-1]
instance = json.loads(listed)[0]['instance']
for words in (['trace', 'matmul', '--m', '64', '--n', '64', '--k', '64', '-o', 'a.json'], ['explain', instance, '--svg', 'a.svg'],
              ['layout', '(8,8)', '-o', 'a.svg']):
    with tempfile.TemporaryDirectory() as folder:
        judged(f'{words} on a full disk', [program, *words], 2, "' cannot be written: File too large.", cwd=folder,
               stdout=subprocess.DEVNULL, restore_signals=False,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
        if os.listdir(folder):
            failures += 1
            print(f'FAIL {words} on a full disk leaves {os.listdir(folder)}')
# What is no file stays what it is.
with tempfile.TemporaryDirectory() as folder:
    os.symlink('/dev/full', f'{folder}/full.svg')
    judged('a picture to a full device', [program, 'layout', '(2,2)', '-o', 'full.svg'], 2, 'No space left', cwd=folder,
           stdout=subprocess.DEVNULL)
    if os.listdir(folder) != ['full.svg'] or not pathlib.Path('/dev/full').is_char_device():
        failures += 1
        print('FAIL a device was replaced')
# A problem without elements is computed.
judged('no batch', [program, 'run', 'requantised', '--batch', '0'], 0, '', stdout=subprocess.DEVNULL)
# The name of a file may have any bytes.
with tempfile.TemporaryDirectory() as folder:
    judged('a name that is no UTF-8', [program, 'layout', '(2,2)', '-o', b'\xff.svg', '--json'], 0, '', cwd=folder,
           stdout=subprocess.DEVNULL)
print(f'{len(CASES) - failures} of {len(CASES)} bad inputs are refused with a sentence.')
sys.exit(1 if failures else 0)
