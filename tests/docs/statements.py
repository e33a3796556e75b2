"""Sentences of README and docs that a count or the tree itself can hold: how many functions there are, which families there are
and on which targets, files that are named, tables that are whole.

usage: statements.py
"""
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve',
           'thirteen', 'fourteen', 'fifteen']
FAMILIES = {path.parent.name: {line.split('|')[0] for line in path.read_text().splitlines() if line and line[0] != '#'}
            for path in (ROOT / 'include/tilewright/family').glob('*/instances.txt')}
# Made by a build or by the reader, not in the tree.
ELSEWHERE = re.compile(r'^(build|out|/|~|\.\.|~/)|^(mine|page|trace|my_)|NAME|PAGE|FOLDER|FILE|\*|<|\$|…|\.\.\.')

wrong = []


def flat(page):
    return ' '.join((ROOT / page).read_text().split())


def count_functions():
    header = (ROOT / 'include/tilewright.h').read_text()
    # Those of sequences take several problems at once, and have no typed names.
    functions = set(re.findall(r'^TW_API [^(]*?\**(tw_(?!sequence)\w+)\(', header, re.MULTILINE)) - {'tw_message', 'tw_version'}
    for page, sentence in ('README.md', r'names for (\w+) that serve all'), ('docs/library.md', r'(\w+) functions serve all'):
        found = re.search(sentence, flat(page))
        if found is None:
            wrong.append(f'{page} has no sentence "{sentence}".')
        elif found.group(1) != NUMBERS[len(functions)]:
            wrong.append(f'{page} says {found.group(1)} functions, but tilewright.h has {len(functions)}.')


def check_families():
    table = re.search(r'\n\| family \| what \|\n(.*?)\n\n', (ROOT / 'README.md').read_text(), re.DOTALL)
    listed = {'README.md': set(re.findall(r'`(\w+)`', ' '.join(row.split('|')[1] for row in table.group(1).splitlines()[1:])))}
    glossary = re.search(r'- \*\*family\*\* \[operation\]: what a caller asks for: ([\w, ]+)\.', flat('docs/glossary.md'))
    listed['docs/glossary.md'] = set(glossary.group(1).split(', ')) if glossary else set()
    for page, names in listed.items():
        if names != set(FAMILIES):
            wrong.append(f'{page} lists {", ".join(sorted(names))}, but there are {", ".join(sorted(FAMILIES))}.')
    # README's first paragraph: the source is compiled for all three, but for what stands in brackets.
    exception = re.search(r'compiled for Ampere, Hopper and Blackwell \((\w+(?:, \w+)*) for (?:the first two|Hopper alone)\)', flat('README.md'))
    named = set(exception.group(1).split(', ')) if exception else set()
    without = {family for family, pages in FAMILIES.items()
               if not any(page.startswith('sm100') or page.endswith('onwards') for page in pages)}
    if named != without:
        wrong.append(f'README.md excepts {sorted(named)} from Blackwell, but {sorted(without)} have no kernel for it.')


def expanded(name):
    parts = [part.split(',') if i % 2 else [part] for i, part in enumerate(re.split(r'\{([^}]*)\}', name))]
    return [''.join(choice) for choice in itertools.product(*parts)]


def check_files(page, text):
    """Files that are named in backticks, from the root or from include/tilewright; but for what is left to do, and was."""
    count = 0
    if page.name == 'next.md':
        return count
    for name in re.findall(r'`([\w./{},-]+/[\w./{},-]*\.(?:h|cpp|cu|py|txt|json|md))`', text):
        if ELSEWHERE.search(name):
            continue
        for one in expanded(name):
            count += 1
            if not any((root / one).exists() for root in (ROOT, ROOT / 'include/tilewright', ROOT / 'include', page.parent)):
                wrong.append(f'{page.relative_to(ROOT)} names {one}, which is not there.')
    return count


def check_tables(page, text):
    """A row without a head above it is printed as it stands."""
    lines = re.sub(r'^```.*?^```$', '', text, flags=re.DOTALL | re.MULTILINE).splitlines()
    for i, line in enumerate(lines):
        begins = line.startswith('|') and (i == 0 or not lines[i - 1].startswith('|'))
        if begins and not (i + 1 < len(lines) and re.match(r'^\|[-:| ]+\|$', lines[i + 1])):
            wrong.append(f'{page.relative_to(ROOT)} has a row of a table without a head: {line[:60]}')


count_functions()
check_families()
named = 0
for page in PAGES:
    text = page.read_text()
    named += check_files(page, text)
    check_tables(page, text)
if wrong:
    sys.exit('\n'.join(wrong))
print(f'{len(FAMILIES)} families, {named} files that {len(PAGES)} pages name.')
