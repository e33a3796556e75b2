"""./tw test compiles one kernel of every mechanism: the first of each family and page, and those that its instances.txt
names behind `#! tests`.

A mechanism is a struct of arch/, a recipe (whatever its numbers), and for each target each value of an enum and each other field that a
configuration sets: fields that say how large something is, or of which type, are none. Kernels that the library never chooses are not asked.

usage: mechanisms.py [IMAGES...]: the images.cpp of a build of some kernels, which must have the kernels that this file expects.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = sorted((ROOT / 'include/tilewright/family').glob('*/instances.txt'))
SIZES = {'tiling', 'm', 'n', 'spans', 'cluster', 'stagger', 'keys', 'head', 'staged_bytes', 'pieces', 'least_ctas', 'multiply_groups', 'scale_rows',
         'a_type', 'b_type', 'd_type', 'element_type', 'scale_type', 'a_major', 'b_major', 'consumers', 'split', 'scheduling', 'sweep'}
# These change one instruction, or a constant, of the machine code.
HINTS = {'dependent_launch', 'a_evict_first', 'b_evict_first', 'weights_first', 'keeps_keys', 'upper_rows', 'turns'}


class Kernel:
    def __init__(self, family, fields, line):
        values = dict(zip(fields, line.split('|')))
        self.family, self.name, self.page = family, values['NAME'], values['PAGE']
        target = re.match(r'[a-z]+\d*', self.page).group()
        self.mechanisms = {values['ARCH'], re.sub(r'<\d+>', '<>', values.get('RECIPE', ''))} - {''}
        named = re.findall(r'\b(?!ElementType|ScaleType)([A-Z]\w+::\w+)', values['CONFIG'])
        named += [field for field in re.findall(r'\.(\w+) =', values['CONFIG']) if field not in SIZES | HINTS]
        self.mechanisms |= {f'{name} on {target}' for name in named}


def kernels():
    found = []
    for path in LISTS:
        head, *lines = path.read_text().splitlines()
        fields = head.split(' ')[-1].split('|')
        found += [Kernel(path.parent.name, fields, line) for line in lines if line and not line.startswith('#')]
    return found


def compiled(all_kernels, listed):
    seen, found = set(), []
    for kernel in all_kernels:
        place = (kernel.family, kernel.page)
        if place not in seen or kernel.name in listed:
            found.append(kernel)
        seen.add(place)
    return found


def main():
    all_kernels = kernels()
    listed = [name for path in LISTS for line in re.findall(r'^#! tests (.+)$', path.read_text(), re.M) for name in line.split()]
    names = {kernel.name for kernel in all_kernels}
    wrong = [f'A line `#! tests` names {name}, which is no instance.' for name in listed if name not in names]
    some = compiled(all_kernels, listed)
    have = set().union(*(kernel.mechanisms for kernel in some))
    missing = {}
    for kernel in all_kernels:
        for mechanism in sorted(kernel.mechanisms - have):
            missing.setdefault(mechanism, kernel.name)
    wrong += [f'No line `#! tests` names a kernel of {mechanism}; {name} is one.' for mechanism, name in missing.items()]
    if sys.argv[1:]:
        built = set(re.findall(r'^TW_IMAGE\((\w+),', '\n'.join(pathlib.Path(file).read_text() for file in sys.argv[1:]), re.M))
        wrong += [f'The build has {name}, which no `#! tests` asks for, or has it not.' for name in built ^ {kernel.name for kernel in some}]
    print('\n'.join(wrong) or f'{len(some)} of {len(all_kernels)} kernels have all {len(have)} mechanisms.')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
