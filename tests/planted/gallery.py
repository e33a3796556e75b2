"""docs/bugs.md: for each checker a planted bug, the changed line, and what the virtual GPU says."""
import textwrap

from bug import CONFIGS, STOPPED, WRONG_RESULT

INTRODUCTION = '''# Bugs, and what the virtual GPU says of them

One bug for each checker: a line of our own headers, changed, and the sentences that a run then gives.
The kernels are whole matmuls, convolutions and so on; no bug is made easier to find. `tests/planted`
has all of them, and its run of all writes what stands here (`plant.py --gallery`).

| checker | bug | target | role |
|---|---|---|---|
'''


def chosen(bugs):
    """The first bug that each checker names, by the checker's name."""
    first = {}
    for bug in bugs:
        for site in bug.sites:
            if site.finding not in (WRONG_RESULT, STOPPED):
                first.setdefault(site.finding, (bug, site))
    return [first[name] for name in sorted(first)]


def wrapped(text):
    return '\n'.join(textwrap.wrap(text, 98, break_long_words=False, break_on_hyphens=False))


def page(shown):
    lines = [INTRODUCTION.rstrip('\n')]
    for bug, site, _ in shown:
        lines.append(f'| [{site.finding}](#{site.finding}) | {bug.name} | {CONFIGS[site.config].target} | {site.role or "-"} |')
    for bug, site, text in shown:
        lines += ['', f'## {site.finding}', '', wrapped(f'`{bug.file}`: {bug.why}.'), '', '```diff',
                  f'- {bug.line}', *([f'+ {bug.to}'] if bug.to else []), '```', '', '```text', wrapped(text), '```']
    return '\n'.join(lines) + '\n'
