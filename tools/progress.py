#!/usr/bin/env python3
"""Runs ninja or ctest and says on stderr every few seconds how many steps are done and how long the rest may take.

usage: progress.py steps|tests LOG COMMAND...

steps: COMMAND is ninja's. Its output goes to LOG; what failed is shown on stderr as well.
tests: COMMAND is ctest's. Its output goes to stdout and to LOG; stderr hears of it only where stdout was silent.
Ends as COMMAND does.
"""
import os
import re
import selectors
import subprocess
import sys
import time

INTERVAL = float(os.environ.get('TW_PROGRESS_SECONDS', '5'))  # between two lines
DONE = {'steps': re.compile(r'^\[(\d+)/(\d+)\] '), 'tests': re.compile(r'^ *(\d+)/(\d+) Test +#\d+: ')}
STARTED = re.compile(r'^ +Start +\d+: (\S+)')
ENDED = re.compile(r'^ *\d+/\d+ Test +#\d+: (\S+)')


def words_for(seconds):
    if seconds < 90:
        return f'{max(1, round(seconds))} s'
    return f'{round(seconds / 60)} min'


class Progress:
    def __init__(self, what, begin):
        self.what, self.begin, self.said = what, begin, begin
        self.base = (begin, 0)  # since when, and from which step on, the rest is estimated
        self.before = begin  # when the step before was done
        self.done = self.total = 0
        self.running = []
        self.shows = False  # the output of a step that failed

    def take(self, line, now):
        """Whether the line is one to show."""
        found = DONE[self.what].match(line)
        if found:
            done, total = int(found[1]), int(found[2])
            if total != self.total:  # ninja has configured first, and counts anew
                self.base = (self.before, done - 1)
            self.done, self.total, self.before = done, total, now
            self.shows = False
        if self.what == 'tests':
            for pattern, change in (STARTED, self.running.append), (ENDED, self.drop):
                if match := pattern.match(line):
                    change(match[1])
            self.said = now
            return True
        if line.startswith(('FAILED: ', 'ninja: error: ', 'CMake Error')):
            self.shows = True
        return self.shows and not found

    def drop(self, test):
        if test in self.running:
            self.running.remove(test)

    def sentence(self, now):
        passed = now - self.begin
        name = 'building' if self.what == 'steps' else 'testing'
        if self.done == 0:
            return f'tw: {name}, {words_for(passed)} so far'
        left = (now - self.base[0]) * (self.total - self.done) / (self.done - self.base[1])
        text = f'tw: {self.done} of {self.total} {self.what}, about {words_for(left)} left'
        if self.running:
            text += f' (running: {", ".join(self.running[:3])}{", ..." if len(self.running) > 3 else ""})'
        return text


def main():
    what, log_name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    in_place = sys.stderr.isatty() and what == 'steps'
    interval = min(1.0, INTERVAL) if in_place else INTERVAL
    progress = Progress(what, time.monotonic())
    environment = {**os.environ, 'NINJA_STATUS': '[%f/%t] '}
    with open(log_name, 'w', errors='replace') as log, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        rest, shown, is_open, wrote = b'', False, True, False
        try:
            while is_open:
                ready = selector.select(timeout=max(0.05, progress.said + interval - time.monotonic()))
                now = time.monotonic()
                if ready:
                    chunk = os.read(process.stdout.fileno(), 65536)
                    is_open = bool(chunk)
                    *lines, rest = (rest + (chunk or b'\n' * bool(rest))).split(b'\n')
                    for line in (one.decode(errors='replace') for one in lines):
                        log.write(line + '\n')
                        if progress.take(line, now):
                            shown = True
                            print(line, file=sys.stdout if what == 'tests' else sys.stderr, flush=True)
                if is_open and now - progress.said >= interval:
                    progress.said = now
                    wrote = True
                    print(('\r\033[K' if in_place else '') + progress.sentence(now), end='' if in_place else '\n',
                          file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            process.wait()
            return 130
        if in_place and wrote:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
    if process.returncode != 0 and not shown:
        with open(log_name, errors='replace') as log:
            sys.stderr.writelines(log.readlines()[-25:])
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == '__main__':
    sys.exit(main())
