"""The table of docs/cost.md is what ./tw cost counts; a tree without the family keeps what all share, and compiles.

usage: removed.py FOLDER COMPILER CMAKE
"""
import filecmp
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))
import cost  # noqa: E402
import cost_parts  # noqa: E402

folder, compiler, cmake = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
UNTOUCHED = ('pipeline', 'kernel', 'op', 'epilogue', 'schedule', 'arch', 'layout', 'accumulator')
# Files of the family in these folders.
OWN = {'grouped': ['group_tiles.h'],
       'block_scaled': ['tcgen05_scaled.h', 'scale_columns.h', 'sm100_scaled.h', 'mx_quantised.h', 'mfma_scaled.h', 'gfx950_scaled.h'],
       'attention': ['attention.h', 'attention_plan.h', 'attention_rows.h', 'online_softmax.h', 'packed_rows.h', 'softmax_parts.h', 'mma_rings.h', 'wgmma_rings.h', 'byte_transpose.h',
                     'attention_tiles.h', 'sm80_attention.h', 'sm90_attention.h']}
# A removal changes at least so many sources and headers that others use. It is there so that the
# test cannot look at nothing. The numbers of grouped were 3 and 2 sources while families were
# registered by hand; since their lists are generated, one source is left.
LEAST = {'conv2d': (4, 4), 'blockwise': (4, 3), 'grouped': (1, 1)}


def run(what, *command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{what}:\n{done.stdout}{done.stderr}')


def check_counting():
    """Blanks, comments and docstrings are no code; a part has its statements with their blocks."""
    expect = lambda what, found, right: None if found == right else sys.exit(f'{what}: {found}, not {right}')
    text = '// one\nint a;  // two\n\n/* three\n four */ int b;\n'
    expect('C++', cost.code_lines('x.h', text), 2)
    expect('Python', cost.code_lines('x.py', '"""Says\nmuch."""\nimport a  # why\n\n# b\nx = """\n\n1"""\n'), 3)
    text = ('int one;\nif (groups > 1) {\n  call(a,\n       b);\n}\nvoid deep(int a,\n          int b) {\n  int c;\n}\n'
            'x.groups = f(1,\n             2);\nint two;\n')
    expect('Parts', cost_parts.split('conv2d', 'x.h', text), {'forward by TMA': 2, 'groups': 6, 'a third side': 4})
    text = 'template <class A>\nint gather;\ntemplate <class A>\nint b;\n'
    expect('Templates', cost_parts.split('grouped', 'x.h', text), {'rows by an index': 2, 'groups': 2})
    marked = 'a\n// family conv2d: begin\nb\n// family conv2d: end\nsay("conv2d");\nconv2d();\n'
    expect('Removal', cost.remaining('x.h', marked, 'conv2d', 'conv2d'), 'a\nsay("conv2d");\n')


def check_table():
    found = cost.COST_TABLE.search((ROOT / 'docs/cost.md').read_text())
    if found is None or found.group() != cost.markdown():
        sys.exit('The table of docs/cost.md is stale; ./tw cost --update writes:\n' + cost.markdown())


def check_shared(left, family):
    """No line of the parts that all families share has gone or changed."""
    for name in UNTOUCHED:
        was, now = ROOT / 'include/tilewright' / name, left / 'include/tilewright' / name
        same = filecmp.dircmp(was, now)
        changed = same.left_only + same.right_only + same.diff_files
        if [file for file in changed if file not in OWN.get(family, [])]:
            sys.exit(f'{name}/ has changed: {changed}')


def check_compiles(left, family):
    run('The tree that is left cannot be configured', cmake, '-S', left, '-B', left / 'build', '-DTW_CUDA=OFF')
    words = cost.FAMILIES[family]['words']
    changed = [name for name, text, rest in cost.removal(family) if rest is not None and rest != text]
    sources = [name for name in changed if name.endswith('.cpp')]
    headers = [name for name in changed if name.endswith('.h') and 'cuda' not in name]
    least_sources, least_headers = LEAST.get(family, (0, 1))
    if len(sources) < least_sources or len(headers) < least_headers:
        sys.exit(f'Only {sources} and {headers} change: the test looks at the wrong files.')
    for name in changed:
        rest = (left / name).read_text()
        for line in rest.split('\n'):
            if cost.names_family(name, line, words):
                sys.exit(f'{name} still names {family}: {line}')
    # Where more than the list of families changes: everything that all share, in one instance of the first family.
    instance = ('#include "tilewright/arch/sm90.h"\n#include "vgpu/simulate.h"\n'
                'struct Named { static constexpr tw::MatmulConfig config = {}; };\n'
                'tw::vgpu::Report run(const tw::MatmulProblem& problem) {\n'
                '  return tw::simulate<tw::Matmul<tw::Sm90, Named>>(problem);\n}\n')
    whole = left / 'whole.cpp'
    whole.write_text(''.join(f'#include "{name}"\n' for name in headers) + (instance if len(headers) > 1 else ''))
    for source in [whole] + [left / name for name in sources]:
        run(f'What is left does not compile ({source.name})', compiler, '-std=c++20', '-fsyntax-only', '-O0', '-Wall',
            '-Wextra', '-Werror', f'-I{left}', f'-I{left}/include', source)
    run('python/tilewright cannot be imported', sys.executable, '-B', '-c',
        f'import sys; sys.path.insert(0, {str(left / "python")!r}); import tilewright')


check_counting()
check_table()
for family, spec in cost.FAMILIES.items():
    if spec.get('stays'):
        continue
    shutil.rmtree(folder, ignore_errors=True)
    cost.remove(family, folder)
    check_shared(folder, family)
    check_compiles(folder, family)
    shutil.rmtree(folder)
    print(f'{family} can be removed.')
