"""One-line changes of the device headers, for mutate.py."""
import collections
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ('accumulator', 'arch', 'epilogue', 'family', 'io', 'kernel', 'op', 'pipeline', 'schedule')
# Statements that say something of a program rather than doing it, hints to a cache, and what the compiler alone checks.
NOT_MUTATED = re.compile(r'^(#|static_assert|using |template|namespace|require\(|TW_UNROLL|isa::describe|isa::prefetch|isa::fragment_access|struct |class |concept |requires|case |default:|public|private|return;?$|[{}\]);]*$)'
                         r'|static constexpr (const )?char|[tT]race|\.name|"')
OPERATORS = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
             (r' \+ ', ' - '), (r' - ', ' + '), (r' \* ', ' + '), (r' / ', ' * '), (r' % ', ' / '), (r' && ', ' || '),
             (r' \|\| ', ' && '), (r' \? ', ' && false ? ')]
# Descriptions of problems are the host's, and what a trace records is no result.
NO_KERNEL = re.compile(r'family/(\w+/(family|problem)|description|product|scales)\.h|pipeline/trace\.h')


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a header."""
    file: str  # under include/tilewright
    text: str  # without its indent
    of: int  # so many such lines has the file
    occurrence: int  # which of them is meant
    numbers: tuple  # lines of its statement
    constant: bool  # the compiler evaluates it: no run executes it


def chooses_either(code, at):
    """Whether a comparison chooses between the two that it compares, as in `a < b ? a : b`: where these are equal, either will do."""
    left, rest = re.search(r'[\w.]*$', code[:at.start()]).group(), code[at.end():]
    match = re.match(r'([\w.]+) \? (.*) : (.*)', rest)
    if match is None or at.group() not in (' < ', ' <= ', ' > ', ' >= '):
        return False
    right, one, other = match.groups()
    value = r'^(static_cast<\w+>\()?{}\b\)?'
    return any(re.match(value.format(re.escape(a)), one) and re.match(value.format(re.escape(b)), other) for a, b in ((left, right), (right, left)))


def mutations(line):
    """Every changed version of a line, without its indent."""
    code, found = re.sub(r'\s*//.*', '', line), []
    for pattern, to in OPERATORS:
        found += [code[:at.start()] + to + code[at.end():] for at in re.finditer(pattern, code) if not chooses_either(code, at)]
    for at in re.finditer(r'(?<![\w.:])(\d+)u?(?![\w.:])', code):
        found.append(code[:at.start()] + str(int(at.group(1)) + 1) + code[at.end():])
    condition = re.match(r'(} else )?if \((?!constexpr)(.*)\)( \{| return.*;| continue;)?$', code)
    if condition:
        found.append(f'{condition.group(1) or ""}if (!({condition.group(2)})){condition.group(3) or ""}')
    if re.match(r'[\w:.>\-]+(<[^;]*>)?\(.*\);$', code) and code.count('(') == code.count(')'):
        found.append(';')
    return found


def statements(texts):
    """The numbers (from 0) of the lines of each statement, one list for each."""
    lines = []
    for number, text in enumerate(texts):
        code = re.sub(r'\s*//.*', '', text)
        if not code or code.startswith('#'):
            if lines:
                continue  # a comment amid a statement
            yield [number]
            continue
        lines.append(number)
        if code[-1] in ';{}:' or (code.startswith('template') and code.endswith('>')):
            yield lines
            lines = []
    if lines:
        yield lines


def lines_of(name, texts):
    seen = collections.Counter()
    depth, constant_until = 0, None
    for numbers in statements(texts):
        first = texts[numbers[0]]
        says = NOT_MUTATED.search(first) is not None
        for number in numbers:
            text = texts[number]
            if constant_until is None and 'consteval' in text:
                constant_until = depth
            if not says and not NOT_MUTATED.search(text):
                constant = constant_until is not None or re.match(r'(static |inline )*constexpr \w|(} else )?if constexpr', first)
                yield Line(name, text, texts.count(text), seen[text], tuple(one + 1 for one in numbers), bool(constant))
            depth += text.count('{') - text.count('}')
            if constant_until is not None and depth <= constant_until and ('}' in text or text.endswith(';')):
                constant_until = None
            seen[text] += 1


def all_mutants():
    """(Line, changed line), of all headers in order."""
    for folder in FOLDERS:
        for path in sorted((ROOT / 'include/tilewright' / folder).rglob('*.h')):
            name = str(path.relative_to(ROOT / 'include/tilewright'))
            if not NO_KERNEL.match(name):
                texts = [line.strip() for line in path.read_text().splitlines()]
                yield from ((line, to) for line in lines_of(name, texts) for to in mutations(line.text))
