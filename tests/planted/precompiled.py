"""The headers that are compiled once for all instances: those in which nothing is planted, and which include none in which something is."""
import re

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]')


class Headers:
    def __init__(self, root, altered):
        """`altered` are files of include/tilewright."""
        self.root = root
        self.known = {f'tilewright/{file}': False for file in altered}

    def read(self, name):
        """Text of ours, or nothing."""
        return next((path.read_text() for path in (self.root / 'include' / name, self.root / name) if path.exists()), None)

    def included(self, text):
        """Bracket, name and whether it is included whatever is defined."""
        depth = 0
        for line in text.splitlines():
            word = line.strip().removeprefix('#').strip()
            depth += word.startswith('if') and line.strip().startswith('#')
            depth -= word.startswith('endif') and line.strip().startswith('#')
            if found := INCLUDE.match(line):
                yield *found.groups(), depth == 0

    def is_unaltered(self, name):
        if name not in self.known:
            self.known[name] = True  # includes do not go round
            text = self.read(name)
            self.known[name] = text is None or all(self.is_unaltered(other) for bracket, other, _ in self.included(text) if bracket == '"')
        return self.known[name]

    def common(self, sources):
        """Includes of all unaltered headers that the sources include, whatever is defined."""
        seen, waiting = set(), list(sources)
        while waiting:
            for bracket, name, always in self.included(waiting.pop()):
                if always and (bracket, name) not in seen:
                    seen.add((bracket, name))
                    if bracket == '"' and (text := self.read(name)) is not None:
                        waiting.append(text)
        return ''.join([f'#include <{name}>\n' for bracket, name in sorted(seen) if bracket == '<'] +
                       [f'#include "{name}"\n' for bracket, name in sorted(seen) if bracket == '"' and self.is_unaltered(name)])
