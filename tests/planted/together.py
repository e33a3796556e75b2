"""Bugs of one instance in one program, each behind a switch: compiling takes longer than all runs, and most bugs replace a statement.

A statement that a bug replaces or removes becomes `{ if (planted_bug == 3) { the bug } else { the line } }`; a number, or the condition of an
if, `planted_bug == 3 ? the bug : the line`. The environment chooses the bug; with none chosen every line is as it is in the tree. Other
lines (declarations, arguments, templates) and what the compiler refuses to evaluate with a switch are compiled alone.
"""
import re

SWITCH = 'planted_switch.h'
SWITCH_TEXT = """#pragma once
#include <cstdlib>
// Not known to the compiler: what is computed while compiling cannot be behind the switch.
inline const int planted_bug = std::getenv("TW_PLANTED_BUG") != nullptr ? std::atoi(std::getenv("TW_PLANTED_BUG")) : 0;
"""
NUMBER = re.compile(r'((?:const )?(?:int|unsigned|bool|float|std::u?int(?:16|32|64)_t) \w+ = )(.+);')
CONDITION = re.compile(r'((?:if|while) \()(.+)(\) \{)')
# Two names side by side, and what follows a declared one; or a word that begins what is no statement by itself.
DECLARATION = re.compile(r'(?:[\w:]|<[^;()]*>)+(?:\s*(?:[&*]|\bconst\b))*\s+\w+ ?(?:[=({;\[]|$)|\[\[')
NO_STATEMENT = re.compile(r'(const|constexpr|static|using|auto|template|typename|struct|requires|else|do|case|public|private|TW_\w+)\b')


def balanced(text):
    depth = 0
    for character in text:
        depth += (character in '({[') - (character in ')}]')
        if depth < 0:
            return False
    return depth == 0


def declares(part):
    plain = part.replace('template ', '').removeprefix('return ')
    begins = part.startswith(('if ', 'for ', 'while ', 'return '))
    return NO_STATEMENT.match(part) is not None or (not begins and DECLARATION.match(plain) is not None)


def is_statement(text):
    """Of an expression, a return or an if with its statement, and of several of these; it declares nothing."""
    if text == '':
        return True
    if not text.endswith(';') or not balanced(text):
        return False
    parts = [text] if text.startswith('for ') else re.split(r';\s+', text)
    return not any(declares(part) for part in parts)


def alike(expression, line, to):
    """The two matches of an expression, where only its second group differs, which has neither braces nor semicolons."""
    found = expression.fullmatch(line), expression.fullmatch(to)
    if None in found or found[0][1] != found[1][1] or 'constexpr' in line:
        return None
    inner = [match[2] for match in found]
    return inner if all(balanced(text) and ';' not in text and '{' not in text for text in inner) else None


def may_be_switched(bug):
    """But for where the line stands."""
    return (is_statement(bug.line) and is_statement(bug.to)) or any(alike(form, bug.line, bug.to) for form in (NUMBER, CONDITION))


def begins_here(lines, at):
    """Whether a line begins what it is part of, and is not all that an if or an else in front of it has: the one before, comments apart, ends a
    statement or a block, or opens one."""
    before = next((line.split('//')[0].strip() for line in reversed(lines[:at]) if line.split('//')[0].strip()), '')
    return before.endswith((';', '{', '}'))


def switched(line, bugs):
    """The line behind the switches of its bugs, a list of number and bug. All are of one form."""
    if is_statement(line):
        text = ''.join(f'if (planted_bug == {number}) {{ {bug.to} }} else ' for number, bug in bugs)
        return f'{{ {text}{{ {line} }} }}'
    form = NUMBER if NUMBER.fullmatch(line) else CONDITION
    match = form.fullmatch(line)
    inner = f'({match[2]})'
    for number, bug in bugs:
        inner = f'(planted_bug == {number} ? ({form.fullmatch(bug.to)[2]}) : {inner})'
    return f'{match[1]}{inner}{match[3] if form is CONDITION else ";"}'


def blamed(said, numbers):
    """The switches in what the compiler said, which shows the lines that it refuses; all where it shows none."""
    return {int(number) for number in re.findall(r'planted_bug == (\d+)', said)} & numbers or numbers


def header(text, place_of, bugs):
    """The text of a header with the bugs, a list of number and bug, behind switches, each in its line; and the numbers of those that stand elsewhere than where a
    statement begins. place_of(lines, bug) is the line that a bug alters."""
    lines = text.splitlines()
    at_line, elsewhere = {}, set()
    for number, bug in bugs:
        at = place_of(lines, bug)
        if begins_here(lines, at):
            at_line.setdefault(at, []).append((number, bug))
        else:
            elsewhere.add(number)
    for at, here in at_line.items():
        lines[at] = switched(lines[at].strip(), here)
    return '\n'.join(lines) + '\n', elsewhere
