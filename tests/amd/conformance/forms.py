"""Every instruction form of shipped kernels for AMD's targets that isa/ takes for granted has a conformance program.

usage: forms.py --clang CLANG --tool strict_amdgpu.py --root ROOT --folder FOLDER INSTANCES...

Forms are matrix products (by types and sizes), transposed reads of LDS and loads to LDS. INSTANCES are folders of code objects.
"""
import argparse
import pathlib
import re
import subprocess
import sys

FORM = re.compile(r'^\s+(v_mfma\w+|ds_read_b\d+_tr_\w+|(?:buffer|global)_load_\w+(?= .*\blds\b))(.*?)\s*//', re.M)


def forms(objdump, code_object):
    """Names of instructions; f8f6f4 with the formats of its operands."""
    told = subprocess.run([objdump, '-d', code_object], capture_output=True, text=True, check=True)
    found = set()
    for name, rest in FORM.findall(told.stdout):
        formats = ' '.join(re.findall(r'(?:cbsz|blgp):\d', rest)) if 'f8f6f4' in name else ''
        found.add(f'{name} {formats}'.strip())
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--clang', required=True)
    parser.add_argument('--tool', required=True)
    parser.add_argument('--root', type=pathlib.Path, required=True)
    parser.add_argument('--folder', type=pathlib.Path, required=True)
    parser.add_argument('instances', type=pathlib.Path, nargs='+')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    objdump = subprocess.run([options.clang, '-print-prog-name=llvm-objdump'], capture_output=True, text=True, check=True).stdout.strip()
    wrong, kernels, used = [], 0, set()
    for target, name in (('gfx942', 'cdna3'), ('gfx950', 'cdna4')):
        compiled = options.folder / f'conformance_{target}.hsaco'
        subprocess.run([sys.executable, options.tool, options.clang, target, options.root / 'tests/amd/conformance/kernels.cpp', compiled,
                        f'-I{options.root}/include', f'-I{options.root}'], check=True)
        known = forms(objdump, compiled)
        for code_object in sorted(file for folder in options.instances for file in folder.glob('*.hsaco') if name in file.name):
            kernels += 1
            own = forms(objdump, code_object)
            used |= {(target, form) for form in own}
            wrong += [f'{code_object.stem} uses {form}, which no conformance program of {target} has.' for form in sorted(own - known)]
    if not kernels:
        wrong.append('There is no code object to look at.')
    print('\n'.join(wrong) or f'{len(used)} forms of {kernels} kernels, each with a program.')
    return 1 if wrong else 0


sys.exit(main())
