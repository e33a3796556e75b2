"""Reads machine code out of cubins, which are ELF files, and fatbins, which hold cubins: no disassembler is needed."""
import struct

# Attributes of .nv.info: kind of value 4 is a sized block, whose first word names the kernel's symbol.
SIZED_VALUE = 4
REGISTER_COUNT = 0x2f
PARAMETER_BANK = 0x0a

FATBIN_MAGIC = 0xba55ed50
FATBIN_PTX = 1  # kinds of entries: PTX, and machine code
FATBIN_ELF = 2
ELF_MAGIC = b"\x7fELF"


def sections(image):
    """Name and bytes of every section of a 64-bit little-endian ELF file."""
    table, = struct.unpack_from("<Q", image, 0x28)
    entry_bytes, count, names = struct.unpack_from("<HHH", image, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * entry_bytes) for i in range(count)]
    names_at = headers[names][4]
    for name, kind, _, _, offset, size in headers:
        start = names_at + name
        text = image[start:image.index(b"\0", start)].decode()
        no_bits = 8
        yield text, b"" if kind == no_bits else image[offset:offset + size]


def attributes(block):
    """The sized attributes of an .nv.info section: number and bytes."""
    at = 0
    while at < len(block):
        kind, number, size = struct.unpack_from("<BBH", block, at)
        at += 4
        if kind == SIZED_VALUE:
            yield number, block[at:at + size]
            at += size


class Code:
    """The one kernel of a cubin: its instructions, registers and bytes of parameters."""

    def __init__(self, image):
        texts, found = [], {}
        for name, content in sections(image):
            if name.startswith(".text."):
                texts.append(content)
            if name.startswith(".nv.info"):
                found |= dict(attributes(content))
        self.text, = texts
        self.registers = struct.unpack_from("<II", found[REGISTER_COUNT])[1]
        # From the start of the bank's parameters, so with the gap that aligns the first.
        self.parameter_bytes = struct.unpack_from("<IHH", found[PARAMETER_BANK])[2]


def entries(fatbin):
    """Kind, architecture (90 for sm_90) and content of every entry of a fatbin."""
    magic, _, header_bytes, total = struct.unpack_from("<IHHQ", fatbin, 0)
    if magic != FATBIN_MAGIC:
        raise ValueError(f"a fatbin begins with {FATBIN_MAGIC:#x}, but this file with {magic:#x}")
    at = header_bytes
    while at < header_bytes + total:
        kind, _, entry_header, size = struct.unpack_from("<HHIQ", fatbin, at)
        architecture, = struct.unpack_from("<I", fatbin, at + 28)
        content = fatbin[at + entry_header:at + entry_header + size]
        yield kind, architecture, content
        at += entry_header + size


def images(fatbin):
    """Architecture and cubin of every entry of an uncompressed fatbin that is machine code."""
    for kind, architecture, content in entries(fatbin):
        if kind != FATBIN_ELF:
            continue
        if not content.startswith(ELF_MAGIC):
            raise ValueError("the machine code of this fatbin is compressed")
        yield architecture, content


def ptx_architectures(fatbin):
    """Virtual architectures (90 for compute_90) of the entries that are PTX."""
    return [architecture for kind, architecture, _ in entries(fatbin) if kind == FATBIN_PTX]
