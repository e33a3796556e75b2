#!/usr/bin/env python3
"""docs/parts.md: what each kind of part must and may supply, from the contracts in the headers.

usage: parts_page.py [--check]

A contract is a function of static_asserts (include/tilewright/*/contracts.h). Each asks for one member, and its sentence is what a
kernel author reads where that is missing. --check fails where the page is another than the headers make.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / 'include/tilewright'
PAGE = ROOT / 'docs/parts.md'
# In the order of the page: the title of each kind, and where such parts stand.
KINDS = {
    'page': ('Pages', '`arch/*.h`'),
    'recipe': ('Recipes', '`bind/recipe.h`, changed by mixins of `bind/` and in `family/*/kernel.h`'),
    'loader': ('Loaders', '`io/*_loader.h`, and in families that bring operands otherwise'),
    'signal': ('Signals', '`pipeline/mbarrier.h`, `pipeline/counter.h`, `pipeline/wave_counter.h`'),
    'TileOp': ('TileOps', '`op/*.h`, `bind/*_op.h`'),
    'store': ('Stores', '`epilogue/*_store.h`'),
    'epilogue': ('Epilogues', '`epilogue/tree.h`, `epilogue/runtime.h`'),
    'epilogue node': ('Epilogue nodes', '`epilogue/leaves.h`, `epilogue/nodes.h`'),
    'source': ('Sources', '`kernel/left_out.h`, `epilogue/source_supply.h`'),
    'order': ('Orders', '`schedule/work_tile.h`, `schedule/hilbert_order.h`'),
    'map': ('Maps', '`schedule/work_tile.h`, `schedule/split_tiles.h`, `schedule/group_tiles.h`'),
    'schedule': ('Schedules', '`schedule/work_tile.h`, `schedule/dynamic.h`'),
    'reduction': ('Reductions', '`schedule/reduction.h`, `schedule/cluster_reduction.h`, `schedule/shared_finish.h`, `schedule/last_finish.h`, `schedule/group_reduction.h`'),
    'program': ('Programs', '`kernel/warp_specialized.h`, `family/attention/program.h`'),
    'stream': ('Streams', '`family/*/kernel.h`, of kernels that stream'),
    'launch': ('Launches', '`family/*/launch.h`'),
}
CONTRACT = re.compile(r'((?:^//[^\n]*\n)*)^template <class[^\n]*\nconsteval bool (\w+)\(\) \{\n(.*?)^\}', re.DOTALL | re.MULTILINE)
ASSERTION = re.compile(r'static_assert\(\s*(requires\b.*?),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\);', re.DOTALL)
SENTENCE = re.compile(r"An? (?P<kind>[\w ]+?) must (?:have|be made of) '(?P<spelling>[^']+)'"
                      r'(?:, or (?P<base>\w+)\'s| where (?P<where>[^:]+))?: [^.].*\.')

# Code in a sentence; a genitive stands behind a letter.
QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")


class Requirement:
    def __init__(self, header, contract, condition, sentence):
        found = SENTENCE.fullmatch(sentence)
        if not found:
            sys.exit(f'{header.relative_to(ROOT)}: no sentence of a contract: {sentence}')
        self.contract, self.sentence = contract, sentence
        self.kind, self.spelling, self.base, self.where = found.group('kind', 'spelling', 'base', 'where')
        # The name alone; a part that is made of something has none.
        is_template = self.spelling.startswith('template ')
        self.member = re.match(r'\w*', self.spelling.split()[-1] if is_template else self.spelling).group()
        if self.kind not in KINDS:
            sys.exit(f'{header.relative_to(ROOT)}: parts_page.py does not know what a {self.kind} is.')
        if self.member and not re.search(rf'\b{self.member}\b', condition):
            sys.exit(f'{header.relative_to(ROOT)}: {contract} asks for another member than {self.member}.')


def contracts():
    """Every (header, comment, name of the function, requirements)."""
    for header in sorted(HEADERS.glob('*/contracts.h')):
        text = header.read_text()
        asked = 0
        for comment, name, body in CONTRACT.findall(text):
            found = [Requirement(header, name, condition, ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', pieces)))
                     for condition, pieces in ASSERTION.findall(body)]
            asked += len(found)
            yield header, ' '.join(line[2:].strip() for line in comment.splitlines()), name, found
        if asked != text.count('static_assert('):
            sys.exit(f'{header.relative_to(ROOT)}: {text.count("static_assert(") - asked} assertions are of no contract.')


def page():
    rows, comments, headers = {}, {}, {}
    for header, comment, _, requirements in contracts():
        for requirement in requirements:
            rows.setdefault(requirement.kind, []).append(requirement)
            comments.setdefault(requirement.kind, comment)
            headers.setdefault(requirement.kind, header)
    lines = ['# Parts', '', '<!-- made by tools/parts_page.py -->', '',
             'What each kind of part must and may supply, and the sentence that the compiler prints where it is missing. *May*: the',
             'base class that is named has it already. *Where*: only where a configuration asks for it. Contracts are concepts, in',
             '`contracts.h` of the folder that a part belongs to; the binder (`bind/kernel.h`) and the skeletons (`kernel/`) ask for',
             'them.', '']
    for kind, (title, place) in KINDS.items():
        lines += [f'## {title}', '', f'{comments[kind]}', '',
                  f'Contract: `{headers[kind].relative_to(HEADERS)}`. Parts: {place}.', '',
                  '| member | | the sentence |', '|---|---|---|']
        for row in rows[kind]:
            need = f'may ({row.base})' if row.base else f'where {row.where}' if row.where else 'must'
            sentence = QUOTED.sub(r'`\1`', row.sentence)
            lines.append(f'| `{row.member or row.spelling}` | {need} | {sentence} |')
        lines.append('')
    return '\n'.join(lines[:-1]) + '\n'


def main():
    made = page()
    if sys.argv[1:] == ['--check']:
        if PAGE.read_text() != made:
            sys.exit('docs/parts.md is not what the contracts say; tools/parts_page.py writes it.')
        print(f'docs/parts.md: {made.count("| must |") + made.count("| may") + made.count("| where")} members of {len(KINDS)} kinds of parts.')
    else:
        PAGE.write_text(made)


if __name__ == '__main__':
    main()
