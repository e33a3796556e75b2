"""A role of an sm_100a kernel never waits for the whole device's memory: memory barriers of the device (MEMBAR.*.GPU or .SYS) stand only
in front of the arrival at a cluster's barrier, where all roles have ended or none has begun.

Kernels that hand parts of sums to other CTAs through global memory need one and are not asked.

usage: no_membar.py FOLDER KERNEL...   (fatbins somewhere below FOLDER)
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import cubin

INSTRUCTION_BYTES = 16
MEMBAR, CLUSTER_ARRIVAL = 0x192, 0x1c7
BETWEEN = 4  # MEMBAR, ERRBAR, CGAERRBAR, UCGABAR_ARV


def is_of_device(word):
    """Bits 76 and 77 are the scope: 0 CTA, 2 GPU, 3 SYS."""
    return word & 0x1ff == MEMBAR and word >> 76 & 3 >= 2


def in_roles(words):
    """Device-wide memory barriers that no cluster barrier follows at once."""
    arrivals = {i for i, word in enumerate(words) if word & 0x1ff == CLUSTER_ARRIVAL}
    return [i for i, word in enumerate(words)
            if is_of_device(word) and not arrivals.intersection(range(i, i + BETWEEN))]


def words_of(text):
    return [int.from_bytes(text[at:at + INSTRUCTION_BYTES], "little") for at in range(0, len(text), INSTRUCTION_BYTES)]


# Encodings by nvdisasm 13.1: MEMBAR.ALL.CTA, MEMBAR.ALL.GPU, MEMBAR.SC.GPU, MEMBAR.ALL.SYS, UCGABAR_ARV.
CTA, GPU, SC, SYS, ARRIVAL = 0x8000 << 64 | 0x7992, 0xa000 << 64 | 0x7992, 0x2000 << 64 | 0x7992, 0xb000 << 64 | 0x7992, 0x79c7
assert in_roles([CTA, GPU, 0x9ab, 0x5ab, ARRIVAL]) == [] and in_roles([GPU, CTA, SC, 0, 0, SYS, 0, 0, 0, ARRIVAL]) == [0, 2, 5]

folder, found = pathlib.Path(sys.argv[1]), 0
for name in sys.argv[2:]:
    for path in folder.rglob(f"{name}.fatbin"):
        for architecture, image in cubin.images(path.read_bytes()):
            bad = in_roles(words_of(cubin.Code(image).text))
            if bad:
                sys.exit(f"{name} ({architecture}): {len(bad)} device-wide memory barriers in role loops, the first at {bad[0] * 16:#x}.")
            found += 1
if found < len(sys.argv[2:]):
    sys.exit(f"Only {found} of the kernels {' '.join(sys.argv[2:])} are below {folder}.")
print(f"{found} kernels: no role waits for the whole device's memory.")
