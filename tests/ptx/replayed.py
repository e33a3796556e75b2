"""Bugs that others have reported for kernels of theirs, rebuilt in a few lines of PTX from what the reports say: the program before the fix
has the finding, the one after it is clean under every landing.

usage: replayed.py PROGRAM
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()

FRAME = '''.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .align 64 .b8 out[128], .param .u64 from, .param .u64 to)
.reqntid %d
{
  .reg .b64 %%x<16>;
  .reg .b32 %%r<32>;
  .reg .f32 %%f<64>;
  .reg .pred %%p<8>;
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b8 full[8];
  .shared .align 8 .b8 empty[8];
  mov.b64 %%x0, map;
  mov.b64 %%x1, out;
  ld.param.u64 %%x2, [from];
  ld.param.u64 %%x3, [to];
  mov.u32 %%r0, %%tid.x;
  mov.u32 %%r1, tile;
  mov.u32 %%r2, full;
  mov.u32 %%r3, empty;
  shl.b32 %%r4, %%r0, 2;
  add.s32 %%r5, %%r1, %%r4;
  mul.wide.u32 %%x4, %%r4, 1;
  add.s64 %%x5, %%x2, %%x4;
  add.s64 %%x6, %%x3, %%x4;
  setp.eq.u32 %%p0, %%r0, 0;
  shr.u32 %%r6, %%r0, 5;
%s
  ret;
}
'''
INIT = '''
  @%%p0 mbarrier.init.shared::cta.b64 [%%r2], %d;
  @%%p0 mbarrier.init.shared::cta.b64 [%%r3], %d;
  @%%p0 fence.mbarrier_init.release.cluster;
  bar.sync 0;
'''
LOAD = '  @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%x0, {0, 0}], [%r2];\n'
WAIT = '''
W%d:
  mbarrier.try_wait.parity.shared::cta.b64 %%p1, [%s], %s;
  @!%%p1 bra W%d;
'''
READ = '  ld.shared.u32 %r8, [%r5];\n  st.global.u32 [%x6], %r8;\n'


def wait(label, barrier, phase):
    return WAIT % (label, barrier, phase, label)


class Replay:
    """`body` has {} where the fix stands; `fix` is what was added, and `bug` what stood there before."""

    def __init__(self, report, what, finding, threads, body, fix, bug=''):
        self.report, self.what, self.finding, self.threads, self.body, self.fix, self.bug = report, what, finding, threads, body, fix, bug


REPLAYS = [
    Replay('tile-ai/tilelang#2566', 'bytes are expected, but nobody arrives: the reader of a single stage waits for ever',
           'deadlock', 128,
           INIT % (1, 1) + '  {}\n' + LOAD + wait(1, '%r2', 0) + READ,
           '@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;',
           '@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 512;'),
    Replay('tile-ai/tilelang#2644', 'bytes of a cluster are expected where one CTA copies', 'deadlock', 128,
           INIT % (1, 1) + '  {}\n' + LOAD + wait(1, '%r2', 0) + READ,
           '@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;',
           '@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;'),
    Replay('flashinfer-ai/flashinfer#4533', 'two pairs of warps take the same named barrier', 'race', 128, '''
  setp.lt.u32 %p2, %r6, 2;
  st.shared.u32 [%r5], %r0;
  @!%p2 bra second;
  bar.sync 1, 64;
  bra done;
second:
  {}
done:
  xor.b32 %r7, %r4, 128;
  add.s32 %r9, %r1, %r7;
  ld.shared.u32 %r8, [%r9];
  st.global.u32 [%x6], %r8;
''', 'bar.sync 2, 64;', 'bar.sync 1, 64;'),
    Replay('MoonshotAI/FlashKDA#24', 'what threads wrote is stored by TMA without a proxy fence', 'missing-proxy-fence', 128, '''
  st.shared.u32 [%r5], %r0;
  {}
  bar.sync 0;
  @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%x1, {{0, 0}}], [%r1];
  @%p0 cp.async.bulk.commit_group;
  @%p0 cp.async.bulk.wait_group.read 0;
''', 'fence.proxy.async.shared::cta;'),
    Replay('NVIDIA/Fuser#3428', 'some threads copy, all meet, and nobody waited for the copies', 'read-before-full', 128, '''
  cp.async.ca.shared.global [%r5], [%x5], 4;
  {}
  bar.sync 0;
  xor.b32 %r7, %r4, 128;
  add.s32 %r9, %r1, %r7;
  ld.shared.u32 %r8, [%r9];
  st.global.u32 [%x6], %r8;
''', 'cp.async.wait_all;'),
    Replay('NVIDIA/cuml#6578', 'one thread still sums up when the others write the next values', 'overwrite-while-read', 128, '''
  mov.u32 %r10, 0;
  mov.u32 %r13, 0;
again:
  add.s32 %r11, %r0, %r10;
  st.shared.u32 [%r5], %r11;
  bar.sync 0;
  @!%p0 bra next;
  ld.shared.u32 %r12, [%r1];
  add.s32 %r13, %r13, %r12;
  ld.shared.u32 %r12, [%r1+256];
  add.s32 %r13, %r13, %r12;
next:
  {}
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p3, %r10, 3;
  @%p3 bra again;
  st.global.u32 [%x6], %r13;
''', 'bar.sync 0;'),
    Replay('ggml-org/llama.cpp#13469', 'some warps come to a barrier that the others do not reach', 'deadlock', 128, '''
  st.shared.u32 [%r5], %r0;
  setp.lt.u32 %p2, %r6, 2;
  {}
  xor.b32 %r7, %r4, 128;
  add.s32 %r9, %r1, %r7;
  bar.sync 0;
  ld.shared.u32 %r8, [%r9];
  st.global.u32 [%x6], %r8;
''', '', '@%p2 bar.sync 0;'),
    Replay('tile-ai/tilelang#3087', 'a wait for the wrong parity returns at once, and the stage is filled again', 'phase-skipped', 128,
           INIT % (1, 128) + '''
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + wait(1, '%r2', 0) + '''
  ld.shared.u32 %r8, [%r5];
  mbarrier.arrive.shared::cta.b64 _, [%r3];
  @!%p0 bra second;
''' + wait(2, '%r3', '{}') + '''
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + 'second:\n' + wait(3, '%r2', 1) + READ, '0', '1'),
    Replay('triton-lang/triton#10035', 'the first warp goes on to the next phase while others still wait for this one',
           'phase-skipped', 128,
           INIT % (1, 128) + '''
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + wait(1, '%r2', 0) + '''
  ld.shared.u32 %r8, [%r5];
  {}
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + wait(2, '%r2', 1) + READ, 'bar.sync 0;'),
    Replay('JustVugg/colibri#1099', 'lanes read what other lanes of the warp stored, without a warp barrier', 'race', 32, '''
  st.shared.u32 [%r5], %r0;
  {}
  xor.b32 %r7, %r4, 4;
  add.s32 %r9, %r1, %r7;
  ld.shared.u32 %r8, [%r9];
  st.global.u32 [%x6], %r8;
''', 'bar.warp.sync -1;'),
    Replay('deepseek-ai/DeepEP#293', 'a barrier for one arrival, at which every thread arrives', 'arrival-count', 32,
           '''
  @%p0 mbarrier.init.shared::cta.b64 [%r2], {};
  bar.warp.sync -1;
  st.shared.u32 [%r5], %r0;
  mbarrier.arrive.shared::cta.b64 _, [%r2];
''' + wait(1, '%r2', 0) + READ, '32', '3'),
    Replay('NVIDIA/Fuser#3561', 'products still read a stage when it is given back', 'overwrite-while-read', 128,
           '''
  shl.b32 %r20, %r0, 4;
  add.s32 %r20, %r1, %r20;
  mov.u32 %r21, 0;
  st.shared.v4.u32 [%r20], {{%r21, %r21, %r21, %r21}};
  fence.proxy.async.shared::cta;
''' + INIT % (1, 128) + '''
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + wait(1, '%r2', 0) + '''
  mov.b64 %x8, 0x0000001000080000;
  mul.wide.u32 %x9, %r1, 1;
  shr.u64 %x9, %x9, 4;
  and.b64 %x9, %x9, 0x3fff;
  or.b64 %x8, %x8, %x9;
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  setp.ne.u32 %p4, %r0, %r0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%f0, %f1, %f2, %f3}}, %x8, %x8, %p4, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  {}
  mbarrier.arrive.shared::cta.b64 _, [%r3];
  @!%p0 bra second;
''' + wait(2, '%r3', 0) + '''
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
''' + LOAD + 'second:\n  wgmma.wait_group.sync.aligned 0;\n' + wait(3, '%r2', 1) + READ, 'wgmma.wait_group.sync.aligned 0;'),
]


def npy(path, shape, values):
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b' ' * (-(11 + len(header)) % 64) + b'\n'
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + struct.pack(f'<{len(values)}i', *values))


def run(folder, replay, fixed):
    body = replay.body.replace('{{', '\x01').replace('}}', '\x02')
    body = body.replace(LOAD, '\x03')
    body = body.replace('{}', replay.fix if fixed else replay.bug).replace('\x03', LOAD).replace('\x01', '{').replace('\x02', '}')
    (folder / 'k.ptx').write_text(FRAME % (replay.threads, body))
    done = subprocess.run([PROGRAM, 'k.ptx', '--array', 'A=a.npy', '--array', 'C=zeros:int32[4,32]', '--arg', 'map:A,box=32x4', '--arg', 'map:C,box=32x4', '--arg',
                           'A', '--arg', 'C'], capture_output=True, text=True, cwd=folder, timeout=60)
    return done.returncode, done.stdout + done.stderr


wrong = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    npy(folder / 'a.npy', (4, 32), list(range(128)))
    for replay in REPLAYS:
        before, after = run(folder, replay, False), run(folder, replay, True)
        if before[0] != 1 or f'{replay.finding}: ' not in before[1] or after[0] != 0:
            wrong += 1
            print(f'{replay.report}: {replay.what}\nbefore {before[0]}: {before[1]}\nafter {after[0]}: {after[1]}')
print(f'{len(REPLAYS) - wrong} of {len(REPLAYS)} reported bugs are found before their fix, and nothing after it.')
sys.exit(1 if wrong else 0)
