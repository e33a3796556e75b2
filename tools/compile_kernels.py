#!/usr/bin/env python3
"""Compiles several kernels of one page in one source, so that their headers are read once, into a fatbin each.

usage: compile_kernels.py NVCC TOOLS INCLUDE SOURCE --for ARCHITECTURE... [--ptx ARCHITECTURE...] --kernels NAME...

SOURCE includes the source of every kernel, and the fatbins come to stand beside it. Its PTX is cut into kernels, each of which
ptxas, from the folder TOOLS, assembles by itself: labels are numbered as if it were alone, so that its machine code is what it is
alone, byte for byte. A kernel that loses speed in a way that strict_ptxas.py knows fails the compilation. What the source includes
is written beside it as dependencies of the first fatbin, by the preprocessing that the compiler needs anyway.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import strict_ptxas

BEGINS = re.compile(r"\.(?:visible|weak|extern|common|entry|func|global|const|shared)\b")
NAMED = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)|([A-Za-z_$][\w$]*)\s*(?:\[\d*\]\s*)*(?:=|;)")
WORD = re.compile(r"[A-Za-z_$][\w$]*")
NUMBERED = re.compile(r"(\$L__BB|__local_depot)(\d+)")


def statements(text):
    """The head of a module and its statements, as (name, whether a kernel, text); what is between braces belongs to its statement."""
    head, found, depth = [], [], 0
    for line in text.splitlines(keepends=True):
        if depth == 0 and BEGINS.match(line):
            found.append([])
        if depth > 0 or not line.startswith("\t// .globl"):
            (found[-1] if found else head).append(line)
        depth += line.count("{") - line.count("}")
    whole = ["".join(lines).rstrip("\n") + "\n" for lines in found]
    return "".join(head).rstrip("\n") + "\n", [(next(filter(None, NAMED.search(one).groups())), ".entry" in one, one) for one in whole]


def kernels(text):
    """(name, module) of each kernel, the module having what its kernel mentions, and what that mentions."""
    head, found = statements(text)
    defined = {name: one for name, _, one in found}
    for kernel in [name for name, is_kernel, _ in found if is_kernel]:
        needed, left = set(), [kernel]
        while left:
            name = left.pop()
            if name not in needed:
                needed.add(name)
                left += set(WORD.findall(defined[name])) & defined.keys()
        module = "\n".join([head] + [one for name, _, one in found if name in needed])
        functions = {}  # labels and stack frames have the number of their function in the module
        yield kernel, NUMBERED.sub(lambda label: label[1] + str(functions.setdefault(label[2], len(functions))), module)


def run(command):
    """What a command says; it ends the program where it fails or tells of lost speed."""
    outcome = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    lines = (outcome.stdout + outcome.stderr).splitlines()
    losses = [line for line in lines if strict_ptxas.is_loss(line)]
    shown = lines if outcome.returncode else [line for line in lines if line in losses or "warning" in line]
    print("\n".join(shown), end="\n" if shown else "", file=sys.stderr)
    if outcome.returncode or losses:
        sys.exit(outcome.returncode or 1)


def compile_source(arguments, architecture, folder):
    """The modules of the kernels, by their names, and the files that the source includes."""
    made, depends = folder / f"{architecture}.ptx", folder / f"{architecture}.d"
    run([arguments.nvcc, "-ptx", "-std=c++20", "--expt-relaxed-constexpr", f"-arch=compute_{architecture}", f"-I{arguments.include}",
         "-Xcompiler", f"-MD,-MF,{depends},-MT,all", "-o", made, arguments.source])
    modules = dict(kernels(made.read_text()))
    named = {}
    for name in arguments.kernels:
        # A mangled name has the length before each of its parts.
        part = re.compile(rf"(?<!\d){len(name)}{name}")
        named[name] = [module for kernel, module in modules.items() if part.search(kernel)]
        if len(named[name]) != 1:
            sys.exit(f"compile_kernels: {arguments.source} has {len(named[name])} kernels of {name}, but must have 1")
    return {name: found[0] for name, found in named.items()}, depends.read_text().replace("\\\n", " ").split()[1:]


def assemble(arguments, name, modules, folder):
    """A kernel's fatbin, of its code for each architecture, and of its PTX for those that are asked for."""
    images = []
    for architecture, module in modules.items():
        source = folder / f"{name}.{architecture}.ptx"
        source.write_text(module)
        if architecture in arguments.ptx:
            images.append(f"--image3=kind=ptx,sm={architecture},file={source}")
        if architecture in arguments.architectures:
            run([arguments.tools / "ptxas", f"-arch=sm_{architecture}", "-m64", *strict_ptxas.FLAGS[1].split(","), source,
                 "-o", source.with_suffix(".cubin")])
            images.append(f"--image3=kind=elf,sm={architecture},file={source.with_suffix('.cubin')}")
    run([arguments.tools / "fatbinary", f"--create={arguments.source.with_name(name)}.fatbin", "-64", *images])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvcc")
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--for", dest="architectures", nargs="+", required=True, metavar="ARCHITECTURE")
    parser.add_argument("--ptx", nargs="*", default=[], metavar="ARCHITECTURE")
    parser.add_argument("--kernels", nargs="+", required=True, metavar="NAME")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        compiled, included = {}, {}
        for architecture in dict.fromkeys(arguments.architectures + arguments.ptx):
            compiled[architecture], files = compile_source(arguments, architecture, folder)
            included.update(dict.fromkeys(files))
        for name in arguments.kernels:
            assemble(arguments, name, {architecture: modules[name] for architecture, modules in compiled.items()}, folder)
    fatbin = arguments.source.with_name(f"{arguments.kernels[0]}.fatbin")
    arguments.source.with_suffix(".d").write_text(f"{fatbin}: " + " \\\n ".join(included) + "\n")


if __name__ == "__main__":
    main()
