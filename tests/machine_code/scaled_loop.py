"""The k loop of MXFP8 on sm_100a is that of e4m3 and the copies of its scales, nothing else, and no longer than that of a flat,
hand-written twin.

The kernels with and without scales are compiled alike but for the family, with one CTA and tiles of 128 x 128. The loop with scales has the
same products, commits, waits and branches, two copies to tensor memory more, no fence, and of other instructions only what makes addresses:
uniform moves and sums, for which there is a bound. The twin (flat_scaled.cu) has as many products, copies, commits, waits and branches, and no
fewer instructions. A fence that is planted in the ring, and a copy more in the TileOp, must be caught.

usage: scaled_loop.py --nvcc NVCC --include FOLDER
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from looped_code import SIGNALS, TMA, LoopedCode

PRODUCT, COPY, COMMIT, BRANCH = 0x1ea, 0x1e7, 0x1e9, 0x147
COPIES = 2     # scales: a block of A's, a block of B's
ADDRESSES = 14  # uniform moves and sums that a stage's scales may take

SOURCE = """
#include "tilewright/arch/sm100_scaled.h"
#include "tilewright/family/block_scaled/kernel.h"
#include "tilewright/kernel/entry.h"
struct Named {
  static constexpr tw::MatmulConfig config = {
      .tiling = {.n = 128, .a_type = tw::ElementType::E4m3, .b_type = tw::ElementType::E4m3},
      .multiply_groups = 1};
};
using TheKernel = tw::kernel::WarpSpecialized<tw::Kernel<%s, Named>>;
template __global__ void tw::kernel::entry<TheKernel>(const __grid_constant__ TheKernel::Params);
"""
PLAIN = SOURCE % "tw::Sm100, tw::MatmulRecipe"
SCALED = SOURCE % "tw::Sm100Scaled, tw::BlockScaledBy<tw::ScaleType::Ue8m0>"
# Edits of the headers that must be caught.
PLANTED = {
    "a fence in every stage": ("pipeline/mbarrier.h", r"(if constexpr \(Ring::Payload::space == Space::Tensor\)) (isa::tcgen05_fence_after_thread_sync)",
                               r"\1 isa::fence_proxy_async(), \2"),
    "a copy of scales more": ("op/tcgen05_scaled.h", r"(copy_scales<typename ScaleTensors::A, Scales::a_blocks>\(slot, from\);)", r"\1 \1"),
}


def loop_of(nvcc, include, source, folder, name):
    """How often each operation stands in the k loop of `source`, a text or a file."""
    file = source
    if isinstance(source, str):
        file = folder / f"{name}.cu"
        file.write_text(source)
    image = folder / f"{name}.cubin"
    subprocess.run([nvcc, "-cubin", "-std=c++20", "--expt-relaxed-constexpr", "-O3", "-gencode", "arch=compute_100a,code=sm_100a",
                    "-I", str(include), "-o", str(image), str(file)], check=True)
    code = LoopedCode(image.read_bytes(), PRODUCT)
    return collections.Counter(code.operations[code.first:code.last + 1])


def complaints(plain, scaled):
    for operation in (PRODUCT, COMMIT, BRANCH, *SIGNALS, *TMA):
        if plain[operation] != scaled[operation]:
            yield f"operation {operation:#x}: {plain[operation]} without scales, {scaled[operation]} with them"
    if scaled[COPY] != plain[COPY] + COPIES:
        yield f"{scaled[COPY]} copies to tensor memory, not {COPIES}"
    more = sum(scaled.values()) - sum(plain.values()) - COPIES
    if more > ADDRESSES:
        yield f"{more} instructions more beside the copies; at most {ADDRESSES} make addresses"


def beside_the_twin(flat, scaled):
    for operation in (PRODUCT, COPY, COMMIT, BRANCH, *SIGNALS, *TMA):
        if flat[operation] != scaled[operation]:
            yield f"operation {operation:#x}: {flat[operation]} in the flat loop, {scaled[operation]} in the composed one"
    if sum(scaled.values()) > sum(flat.values()):
        yield f"{sum(scaled.values())} instructions, {sum(flat.values())} in the flat loop"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = loop_of(options.nvcc, options.include, PLAIN, folder, "plain")
        scaled = loop_of(options.nvcc, options.include, SCALED, folder, "scaled")
        print(f"k loop: {sum(plain.values())} instructions of e4m3, {sum(scaled.values())} of MXFP8, of which {scaled[COPY]} copy scales")
        flat = loop_of(options.nvcc, options.include, pathlib.Path(__file__).parent / "flat_scaled.cu", folder, "flat")
        print(f"by hand: {sum(flat.values())} instructions, of which {flat[COPY]} copy scales")
        found = [*complaints(plain, scaled), *beside_the_twin(flat, scaled)]
        for number, (what, (file, pattern, replacement)) in enumerate(PLANTED.items()):
            copy = folder / f"include{number}"
            shutil.copytree(options.include, copy)
            path = copy / "tilewright" / file
            text, count = re.subn(pattern, replacement, path.read_text())
            if count == 0:
                sys.exit(f"Nothing in {file} matches '{pattern}': the change cannot be planted.")
            path.write_text(text)
            planted = loop_of(options.nvcc, copy, SCALED, folder, f"planted{number}")
            if not list(complaints(plain, planted)) or not list(beside_the_twin(flat, planted)):
                found.append(f"{what} is not caught")
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
