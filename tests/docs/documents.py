"""README and docs are true where a machine can tell: links lead to files, quoted programs are the programs, commands run
and print what is said.

usage: documents.py TILEWRIGHT

Commands are executed as they stand, but for fewer schedules and shorter fuzzing, and files go to a folder that vanishes.
What measures (bench, tune), builds (test, demo, library, package), is a program of its own (ptx, prove) or asks for a GPU (--on gpu) is not executed here. Of a header
a part may be quoted.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
ELSEWHERE = ('bench', 'tune', 'test', 'demo', 'library', 'package', 'cost', 'info', 'help', 'mutate', 'ptx', 'prove')
PRINTED = re.compile(r'<!-- (\./tw [^>]*) -->\n```\n(.*?)```\n', re.DOTALL)
QUOTED = re.compile(r'<!-- ((?:examples|include)/\S+) -->\n```\w+\n(.*?)```\n', re.DOTALL)

wrong = []


def check_links(page, text):
    for target in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', text):
        if '://' not in target and not (page.parent / target).exists():
            wrong.append(f'{page.relative_to(ROOT)} links to {target}, which is not there.')


def check_quotes(page, text):
    for name, quoted in QUOTED.findall(text):
        text = (ROOT / name).read_text()
        if text != quoted and not (name.startswith('include/') and quoted in text):
            wrong.append(f'{page.relative_to(ROOT)} quotes {name}, but other lines than it has.')


def check_outputs(page, text, tool):
    for line, quoted in PRINTED.findall(text):
        printed = subprocess.run([tool, *shlex.split(line)[1:]], capture_output=True, text=True).stdout
        if printed != quoted:
            wrong.append(f'{page.relative_to(ROOT)} says that {line} prints other lines than these:\n{printed}')


def commands(text):
    for line in re.findall(r'^ *(?:[A-Z_]+=\S+ )*(\./tw .*)$', text, re.MULTILINE):
        words = shlex.split(line, comments=True)[1:]
        if words and words[0] not in ELSEWHERE and 'gpu' not in words:
            yield words


def shortened(words, folder):
    words = list(words)
    for option, value in ('--schedules', '4'), ('--minutes', '0.02'), ('--problems', '2'):
        if option in words:
            words[words.index(option) + 1] = value
    for option in '-o', '--html', '--json', '--svg':
        if option in words and words.index(option) + 1 < len(words):
            at = words.index(option) + 1
            words[at] = str(pathlib.Path(folder) / pathlib.Path(words[at]).name)
    if words[0] == 'fuzz':
        words += ['--corpus', f'{folder}/found.txt']
    return words


def check_commands(page, text, tool, folder):
    count = 0
    for words in commands(text):
        count += 1
        done = subprocess.run([tool, *shortened(words, folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
        if done.returncode != 0:
            wrong.append(f'{page.relative_to(ROOT)}: ./tw {shlex.join(words)} ends with {done.returncode}:\n{done.stdout[:1000]}')
    return count


def main():
    executed = 0
    with tempfile.TemporaryDirectory() as folder:
        for page in PAGES:
            text = page.read_text()
            check_links(page, text)
            check_quotes(page, text)
            check_outputs(page, text, sys.argv[1])
            executed += check_commands(page, text, sys.argv[1], folder)
    if wrong:
        sys.exit('\n'.join(wrong))
    print(f'{len(PAGES)} pages, {executed} commands executed.')


if __name__ == '__main__':
    main()
