#!/usr/bin/env python3
"""What the conformance programs of CDNA must give, from tables that the virtual GPU knows nothing of.

usage: golden.py (--write | --check) FILE      a line for each program: name and words of its output, in hexadecimal
       golden.py --inputs FOLDER               NAME.words: what each program reads

Where the numbers come from: products of 16 by 16 and their sums from AMD's article on matrix cores (5.2 to 5.4) and the ISA guides of
CDNA3 and CDNA4; k of f8f6f4 from Composable Kernel's "Register Mapping for 16x128" of FP8, FP6 and FP4 (test/mx_mfma_op); scales from
its load_mx_A_row_major; transposed reads from HipKittens' shared_to_register; loads to LDS from Composable Kernel's
amd_buffer_addressing and the ISA guides. All are facts, no code is theirs.
"""
import argparse
import pathlib
import struct

# The codes of 0, 1, 2 and 3, the sign, and the bits of a code.
TYPES = {'bf16': ((0, 0x3f80, 0x4000, 0x4040), 0x8000, 16), 'f16': ((0, 0x3c00, 0x4000, 0x4200), 0x8000, 16),
         'e4m3': ((0, 0x38, 0x40, 0x44), 0x80, 8), 'fnuz': ((0, 0x40, 0x48, 0x4c), 0x80, 8), 's8': (None, None, 8),
         'e2m3': ((0, 0x08, 0x10, 0x14), 0x20, 6), 'e3m2': ((0, 0x0c, 0x10, 0x12), 0x20, 6),
         'e2m1': ((0, 0x2, 0x4, 0x5), 0x8, 4)}
# name: type, k, elements of a lane; with scales or without.
PRODUCTS = {'bf16_16x16x16': ('bf16', 16, 4, False), 'f16_16x16x16': ('f16', 16, 4, False), 's8_16x16x32': ('s8', 32, 8, False),
            'fnuz_16x16x32': ('fnuz', 32, 8, False), 'e4m3_16x16x32': ('e4m3', 32, 8, False),
            'bf16_16x16x32': ('bf16', 32, 8, False), 'f16_16x16x32': ('f16', 32, 8, False),
            'e4m3_16x16x128': ('e4m3', 128, 32, False), 'scaled_e4m3': ('e4m3', 128, 32, True),
            'scaled_e2m3': ('e2m3', 128, 32, True), 'scaled_e3m2': ('e3m2', 128, 32, True), 'scaled_e2m1': ('e2m1', 128, 32, True)}
OTHERS = ('transposed', 'lds_4', 'lds_16')
WORDS = 2176


def scrambled(value):
    """A fixed number of 32 bits for each number."""
    value = (value ^ value >> 16) * 0x7feb352d & 0xffffffff
    value = (value ^ value >> 15) * 0x846ca68b & 0xffffffff
    return value ^ value >> 16


def element(operand, lane, index):
    """A small integer."""
    return scrambled(operand << 20 | lane << 8 | index) % 7 - 3


def code(kind, value):
    codes, sign, bits = TYPES[kind]
    if codes is None:
        return value & (1 << bits) - 1
    return codes[abs(value)] | (sign if value < 0 else 0)


def inputs(name):
    """The words that a program reads."""
    words = [scrambled(index) for index in range(WORDS)]
    if name in PRODUCTS:
        kind, _, elements, _ = PRODUCTS[name]
        bits = TYPES[kind][2]
        for operand in range(2):
            for lane in range(64):
                packed = sum(code(kind, element(operand, lane, index)) << bits * index for index in range(elements))
                for register in range(elements * bits // 32):
                    words[1024 * operand + 16 * lane + register] = packed >> 32 * register & 0xffffffff
                words[2048 + 64 * operand + lane] = words[2048 + 64 * operand + lane] & ~0xff | 0x7f + scrambled(operand << 16 | lane) % 4
    return words


def k_of(kind, elements, lane, index):
    """Which k a lane's element is of."""
    group = lane // 16
    if elements == 32 and TYPES[kind][2] == 8:
        return 16 * group + index % 16 + (64 if index >= 16 else 0)
    return elements * group + index


def product(name):
    kind, depth, elements, scaled = PRODUCTS[name]
    matrices = [[[0] * depth for _ in range(16)] for _ in range(2)]
    words = inputs(name)
    for operand in range(2):
        for lane in range(64):
            for index in range(elements):
                k = k_of(kind, elements, lane, index)
                # The scale of block b of a row lies in lane 16 b + row: its lowest byte, a power of two.
                exponent = (words[2048 + 64 * operand + 16 * (k // 32) + lane % 16] & 0xff) - 0x7f if scaled else 0
                matrices[operand][lane % 16][k] = element(operand, lane, index) << exponent
    a, b = matrices
    found = []
    for lane in range(64):
        for register in range(4):
            row, column = 4 * (lane // 16) + register, lane % 16
            value = sum(a[row][k] * b[column][k] for k in range(depth))
            found.append(value & 0xffffffff if kind == 's8' else struct.unpack('<I', struct.pack('<f', value))[0])
    return found


def other(name):
    words = inputs(name)
    found = []
    if name == 'transposed':
        halves = [half for word in words for half in (word & 0xffff, word >> 16)]
        for lane in range(64):
            first = lane // 16 * 16
            got = []
            for line in range(4):
                # Four lanes point at a line; the lane gets its element, of the lane that points there.
                points = first + 4 * line + lane % 16 // 4
                address = 8 * (points // 16 * 16 + points * 5 % 16)
                got.append(halves[address // 2 + lane % 4])
            found += [got[0] | got[1] << 16, got[2] | got[3] << 16]
        return found
    size = int(name.split('_')[1])
    limit = 50 * size + 4
    lds = []
    for lane in range(64):
        for word in range(size // 4):
            at = size * (63 - lane) + 4 * word
            lds.append(words[at // 4] if lane % 5 != 0 and at + 4 <= limit else 0)
    for lane in range(64):
        found += lds[size // 4 * (63 - lane):size // 4 * (64 - lane)]
    return found


def text():
    outputs = {name: product(name) for name in PRODUCTS} | {name: other(name) for name in OTHERS}
    return ''.join(f'{name} {" ".join(f"{word:08x}" for word in words)}\n' for name, words in outputs.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--write', type=pathlib.Path)
    parser.add_argument('--check', type=pathlib.Path)
    parser.add_argument('--inputs', type=pathlib.Path)
    options = parser.parse_args()
    if options.inputs:
        options.inputs.mkdir(parents=True, exist_ok=True)
        for name in (*PRODUCTS, *OTHERS):
            (options.inputs / f'{name}.words').write_text(''.join(f'{word:08x}\n' for word in inputs(name)))
    if options.write:
        options.write.write_text(text())
    if options.check and options.check.read_text() != text():
        print(f'{options.check} is not what the tables say.')
        return 1
    print(f'{len(PRODUCTS) + len(OTHERS)} programs.')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
