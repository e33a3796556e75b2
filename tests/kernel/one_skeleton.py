"""Role loops exist once: one template iterates over work tiles and k-tiles, and nothing else can.

Only kernel/warp_specialized.h, and programs beside it, call tiles(key), k_tiles(key) and sums(key); a Key is made there alone,
for its constructor is private and its one friend is that skeleton (tests/pipeline/misuse shows that
others do not compile); outside kernel/ and pipeline/ no file that takes a stage of a ring has a loop
around it. (kernel/ping_pong.h has no roles: its waves all do the same, and count the work themselves.) Each rule is then broken in a copy of the tree, and must say so.

usage: one_skeleton.py --include FOLDER
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

SKELETONS = {'kernel/warp_specialized.h'}
PROGRAMS = {'family/attention/latent_program.h', 'family/attention/program.h', 'family/attention/swapped_program.h', 'family/attention/tensor_program.h'}  # loops over k of programs that stand alone, with the skeleton's key
KEY = 'kernel/key.h'
ITERATES = re.compile(r'\b(tiles|k_tiles|sums)\(\s*(key\b|kernel::Key\s*[({]|Key\s*[({])')
MAKES_A_KEY = re.compile(r'\bKey\s+\w+\s*[;({=]|\bKey\s*(\(\)|\{\})')
TAKES_A_STAGE = re.compile(r'[.>](produce|consume)\(\)')
LOOP = re.compile(r'\b(for|while)\s*\(|\bdo\s*\{')
COMMENT = re.compile(r'//.*|"(?:\\.|[^"\\])*"')  # sentences are no code either


def encloses(lines, at):
    """The loop around a line: a header of smaller indent above it, before its function begins."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    for above in range(at, -1, -1):
        line = lines[above]
        depth = len(line) - len(line.lstrip())
        if not line.strip() or (depth >= indent and above != at):
            continue
        if LOOP.search(line):
            return above
        indent = min(indent, depth)
        if re.search(r'TW_DEVICE|\bclass\b|\bstruct\b', line):
            return None
    return None


def complaints(include):
    root = include / 'tilewright'
    for file in sorted(root.rglob('*.h')):
        name = file.relative_to(root).as_posix()
        lines = [COMMENT.sub('', line) for line in file.read_text().splitlines()]
        for number, line in enumerate(lines, 1):
            if name not in SKELETONS | PROGRAMS and ITERATES.search(line):
                yield f'{name}:{number}: iterates over work: only {sorted(SKELETONS | PROGRAMS)} may.'
            if name not in SKELETONS | {KEY} and MAKES_A_KEY.search(line):
                yield f'{name}:{number}: makes a Key.'
            if not name.startswith(('kernel/', 'pipeline/')) and name not in PROGRAMS and TAKES_A_STAGE.search(line):
                if encloses(lines, number - 1) is not None:
                    yield f'{name}:{number}: takes stages of a ring in a loop.'
    key = (root / KEY).read_text()
    friends = re.findall(r'friend\s+(?:class|struct)\s+(\w+);', key)
    if friends != ['WarpSpecialized']:
        yield f'{KEY}: the friends are {friends}; a Key is for skeletons.'
    body = key[key.index('class Key {'):]
    if re.search(r'^\s*(public|protected)\s*:', body, re.M) or 'struct Key' in key:
        yield f'{KEY}: the constructor must be private.'
    skeleton = (root / 'kernel/warp_specialized.h').read_text()
    # The loading end of a ring, the program of a matmul, and the skeleton that runs programs.
    if re.findall(r'^(?:class|struct) (\w+)(?= {)', skeleton, re.M) != ['Loading', 'OneProduct', 'WarpSpecialized']:
        yield 'kernel/warp_specialized.h: the skeleton is one template beside one program.'
    if re.search(r'^class WarpSpecialized<', skeleton, re.M) or 'template <>' in skeleton:
        yield 'kernel/warp_specialized.h: the skeleton has no specialisations.'
    if not ITERATES.search(skeleton):
        yield 'kernel/warp_specialized.h: nobody iterates: this test looks for the wrong words.'


LOADS = '''  TW_DEVICE void all() {
    for (int i = 0; i < 4; ++i) {
      auto stage = ring_.produce();
    }
  }
'''
PLANTED = [
    ('io/x.h', 'void f(Key& key) { for (int k : tile.k_tiles(key)) g(k); }\n', 'iterates over work'),
    ('op/x.h', 'void f() { for (auto tile : work.tiles(kernel::Key())) g(tile); }\n', 'iterates over work'),
    ('family/x.h', '  const kernel::Key mine;\n', 'makes a Key'),
    ('epilogue/x.h', LOADS, 'in a loop'),
    ('kernel/stream.h', 'for (const WorkTile tile : work.tiles(key)) {}\n', 'iterates over work'),
    (KEY, 'friend class Stream;\n', 'the friends are'),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--include', type=pathlib.Path, required=True)
    include = parser.parse_args().include
    found = list(complaints(include))
    for name, text, expected in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'include'
            shutil.copytree(include, copy)
            with open(copy / 'tilewright' / name, 'a') as file:
                file.write(text)
            fresh = [text for text in complaints(copy) if text not in found]
            if not any(expected in text for text in fresh):
                found.append(f'Planted in {name}, nobody says "{expected}": {fresh}')
    print('\n'.join(found) or f'The role loops exist once; {len(PLANTED)} planted breaks are caught.')
    return 1 if found else 0


sys.exit(main())
