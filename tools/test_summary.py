#!/usr/bin/env python3
"""What a run of CTest says in the end: how many tests passed, failed and were skipped, and why each was skipped.

usage: test_summary.py JUNIT, the file that `ctest --output-junit JUNIT --test-output-size-passed 1048576` wrote.

A skip is no pass. Programs that skipped some of their tests and passed the others are counted as passed and named: their reasons are lines
`Skipped: TEST: REASON` of their output (tests/runner/main.cpp), or `TEST ... skipped 'REASON'` of Python's unittest. Without the option, CTest
cuts the output of tests that passed, and these lines with it. It ends with 1 where a test failed or did not run for another reason, else with 0.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

REASON = re.compile(r'^Skipped: (.*)$|\.\.\. skipped [\'"](.*)[\'"]$', re.M)


def reasons_of(output):
    """Each reason once; the name of the test within its program is left out."""
    found = [(first or second).strip() for first, second in REASON.findall(output)]
    return list(dict.fromkeys(re.sub(r'^[\w/]+\.[\w/]+: ', '', reason) for reason in found))


class Summary:
    def __init__(self, cases):
        self.passed, self.failed, self.seconds = 0, [], 0.0
        self.skipped, self.partly = collections.defaultdict(list), collections.defaultdict(list)
        for case in cases:
            self.add(case.get('name'), case.get('status'), case.findtext('system-out') or '', case.find('skipped'))
            self.seconds += float(case.get('time') or 0)

    def add(self, name, status, output, skipped):
        reasons = reasons_of(output)
        if status == 'run':
            self.passed += 1
            for reason in reasons:
                self.partly[reason].append(name)
        elif status == 'disabled' or (status == 'notrun' and skipped is not None and 'SKIP' in skipped.get('message', '')):
            # A program that was skipped says why in its last line, if not otherwise.
            said = [line for line in output.splitlines() if line.strip()]
            self.skipped['; '.join(reasons) or (said[-1].strip() if said else 'it does not say why')].append(name)
        else:
            self.failed.append(name)

    def lines(self):
        skipped = sum(map(len, self.skipped.values()))
        yield f'{self.passed} passed, {len(self.failed)} failed, {skipped} skipped; together they took {self.seconds / 60:.1f} minutes.'
        for reason, names in self.skipped.items():
            yield f'skipped: {", ".join(names)}: {reason}'
        for reason, names in self.partly.items():
            yield f'skipped in part: {", ".join(names)}: {reason}'
        if self.failed:
            yield f'failed: {", ".join(self.failed)}'


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: test_summary.py JUNIT')
    file = pathlib.Path(sys.argv[1])
    try:
        cases = xml.etree.ElementTree.parse(file).getroot().findall('testcase')
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f'test_summary.py: {file} is no file of CTest\'s results: {error}', file=sys.stderr)
        return 2
    summary = Summary(cases)
    print('\n'.join(summary.lines()))
    return 1 if summary.failed else 0


if __name__ == '__main__':
    sys.exit(main())
