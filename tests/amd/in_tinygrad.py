#!/usr/bin/env python3
"""Executes a code object for AMD's GPUs in tinygrad's emulator (test/mockgpu of its source tree, which PYTHONPATH must have).

usage: in_tinygrad.py FOLDER, as tests/amd/hip_stub.cpp writes it: TW_AMD_EMULATOR may be this program.

The emulator knows no time: loads to LDS land at once, waits do nothing, and a wave runs until it comes to a barrier. So kernels
that wait for counters hang in it; those that meet at barriers, and nowhere else, run. Where a load to LDS is out of range it
would read address 0 and end, though it then writes zeros: here such lanes read nothing, as they do in its loads to registers.
"""
import ctypes
import inspect
import mmap
import pathlib
import struct
import sys

from test.mockgpu.amd import emu

folder = pathlib.Path(sys.argv[1])
name, ctas, threads, shared_bytes = (folder / 'launch').read_text().split()
FIXED_NOREPLACE = 0x100000
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def memory(size, address=0):
    """Zeros, at an address where one is given."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (FIXED_NOREPLACE if address else 0)
    found = libc.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if found is None or found in (0, 2 ** 64 - 1) or (address and found != address):
        sys.exit(f'{size} bytes at {address:#x} are not free.')
    return found


def load(image):
    """Where the image's first address lies, and its symbols."""
    segments, sections = struct.unpack_from('<QQ', image, 32)
    segment_bytes, segment_count, section_bytes, section_count = struct.unpack_from('<HHHH', image, 54)
    loads = []
    for i in range(segment_count):
        kind, _, offset, address, _, file_bytes, all_bytes, _ = struct.unpack_from('<IIQQQQQQ', image, segments + i * segment_bytes)
        if kind == 1:
            loads.append((offset, address, file_bytes, all_bytes))
    base = memory(max(address + size for _, address, _, size in loads) + 4096)
    for offset, address, file_bytes, _ in loads:
        ctypes.memmove(base + address, image[offset:offset + file_bytes], file_bytes)
    symbols = {}
    table = [struct.unpack_from('<IIQQQQIIQQ', image, sections + i * section_bytes) for i in range(section_count)]
    for _, kind, _, _, offset, size, link, *_ in table:
        for at in range(offset, offset + size, 24) if kind == 11 else []:
            text, _, _, _, value, _ = struct.unpack_from('<IBBHQQ', image, at)
            begin = table[link][4] + text
            symbols[image[begin:image.index(b'\0', begin)].decode()] = value
    return base, symbols


def scalar(inst, ctx, known=emu._compile_sop):
    """As the emulator compiles it; but s_getpc_b64 is not known there: it gives the address of the next instruction."""
    if 'GETPC' not in emu._op_name(inst):
        return known(inst, ctx)
    pc = emu._u64(*(ctx.rsgpr_dyn(emu._c(index)) for index in (emu.PC_LO_IDX, emu.PC_HI_IDX)))
    low, high = emu._split64(pc + pc.const_like(4))
    to = ctx.inst_field(type(inst).sdst)
    return emu.UOp.sink(ctx.wsgpr_dyn(to, low), ctx.wsgpr_dyn(to + emu._c(1), high), *ctx.inc_pc())


emu._INST_HANDLERS[emu.irc.SOP1] = scalar
known = inspect.getsource(emu._compile_mubuf)
mended = known.replace('mem.index(word_addr.cast(dtypes.int64)).load()', 'mem.index(word_addr.cast(dtypes.int64).valid(in_bounds)).load()')
if mended == known:
    sys.exit('The emulator reads loads to LDS otherwise than it did: see whether it reads address 0 where they are out of range.')
exec(mended, emu.__dict__)
emu._INST_HANDLERS[emu.irc.MUBUF] = emu._compile_mubuf
ranges = {}
for file in folder.iterdir():
    if file.name not in ('launch', 'arguments', 'code_object'):
        data = file.read_bytes()
        ranges[file] = memory(len(data), int(file.name, 16)), len(data)
        ctypes.memmove(ranges[file][0], data, len(data))

base, symbols = load((folder / 'code_object').read_bytes())
descriptor = base + symbols[name + '.kd']
fields = ctypes.string_at(descriptor, 64)
argument_bytes, = struct.unpack_from('<I', fields, 8)
entry, = struct.unpack_from('<q', fields, 16)
resources, properties = struct.unpack_from('<IH', fields, 52)
# Behind the kernel's own arguments, from a multiple of 8 on: how many workgroups there are, and threads in each.
own = (folder / 'arguments').read_bytes()
hidden = (len(own) + 7) // 8 * 8
arguments = memory(max(argument_bytes, hidden + 256))
ctypes.memmove(arguments, own, len(own))
ctypes.memmove(arguments + hidden, struct.pack('<IIIHHH', int(ctas), 1, 1, int(threads), 1, 1), 18)
# Registers that are set before a wave begins, as the descriptor asks for them.
registers = []
for bit, count in enumerate((4, 2, 2, 2, 2, 2, 1)):
    if properties >> bit & 1:
        pair = [arguments & 0xffffffff, arguments >> 32] if bit == 3 else [0] * count
        registers += pair
resources |= (int(shared_bytes) + 511) // 512 << 15
emu.run_asm(descriptor + entry, 0, int(ctas), 1, 1, int(threads), 1, 1, arguments, resources, 0, 'cdna', registers)
for file, (address, size) in ranges.items():
    file.write_bytes(ctypes.string_at(address, size))
