"""Every page of arch/ names the same parts, and nothing in it goes round.

A page is a struct: limits, mechanisms, and the role table. Those that stand alone have all of PARTS;
those that say what they change of another page change only parts. No page has a loop, a statement
about threads, or a part that no other page could have. Each rule is then broken in a copy.

usage: pages.py --include FOLDER
"""
import argparse
import pathlib
import re
import sys

PARTS = ['target', 'shared_bytes', 'registers', 'in_clusters', 'Signal',
         'Loader', 'Op', 'Accumulators', 'Store', 'roles']
# Limits and mechanisms that only some targets have, and who hands out work where somebody does.
MORE = ['max_cluster', 'tensor_columns', 'column_groups', 'StagedSources', 'ClusterReduction', 'LastFinish',
        'GroupReduction', 'Turns', 'Tickets']
# What attention has in place of a matmul's loader and TileOp, whether its groups take turns, and whether a loop has all blocks.
MORE += ['HeadLoader', 'PartLoader', 'ScoreOp', 'ValueOp', 'takes_turns', 'one_loop']
# What ping-pong asks: how far apart its groups are and how they stand, the LDS without signals, the stages, when it loads, and the dies.
MORE += ['barriers_apart', 'waves', 'lds_bytes', 'least_stages', 'loads_while_storing', 'dies', 'Dealt']
LOOP = re.compile(r'\b(for|while|do|goto)\b')
DEVICE = re.compile(r'TW_DEVICE|\bisa::')
STRUCT = re.compile(r'^struct (\w+)(?: : (\w+))? \{\n(.*?)^\};', re.M | re.S)
# At the first indent of a struct: a constant, an alias, a function.
MEMBER = re.compile(r'^  (?:static constexpr [\w:<>* ]+?[ *](\w+) =|using (\w+) ?=|'
                    r'static consteval \w+ (\w+)\()', re.M)


def complaints(pages):
    """`pages`: name of a file and its text."""
    for name, text in pages:
        code = re.sub(r'"[^"\n]*"|//.*', '', text)
        if LOOP.search(code):
            yield f'{name}: a page has no loop.'
        if DEVICE.search(code):
            yield f'{name}: a page says who does what, it does nothing.'
        structs = STRUCT.findall(code)
        if not structs:
            yield f'{name}: there is no page.'
        for struct, base, body in structs:
            members = [''.join(match) for match in MEMBER.findall(body)]
            twice = {member for member in members if members.count(member) > 1}
            missing = [part for part in PARTS if part not in members]
            unknown = [member for member in members if member not in PARTS + MORE]
            if twice:
                yield f'{name}: {struct} defines {sorted(twice)} twice.'
            if missing and not base:
                yield f'{name}: {struct} has no {", ".join(missing)}.'
            if unknown:
                yield f'{name}: {struct} has {", ".join(unknown)}, which no page has.'


PLANTED = [
    ('sm90.h', '  using Signal = Mbarriers;\n', '', 'Sm90 has no Signal'),
    ('sm80.h', '  static constexpr bool in_clusters = false;\n', '', 'Sm80 has no in_clusters'),
    ('sm100.h', '  using Signal = Mbarriers;\n', '  using Signal = Mbarriers;\n  using Speed = int;\n',
     'Sm100 has Speed'),
    ('sm100.h', '    const bool asks', '    for (;;) {}\n    const bool asks', 'no loop'),
    ('sm90.h', '    const bool asks', '    isa::warp_sync();\n    const bool asks', 'does nothing'),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--include', type=pathlib.Path, required=True)
    folder = parser.parse_args().include / 'tilewright/arch'
    pages = {file.name: file.read_text() for file in sorted(folder.glob('*.h'))
             if file.name != 'target.h'}  # the table of targets
    found = list(complaints(pages.items()))
    for name, line, to, expected in PLANTED:
        if line not in pages[name]:
            found.append(f'{name} has no line `{line.strip()}`: the planted break is not one.')
        changed = [(name, pages[name].replace(line, to, 1))]
        if not any(expected in text for text in complaints(changed)):
            found.append(f'Planted in {name}, nobody says "{expected}".')
    print('\n'.join(found) or f'{len(pages)} files of pages name the same parts; '
          f'{len(PLANTED)} planted breaks are caught.')
    return 1 if found else 0


sys.exit(main())
