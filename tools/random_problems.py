#!/usr/bin/env python3
"""Runs random problems of every family and target on the virtual GPU, and writes the table of docs/random_problems.md.

usage: random_problems.py TILEWRIGHT [--only REGEX] [--again] [--corpus FILE]

Each cell is one `./tw fuzz FAMILY --arch TARGET --problems N --seed 36`, with 300 problems that run, or four of each kernel where
that is more. A cell that the table has is run --again only. The table is written after each cell, so that what was stopped goes on
where it was. The exit status is 0 if all that ran was clean.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/random_problems.md"
BEGIN, END = "<!-- made by tools/random_problems.py -->\n", "<!-- end -->\n"
TARGETS = "gfx950", "gfx942", "sm100a", "sm80", "sm90a"
SEED, PROBLEMS, OF_A_KERNEL = 36, 300, 4
NOT_RUN, NONE = "not run", "-"


def table(text):
    """What the page's table has, by family and target."""
    lines = text[text.index(BEGIN) + len(BEGIN):text.index(END)].splitlines()
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in lines]
    return {(row[0], target): word for row in rows[2:] for target, word in zip(rows[0][1:], row[1:])}


def write(cells):
    lines = ["| | " + " | ".join(TARGETS) + " |", "|---" * (len(TARGETS) + 1) + "|"]
    for family in sorted({family for family, _ in cells}):
        lines.append(f"| {family} | " + " | ".join(cells[family, target] for target in TARGETS) + " |")
    text = PAGE.read_text()
    PAGE.write_text(text[:text.index(BEGIN)] + BEGIN + "\n".join(lines) + "\n" + text[text.index(END):])


def command(family, target, kernels):
    problems = max(PROBLEMS, OF_A_KERNEL * kernels)
    return ["fuzz", family, "--arch", target, "--problems", str(problems), "--seed", str(SEED)]


def outcome(counts, kernels):
    refused = f", {counts['refused']} refused" if counts["refused"] else ""
    wrong = f", {len(counts['failures'])} WRONG" if counts["failures"] else ""
    return f"{counts['clean']} ({kernels}){refused}{wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilewright")
    parser.add_argument("--only", default="", help="cells whose 'FAMILY on TARGET' has this")
    parser.add_argument("--again", action="store_true", help="cells that have run as well")
    parser.add_argument("--corpus", default="", help="failures are appended to this file")
    request = parser.parse_args()
    listed = subprocess.run([request.tilewright, "list", "--json"], capture_output=True, text=True, check=True).stdout
    kernels = collections.Counter((one["family"], one["target"]) for one in json.loads(listed.splitlines()[-1]) if one["virtual"])
    known = table(PAGE.read_text())
    families = sorted({family for family, _ in kernels})
    cells = {(family, target): known.get((family, target), NOT_RUN) if kernels[family, target] else NONE
             for family in families for target in TARGETS}
    cells = {cell: NOT_RUN if word == NONE and kernels[cell] else word for cell, word in cells.items()}
    write(cells)
    clean = True
    for target in TARGETS:
        for family in families:
            cell = family, target
            if not kernels[cell] or not re.search(request.only, f"{family} on {target}"):
                continue
            if cells[cell] != NOT_RUN and not request.again:
                continue
            words = command(family, target, kernels[cell])
            print("./tw", *words, flush=True)
            done = subprocess.run([request.tilewright, *words, "--corpus", request.corpus, "--json"], stdout=subprocess.PIPE, text=True)
            sys.stdout.write(done.stdout)
            clean &= done.returncode == 0
            cells[cell] = outcome(json.loads(done.stdout.splitlines()[-1]), kernels[cell]) if done.returncode in (0, 1) else NOT_RUN
            write(cells)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
