"""Finds comments whose first word needs something before it: "of the rows", "and where", "as it is".

Such a comment is the rest of a sentence that stands nowhere. Only the beginning of a comment counts:
a line that holds nothing but a // or # comment, right below one in the same column, continues it.
A /* */ comment always begins anew.
"""
import io
import re
import tokenize

FOLDERS = ('include/', 'src/', 'vgpu/', 'python/tilewright/', 'tools/', 'examples/', 'tests/')
C_SUFFIXES = ('.h', '.hpp', '.c', '.cpp', '.cu', '.cpp.in', '.cu.in', '.hip.in')
HASH_SUFFIXES = ('.sh', '.cmake', 'CMakeLists.txt', 'instances.txt')
FIRST_WORD = re.compile(r'(?://+[!<]*|/\*+[!<]*|#+)\s*(of|and|as|or)\b', re.IGNORECASE)
# Literals are matched so that what looks like a comment inside of one is passed over. A quote behind
# a letter or a digit separates digits.
C_TOKEN = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|'
                     r'(?P<comment>//[^\n]*|/\*(?:.|\n)*?\*/)')
HASH_TOKEN = re.compile(r'"(?:\\(?:.|\n)|[^"\\])*"|(?:^|(?<=\s))(?P<comment>#[^\n]*)', re.MULTILINE)


def found_by(pattern, text):
    """(line, column, comment), lines counted from 1."""
    for match in pattern.finditer(text):
        if match['comment']:
            before = text[:match.start('comment')]
            yield before.count('\n') + 1, match.start('comment') - before.rfind('\n') - 1, match['comment']


def python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield *token.start, token.string


def comments(name, text):
    if name.endswith('.py'):
        return python_comments(text)
    if name.endswith(C_SUFFIXES):
        return found_by(C_TOKEN, text)
    return found_by(HASH_TOKEN, text)


def has_comments(name):
    return name.startswith(FOLDERS) and name.endswith(('.py', *C_SUFFIXES, *HASH_SUFFIXES))


def without_subject(name, text):
    """(line, word) of each comment of a file that begins with such a word."""
    lines = text.splitlines()
    before = None
    for line, column, comment in comments(name, text):
        alone = not lines[line - 1][:column].strip()
        continues = alone and before == (line - 1, column) and not comment.startswith('/*')
        match = FIRST_WORD.match(comment)
        if match and not continues:
            yield line, match.group(1)
        before = (line, column)
