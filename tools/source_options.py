#!/usr/bin/env python3
"""The options that a program takes, from its source: what ./tw bench --help and ./tw tune --help print without a build.

usage: source_options.py COMMAND FILE
"""
import pathlib
import re
import sys
import textwrap

OPTION = re.compile(r'\.add_(option|flag)\(\s*"!?(-[^"]+)",\s*[\w.\->]+\s*(?:,(.*?))?\)\s*(?:;|->)', re.DOTALL)


def options_of(text):
    """Each with its meaning, as far as it is written down: (--shape, MxNxK; may be repeated)."""
    for kind, name, rest in OPTION.findall(text):
        words = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', rest))
        yield name + (' VALUE' if kind == 'option' else ''), re.sub(r'\{\}\s*', '', words).strip(' ;') or 'see docs/performance.md'


def main():
    command, file = sys.argv[1:]
    print(f'Usage: ./tw {command} [OPTIONS]\n\nOptions:\n  -h,--help                   Print this help message and exit')
    for name, meaning in options_of(pathlib.Path(file).read_text()):
        lines = textwrap.wrap(meaning, 70)
        print(f'  {name:<27} {lines[0]}')
        for line in lines[1:]:
            print(f'  {"":<27} {line}')


if __name__ == '__main__':
    main()
