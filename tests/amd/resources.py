"""What the kernels of AMD's targets use, against a table: no kernel may use more vector registers than it did, or spill more.

usage: resources.py --folder FOLDER... --table FILE [--some] [--write]

Each FOLDER has .hsaco.json files that tools/strict_amdgpu.py wrote. --some: of a build that has not compiled every kernel of the table.
--write makes the table anew.
"""
import argparse
import json
import pathlib
import sys

COLUMNS = ['vgprs', 'agprs', 'sgprs', 'sgpr_spills', 'threads']


def found_in(folders):
    found = {}
    for file in sorted(file for folder in folders for file in folder.glob('*.hsaco.json')):
        for uses in json.loads(file.read_text()).values():
            found[file.name.removesuffix('.hsaco.json')] = [uses[column] for column in COLUMNS]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--folder', type=pathlib.Path, nargs='+', required=True)
    parser.add_argument('--table', type=pathlib.Path, required=True)
    parser.add_argument('--some', action='store_true')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    found = found_in(options.folder)
    if options.write:
        lines = ['kernel ' + ' '.join(COLUMNS), *(f'{name} ' + ' '.join(map(str, row)) for name, row in found.items())]
        options.table.write_text('\n'.join(lines) + '\n')
        return 0
    table = {}
    for line in options.table.read_text().splitlines()[1:]:
        name, *numbers = line.split()
        table[name] = [int(number) for number in numbers]
    wrong = [f'{name} is not in the table.' for name in found if name not in table]
    wrong += [f'{name} is in the table, but was not compiled.' for name in table if name not in found and not options.some]
    for name in found.keys() & table.keys():
        for column, now, then in zip(COLUMNS, found[name], table[name]):
            if now > then and column != 'threads':
                wrong.append(f'{name} has {now} {column}; the table allows {then}.')
    print('\n'.join(wrong) or f'{len(found)} kernels use what the table says, or less.')
    return 1 if wrong or not found else 0


sys.exit(main())
