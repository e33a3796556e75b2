#!/usr/bin/env python3
"""Compares the machine code of two trees, kernel by kernel: .text bytes, then instructions, registers and parameters.

usage: compare_kernels.py OLD NEW [--only REGEX]

OLD and NEW are checkouts that were built with CUDA, or folders of fatbins. A change of structure is shown with it: every kernel that both
trees have must be the same bytes. The exit status is 0 if they are, 1 if any differs, 2 if nothing could be compared.
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cubin

INSTRUCTION_BYTES = 16  # since sm_70


def kernels(folder, only):
    """Every (kernel, architecture) of a tree, with its code."""
    built = folder / "build/cuda/src"
    found = {}
    for path in sorted(built.rglob("*.fatbin") if built.is_dir() else folder.glob("*.fatbin")):
        if re.search(only, path.stem):
            for architecture, image in cubin.images(path.read_bytes()):
                found[path.stem, architecture] = cubin.Code(image)
    if not found:
        print(f"compare_kernels: {folder} has no fatbins that match '{only}'; build it with CUDA first", file=sys.stderr)
        sys.exit(2)
    return found


def change(before, after):
    return f"{before} -> {after}" if before != after else f"{before}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="compare the kernels whose names match")
    arguments = parser.parse_args()
    old, new = kernels(arguments.old, arguments.only), kernels(arguments.new, arguments.only)
    both = [key for key in old if key in new]
    different = [key for key in both if old[key].text != new[key].text or old[key].registers != new[key].registers
                 or old[key].parameter_bytes != new[key].parameter_bytes]
    if different:
        print(f"{'kernel':36} {'target':8} {'instructions':20} {'registers':14} {'parameter bytes':16} differing instructions")
    for key in different:
        before, after = old[key], new[key]
        step = range(0, min(len(before.text), len(after.text)), INSTRUCTION_BYTES)
        differing = sum(before.text[at:at + INSTRUCTION_BYTES] != after.text[at:at + INSTRUCTION_BYTES] for at in step)
        instructions = change(len(before.text) // INSTRUCTION_BYTES, len(after.text) // INSTRUCTION_BYTES)
        print(f"{key[0]:36} sm_{key[1]:<5} {instructions:20} {change(before.registers, after.registers):14} "
              f"{change(before.parameter_bytes, after.parameter_bytes):16} {differing}")
    for name, where, other in (("old", old, new), ("new", new, old)):
        alone = sorted({key[0] for key in where if key not in other})
        if alone:
            print(f"only in the {name} tree: {', '.join(alone[:8])}{f' and {len(alone) - 8} more' if len(alone) > 8 else ''}")
    print(f"{len(both) - len(different)} of {len(both)} kernels are the same bytes.")
    return 1 if different else 0 if both else 2


if __name__ == "__main__":
    sys.exit(main())
