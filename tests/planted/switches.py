"""Bugs behind switches (together.py): what declares something is never behind one, and each switch gives what its line alone would.

usage: switches.py COMPILER FOLDER
"""
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from bug import Bug
from plant import altered, place_of
import together

compiler, folder = sys.argv[1], pathlib.Path(sys.argv[2])
# An object would die at the end of its braces.
for line in ('const Guard guard(x);', 'Held held(stage);', 'auto buffer = store_.open();', 'WorkTile blocks = tile;', 'std::lock_guard lock(mutex);',
             'typename Input::Token token;', 'Input::Token token{a};', 'Four* const from = first;', 'Four<a, b>& from = first;', 'static constexpr unsigned a = 1;',
             'using A = B;', 'a(b),', 'b);', '} else {', 'case 1:', '[[maybe_unused]] Held held(stage);', 'tw::Held<Ring> held(stage);', 'a(); Held held(stage);'):
    assert not together.is_statement(line), f'`{line}` is no statement'
for line in ('', 'full_ = 0;', 'Signal::template wait<Ring>(a, b);', 'return a;', 'if (x) y();', 'if constexpr (x) y();', 'wait<0>();', 'slot += 2;',
             'for (int i = 0; i < 3; ++i) a[i] = 0;', 'a.b(c); d();'):
    assert together.is_statement(line), f'`{line}` is a statement'

HEADER = """#pragma once
inline int computed(int x) {
  const int first = x + 1;
  int sum = 0;
  if (x > 2) {
    sum += first;
  }
  if (x > 5)
    sum += 100;
  else
    sum += 200;
  sum += 1000 *
      first;
  return sum;
}
"""
CHANGES = [('const int first = x + 1;', 'const int first = x + 3;'), ('if (x > 2) {', 'if (x > 3) {'), ('sum += first;', ''), ('sum += first;', 'sum -= first;'),
           ('sum += 100;', 'if (x > 6) sum += 300;'), ('sum += 200;', 'sum += 201;'), ('return sum;', 'return sum + 7;'), ('first;', 'x;')]
BUGS = [Bug(f'bug_{number}', '', 'a.h', line, to, []) for number, (line, to) in enumerate(CHANGES, 1)]
assert all(map(together.may_be_switched, BUGS))
text, elsewhere = together.header(HEADER, place_of, list(enumerate(BUGS, 1)))
assert elsewhere == {5, 6, 8}, f'{elsewhere}: two are all that an if and an else have, and one goes on with what the line before begins'
assert text.count('\n') == HEADER.count('\n'), 'Findings name lines: they must stay where they are.'
MAIN = '#include "a.h"\n#include <cstdio>\nint main() {\n  for (int x = 0; x < 9; ++x) std::printf("%d ", computed(x));\n}\n'


def printed(name, header, number=0):
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for file, content in (('a.h', header), (together.SWITCH, together.SWITCH_TEXT), ('main.cpp', MAIN)):
        (place / file).write_text(content)
    if not (place / 'program').exists() or number == 0:
        subprocess.run([compiler, '-std=c++20', '-include', place / together.SWITCH, f'-I{place}', place / 'main.cpp', '-o', place / 'program'], check=True)
    return subprocess.run([place / 'program'], env={**os.environ, 'TW_PLANTED_BUG': str(number)}, capture_output=True, text=True, check=True).stdout


assert printed('together', text) == printed('plain', HEADER), 'With no bug chosen the header is another.'
seen = {printed('plain', HEADER)}
for number, bug in enumerate(BUGS, 1):
    if number not in elsewhere:
        found, right = printed('together', text, number), printed(bug.name, altered(HEADER, bug))
        assert found == right, f'{bug.name}: {found} behind its switch and {right} alone'
        seen.add(found)
assert len(seen) == 1 + len(BUGS) - len(elsewhere), 'Some bugs cannot be told apart.'
refused = together.blamed('a.h:3: error\n  3 | { if (planted_bug == 2) { a; } else { b; } }', {1, 2, 3})
assert refused == {2} and together.blamed('error elsewhere', {1, 2}) == {1, 2}
print(f'{len(BUGS) - len(elsewhere)} switches.')
