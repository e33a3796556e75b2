"""A test whose program is built for who asks: it is run where it was built, or skipped.

usage: if_built.py PROGRAM [ARGUMENT...]
"""
import os
import pathlib
import sys

program = pathlib.Path(sys.argv[1])
if not program.exists():
    print(f'Skipped: {program.name} is not built; ninja {program.name} builds it.')
    sys.exit(77)
os.execv(program, sys.argv[1:])
