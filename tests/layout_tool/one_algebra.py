"""The algebra is one code: altered in one place, the constant expression, the run-time call and the command
all give the altered answer.

usage: one_algebra.py COMPILER SOURCE_FOLDER FMT_FLAGS...
"""
import pathlib
import subprocess
import sys
import tempfile

compiler, source, flags = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
HEADER = 'tilewright/layout/coalesce.h'
RIGHT = 'current.extent *= leaf.extent;'
ALTERED = 'current.extent += leaf.extent;'
PROGRAM = '''
#include <cstdio>
#include "src/layout_tool/evaluate.h"
#include "tilewright/layout/algebra.h"
using namespace tw;
constexpr Layout at_compile_time = coalesce("(2,4,6):(1,2,8)"_layout);
int main(int count, char**) {
  Layout layout = "(2,4,6):(1,2,8)"_layout;
  layout.extents.set(0, count + 1);  // 2, but the compiler cannot know
  std::printf("%s %s %s\\n", to_string(at_compile_time).c_str(), to_string(coalesce(layout)).c_str(),
              layout_tool::to_text(layout_tool::evaluate("coalesce((2,4,6):(1,2,8))")).c_str());
}
'''
TOOL = ['evaluate', 'operations', 'parse', 'reader', 'value']


def answers(include):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'program.cpp'
        program.write_text(PROGRAM)
        sources = [program] + [source / f'src/layout_tool/{name}.cpp' for name in TOOL]
        subprocess.run([compiler, '-std=c++20', '-O0', '-I', include, '-I', source, '-I', source / 'include',
                        *sources, '-o', program.with_suffix(''), *flags], check=True)
        return subprocess.run([program.with_suffix('')], capture_output=True, text=True, check=True).stdout.split()


right = answers(source / 'include')
with tempfile.TemporaryDirectory() as folder:
    altered_header = pathlib.Path(folder) / HEADER
    altered_header.parent.mkdir(parents=True)
    text = (source / 'include' / HEADER).read_text()
    assert text.count(RIGHT) == 1, f'{HEADER} has not exactly one line "{RIGHT}"'
    altered_header.write_text(text.replace(RIGHT, ALTERED))
    altered = answers(folder)
print(f'as it is: {right}\naltered:  {altered}')
assert right == ['48:1'] * 3, right
assert len(set(altered)) == 1 and altered[0] != '48:1', altered
