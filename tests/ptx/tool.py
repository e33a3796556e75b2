"""./tw ptx: verdicts, exit status, what findings say, arrays from and to files, tensor maps in words, and bad input in sentences.

usage: tool.py PROGRAM
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()

HEAD = '.version 9.0\n.target sm_90a\n.address_size 64\n'

# 64 threads reverse a line of floats through shared memory, and scale it.
REVERSE = HEAD + '''
.visible .entry reverse(.param .u64 from, .param .u64 to, .param .f32 scale)
.reqntid 64
{
  .reg .b64 %x<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .shared .align 16 .b8 tile[256];
  .loc 1 7 0
  ld.param.u64 %x0, [from];
  ld.param.u64 %x1, [to];
  ld.param.f32 %f1, [scale];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %x2, %r0, 4;
  add.s64 %x0, %x0, %x2;
  add.s64 %x1, %x1, %x2;
  ld.global.f32 %f0, [%x0];
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 2;
  add.s32 %r3, %r1, %r2;
  .loc 1 8 0
  st.shared.f32 [%r3], %f0;
  bar.sync 0;
  sub.s32 %r4, %r1, %r2;
  .loc 1 9 0
  ld.shared.f32 %f2, [%r4+252];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%x1], %f2;
  ret;
}
.file 1 "reverse.cu"
'''

# One thread loads a box of a map by TMA, and all copy it out.
BOX = HEAD + '''
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 to)
.reqntid 32
{
  .reg .b64 %x<4>;
  .reg .b32 %r<8>;
  .reg .pred %p<3>;
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b8 full[8];
  ld.param.u64 %x1, [to];
  mov.b64 %x0, map;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%x0, {4, 2}], [%r2];
ready:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra wait;
  shl.b32 %r3, %r0, 2;
  add.s32 %r4, %r1, %r3;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %x2, %r3, 1;
  add.s64 %x1, %x1, %x2;
  st.global.u32 [%x1], %r5;
  ret;
}
'''


def npy(path, code, shape, values):
    header = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b' ' * (-(11 + len(header)) % 64) + b'\n'
    letters = {'f4': 'f', 'i4': 'i'}[code]
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + struct.pack(f'<{len(values)}{letters}', *values))


def read(path, letter):
    data = path.read_bytes()
    begin = 10 + struct.unpack('<H', data[8:10])[0]
    return list(struct.unpack(f'<{(len(data) - begin) // 4}{letter}', data[begin:]))


def run(text, *words):
    (folder / 'k.ptx').write_text(text)
    done = subprocess.run([PROGRAM, 'k.ptx', *words], capture_output=True, text=True, cwd=folder, timeout=60)
    return done.returncode, done.stdout, done.stderr


checked = 0


def expect(got, status, *sentences):
    global checked
    code, out, error = got
    text = error if status == 2 and not out else out
    assert code == status, got
    for sentence in sentences:
        assert sentence in text, f'{sentence!r} is not in {got}'
    checked += 1


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    npy(folder / 'x.npy', 'f4', (64,), [float(i) for i in range(64)])
    npy(folder / 'y.npy', 'f4', (64,), [2.0 * (63 - i) for i in range(64)])
    npy(folder / 'near.npy', 'f4', (64,), [2.0 * (63 - i) + 0.25 for i in range(64)])
    npy(folder / 'table.npy', 'i4', (8, 16), list(range(128)))
    npy(folder / 'tile.npy', 'i4', (4, 8), [16 * (2 + r) + 4 + c for r in range(4) for c in range(8)])
    reverse = ['--array', 'X=x.npy', '--array', 'Y=out:float32[64]', '--arg', 'X', '--arg', 'Y', '--arg', '2']

    expect(run(REVERSE, *reverse, '--expect', 'Y=y.npy'), 0, 'reverse, grid 1x1x1, block 64x1x1: 8 of 8 schedules are clean and right')
    expect(run(REVERSE, *reverse, '--save', 'Y=out.npy', '--schedules', '1'), 0, '1 of 1 schedules are clean')
    assert read(folder / 'out.npy', 'f') == read(folder / 'y.npy', 'f')
    expect(run(REVERSE, *reverse, '--expect', 'Y=near.npy,bound=0.25'), 0)
    expect(run(REVERSE, *reverse, '--expect', 'Y=near.npy,bound=0.1'), 1, 'wrong: Y[0] is 126, and not 126.25: 64 of 64 elements differ from near.npy.')
    line = REVERSE.split('\n').index('  ld.shared.f32 %f2, [%r4+252];') + 1
    expect(run(REVERSE.replace('  bar.sync 0;\n', '\n'), *reverse), 1, f'line {line} (reverse.cu:9)', 'replay: the same with --schedules 1 --sms 4')
    expect(run(REVERSE.replace('bar.sync 0', 'frobnicate.b32 %r4, %r5'), *reverse), 2, 'incomplete: ', 'frobnicate.b32 has no model')
    trace = ['--schedules', '1', '-o', 'trace.json', '--html', 'trace.html', '--svg', 'trace.svg']
    expect(run(REVERSE, *reverse, *trace), 0, 'warp 0')
    assert all((folder / file).stat().st_size > 500 for file in ('trace.json', 'trace.html', 'trace.svg'))

    box = ['--array', 'T=table.npy', '--array', 'C=out:int32[4,8]', '--arg', 'map:T,box=8x4', '--arg', 'C']
    expect(run(BOX, *box, '--expect', 'C=tile.npy'), 0, '8 of 8 schedules are clean and right')
    strided = ['--array', 'T=table.npy', '--array', 'C=out:int32[4,8]', '--arg', 'map:T,type=u32,dims=16x8,strides=64,box=8x4', '--arg', 'C']
    expect(run(BOX, *strided, '--expect', 'C=tile.npy'), 0)
    expect(run(BOX.replace('_, [%r2], 128', '_, [%r2], 64'), *box), 1, 'transaction-bytes: ')
    lost = BOX.replace('wait:\n', '').replace('  @!%p1 bra wait;\n', '')
    expect(run(lost, *box), 1, 'read-before-full: ')
    through_pointer = BOX.replace('.param .align 64 .b8 map[128]', '.param .u64 map').replace('mov.b64 %x0, map', 'ld.param.u64 %x0, [map]')
    expect(run(through_pointer, *box, '--expect', 'C=tile.npy'), 0)

    for words, sentence in (
            ([], 'reverse takes 3 arguments, and not 0.'),
            (['--entry', 'forward'], "The module has no entry 'forward'."),
            (['--block', '32'], 'reverse has 64x1x1 threads by .reqntid, and not 32x1x1.'),
            (['--grid', '4,'], "--grid is '4,', but must be one to three numbers as in 4,2,1."),
            (['--cluster', '1,2'], 'A grid of 1x1x1 does not consist of whole clusters of 1x2x1.'),
            (['--landing', 'never', *reverse], "--landing is 'never', but must be eager, lazy, random or adversarial."),
            (['--array', 'X=none.npy'], "The array 'none.npy' cannot be read."),
            (['--array', 'X=k.ptx'], "The array 'k.ptx' is no .npy file."),
            (['--array', 'X=out:float32'], "The array X is 'float32', but must be as in float32[64,32]."),
            (['--array', 'X'], "--array is 'X', but must be NAME=FILE.npy"),
            ([*reverse[:-1], '1.5.2'], "'1.5.2' is no number (f32)."),
            ([*reverse[:-1], 's64:2'], "The parameter scale has 4 bytes, and 's64:2' has 8."),
            ([*reverse[:4], '--arg', 'Z', '--arg', 'Y', '--arg', '2'], "There is no array 'Z'."),
            ([*reverse, '--expect', 'Y=table.npy'], 'Y has 256 bytes, and what is expected of it has 512.'),
            ([*reverse, '--save', 'Y=no/where.npy'], "'no/where.npy' cannot be written"),
            ([*reverse, '--array', 'X=x.npy'], "There are two arrays 'X'.")):
        got = run(REVERSE, *words)
        assert got[0] == 2 and sentence in got[2], (sentence, got)
        checked += 1
    for words, sentence in (
            ('map:T,box=8x512', 'box side 512 of dimension 1 is not in 1 to 256.'),
            ('map:T,box=8', "A tensor map has 2 numbers of 'box', and not 1."),
            ('map:T,box=8x4,swizzle=48', 'The swizzle of a tensor map is 0, 32, 64 or 128 bytes, not 48.'),
            ('map:T,box=8x4,dims=16x9', 'The tensor of a map ends at byte 576 of T, which has 512.'),
            ('map:T,boxes=8x4', "A tensor map has no 'boxes'"),
            ('map:T,type=f12,box=8x4', "The type 'f12' of a tensor map of T is not known."),
            ('17', "The parameter map is a struct of 128 bytes, and '17' is none."),
            ('struct:0', "'0' of map must be BYTE=ARGUMENT, with a byte below 128."),
            ('struct:0=3', "'3' in the struct map needs its type: s32:3.")):
        got = run(BOX, *box[:4], '--arg', words, '--arg', 'C')
        assert got[0] == 2 and sentence in got[2], (sentence, got)
        checked += 1
    got = run('.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k( {', '--grid', '1')
    assert got[0] == 2 and got[2].startswith('tw: Line '), got
print(f'{checked} runs of ./tw ptx.')
