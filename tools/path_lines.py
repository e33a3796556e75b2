#!/usr/bin/env python3
"""From tw_matmul_simulate to the instruction: the files and lines that one cold call of the library passes through.

usage: path_lines.py BUILD_FOLDER [--list] [--most FILES LINES]

Compiles the library's path of a matmul and one kernel with gcov at -O0, links them with the virtual GPU of a build folder (host
or cuda, `ninja tilewright_library` done there), and makes one call. Counted are files of the repository of which a line runs,
without vgpu/, layout/ and what is generated: their code lines (no blanks, no comments), and those of them that ran.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import cost

ROOT = cost.ROOT
INSTANCE = 'coop_128x256_2x1'
SOURCES = ['src/library/' + name for name in ('apart', 'calls', 'checks', 'command', 'decisions', 'describe', 'described', 'environment', 'device', 'device_hip', 'device_none', 'failure', 'families',
                                              'formatting', 'gpu_calls', 'interface', 'plugin')]
SOURCES += ['src/dispatch/' + name for name in ('cost', 'launch_options', 'tuning')]
SOURCES += ['src/families/matmul_call', 'src/instances/names', 'src/instances/open_plugin', 'src/instances/run_line']
PROGRAM = '''
#include <vector>
#include "src/instances/instance.h"
#include "tilewright.h"
namespace tw {
namespace instances { Instance make_%(instance)s(); }
std::span<const Instance> matmul_instances() {
  static const Instance table[] = {instances::make_%(instance)s()};
  return table;
}
}
int main() {
  std::vector<unsigned short> a(256 * 64 + 64), b(a), d(256 * 256 + 64);
  const auto aligned = [](auto& of) { return reinterpret_cast<void*>((reinterpret_cast<unsigned long>(of.data()) + 127) & ~127ul); };
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = problem.n = 256;
  problem.k = 64;
  problem.a = {aligned(a), 64, 1, 0, TW_BF16};
  problem.b = {aligned(b), 1, 64, 0, TW_BF16};
  problem.d = {aligned(d), 256, 1, 0, TW_BF16};
  return tw_matmul_simulate(&problem, nullptr) == TW_OK ? 0 : 1;
}
'''


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f'tw: {" ".join(str(word) for word in command)[:300]}:\n{done.stdout}{done.stderr}')
    return done.stdout


def ran_lines(folder):
    """By file, relative to the repository: the lines that ran."""
    ran = {}
    for notes in sorted(folder.glob('*.gcda')):
        for text in run('gcov', '--json-format', '--stdout', notes, cwd=folder).splitlines():
            for file in json.loads(text)['files']:
                path = (folder / file['file']).resolve()
                if not path.is_relative_to(ROOT):
                    continue
                name = str(path.relative_to(ROOT))
                if name.startswith(('vgpu/', 'build/', 'include/tilewright/layout/')):
                    continue
                lines = {line['line_number'] for line in file['lines'] if line['count'] > 0}
                if lines:
                    ran.setdefault(name, set()).update(lines)
    return ran


def main():
    parser = argparse.ArgumentParser(prog='tools/path_lines.py', description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--list', action='store_true', help='every file')
    parser.add_argument('--most', type=int, nargs=2, metavar=('FILES', 'LINES'), help='ends with 1 where there are more')
    request = parser.parse_args()
    build = request.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        main_file = folder / 'call.cpp'
        main_file.write_text(PROGRAM % {'instance': INSTANCE})
        sources = [ROOT / f'{source}.cpp' for source in SOURCES]
        sources += [build / name for name in (f"src/matmul/instances/on_demand/{INSTANCE}.cpp", "src/tuned_table.cpp", "src/library/layouts.cpp")]
        sources += [main_file]
        objects = []
        for index, source in enumerate(sources):
            objects.append(folder / f'{index}_{source.stem}.o')
            run('g++', '-std=c++20', '-O0', '--coverage', '-DTW_INSTANCE_WITH_CUDA=0', '-DTW_INSTANCE_WITH_VGPU=1', f'-I{ROOT}',
                f'-I{ROOT}/include', f'-I{build}/include', '-c', source, '-o', objects[-1], cwd=folder)
        archives = [build / name for name in ('src/verify/libtilewright_virtual_run.a', 'src/verify/libtilewright_matmul_data.a',
                                              'vgpu/libtilewright_vgpu.a', 'vgpu/data/libtilewright_vgpu_data.a')]
        run('g++', '--coverage', *objects, *archives, '-lfmt', '-lboost_context', '-lpthread', '-o', folder / 'call', cwd=folder)
        run(folder / 'call', cwd=folder)
        ran = ran_lines(folder)
    counts = {name: cost.code_lines(name, (ROOT / name).read_text()) for name in ran}
    if request.list:
        for file in sorted(ran):
            print(f'{len(ran[file]):5} of {counts[file]:5}  {file}')
    files, lines = len(ran), sum(counts.values())
    print(f'{files} files of {lines} code lines, of which {sum(len(lines) for lines in ran.values())} ran.')
    if request.most and (files > request.most[0] or lines > request.most[1]):
        sys.exit(f'There may be {request.most[0]} files of {request.most[1]} lines.')


if __name__ == '__main__':
    main()
