"""A kernel's machine code with the loop around its products; no disassembler is needed."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import cubin

# Instructions of sm_90 and sm_100 are 16 bytes. The low 9 bits tell the operation, the 3 bits above
# them the form of its operands. Found by disassembling the kernels (nvdisasm 13.1) and taking the
# bits of each mnemonic; no other operation in these kernels has any of these values.
INSTRUCTION_BYTES = 16
TMA = {0x1b4: "UTMALDG", 0x1b5: "UTMASTG", 0x1b7: "UTMACMDFLUSH", 0x1b9: "UTMACCTL"}
SIGNALS = {
    0x1a7: "SYNCS", 0x1b2: "SYNCS.EXCH", 0x11d: "BAR", 0x1c7: "UCGABAR", 0x192: "MEMBAR",
    0x1c6: "FENCE", 0x11a: "DEPBAR", 0x18f: "CCTL",
}
BRANCH = 0x147
NO_OPERATION = 0x118


class LoopedCode(cubin.Code):
    """The one kernel of a cubin, with its k loop: the shortest around the first `product`."""

    def __init__(self, image, product):
        super().__init__(image)
        words = [int.from_bytes(self.text[at:at + INSTRUCTION_BYTES], "little")
                 for at in range(0, len(self.text), INSTRUCTION_BYTES)]
        while words[-1] & 0x1ff == NO_OPERATION:  # the padding behind the kernel
            words.pop()
        self.words = words
        self.operations = [word & 0x1ff for word in words]
        self.first, self.last = self.k_loop(product)

    def target(self, index):
        """Where a branch goes. The distance from the next instruction, in units of 4 bytes, is a
        signed number of 56 bits: 8 of them from bit 16 on, 48 from bit 34 on."""
        word = self.words[index]
        distance = (word >> 16 & 0xff) | (word >> 34 & (1 << 48) - 1) << 8
        distance -= (distance >> 55) << 56
        return index + 1 + distance * 4 // INSTRUCTION_BYTES

    def k_loop(self, product):
        """First and last instruction of the loop."""
        at = self.operations.index(product)
        loops = [(self.target(i), i) for i in range(at, len(self.words))
                 if self.operations[i] == BRANCH and self.target(i) <= at]
        return min(loops, key=lambda loop: loop[1] - loop[0])

    def k_loop_words(self):
        """The loop's instructions. Branches out of it count without their distance, which tells
        only how much code lies between."""
        distance_bits = 0xff << 16 | ((1 << 48) - 1) << 34
        return [self.words[i] & ~distance_bits
                if self.operations[i] == BRANCH and not self.first <= self.target(i) <= self.last
                else self.words[i] for i in range(self.first, self.last + 1)]
