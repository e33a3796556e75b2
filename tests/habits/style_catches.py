"""Every rule of tools/check_style.py must catch its planted break, and nothing else."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
PLANTED = [
    ('include/tilewright/layout/x.h', '#include "tilewright/kernel/roles.h"\n', 'LAYERS puts it later'),
    ('vgpu/x.cpp', '#include "src/verify/data.h"\n', 'LAYERS puts it later'),
    ('include/tilewright/io/x.h', 'void f() { asm volatile("nop;"); }\n', 'assembly stands only'),
    ('include/tilewright/kernel/x.h', '#include "tilewright/isa/ptx/tma.h"\n', 'serves every target'),
    ('include/tilewright/schedule/x.h', '#include "tilewright/isa/amdgcn/mfma.h"\n', 'serves every target'),
    ('include/tilewright/op/x.h', '#if defined(__CUDA_ARCH__)\n#endif\n', 'conditions on the target'),
    ('include/tilewright/epilogue/x.h', 'void f() { isa::barrier_sync(1, 128); }\n', 'only in pipeline/'),
    ('include/tilewright/io/x.h', 'void f() { for (int k : tile.k_tiles(key)) g(k); }\n', 'role loops'),
    ('include/tilewright/io/x.h', 'struct X { [[no_unique_address]] Y y; };\n', 'An empty base is safe'),
    ('include/tilewright/io/x.h', 'x = tile + line * Tiling::span_bytes;\n', 'by hand'),
    ('include/tilewright/io/x.h', 'x = (chunk ^ line % 8) << 4;\n', 'by hand'),
    ('include/tilewright/op/x.h', 'const SharedAddress b = a + 4096;\n', 'by hand'),
    ('include/tilewright/epilogue/staged_store.h', 'x = own ^ (column + i * 16) * bytes;\n', 'by hand'),
    ('include/tilewright/epilogue/source_supply.h', 'x = tiles_ + token.slot() * 8192;\n', 'by hand'),
    ('include/tilewright/op/x.h', 'x = a_ + stage.slot() * 4096;\n', 'by hand'),
    ('include/tilewright/bind/scaled_op.h', 'x = y + tiling.a_bytes();\n', 'by hand'),
    ('src/x.cpp', '// ' + 'x' * 98 + '\n', '101 columns'),
    ('src/x.cpp', '\n' * 601, '601 lines'),
    ('src/x.cpp', '// TO' + 'DO: later\n', 'left over'),
    ('include/tilewright/x.h', '// Of each row.\nint rows;\n', 'begins with "Of"'),
    ('include/tilewright/x.h', 'int rows;  // of A\n', 'begins with "of"'),
    ('include/tilewright/x.h', 'int rows;  // rows\n// and where they end\nint end;\n', 'x.h:2: a comment begins with "and"'),
    ('include/tilewright/x.h', 'int rows;  // rows\nint end;   // or their end\n', 'x.h:2: a comment begins with "or"'),
    ('include/tilewright.h', 'typedef struct x {\n  int a; /* rows */\n  int b; /* of B */\n} x;\n', 'tilewright.h:3: a comment begins'),
    ('include/tilewright.h', '/* Rows.\n * Of A. */\n/* As in A. */\nint x;\n', 'tilewright.h:3: a comment begins with "As"'),
    ('examples/x/main.c', 'int f(int a, /* of b */ int b);\n', 'begins with "of"'),
    ('vgpu/x.cpp', 'int ten = 1\'0;  // OF ten\n', 'begins with "OF"'),
    ('tests/x/x.cu', '//as it is\n', 'begins with "as"'),
    ('src/x.cpp.in', '    // Or none.\n', 'begins with "Or"'),
    ('tools/x.py', "x = '# of a string'\ny = 2  # of x\n", 'x.py:2: a comment begins with "of"'),
    ('python/tilewright/x.py', '# And then\nx = 1\n', 'begins with "And"'),
    ('src/CMakeLists.txt', 'set(x "# of a string")  # of x\n', 'begins with "of"'),
    ('tests/x/x.sh', 'echo $#\n# As always.\n', 'begins with "As"'),
]
# What looks like such a comment, and is none.
ALLOWED = [
    ('src/x.cpp', '// Rows\n// of A, and\n// as many of B.\nint x;  // columns\n        // of both\n'),
    ('src/x.cpp', 'const char* x = "// of";\nconst char* y = R"(\n// of\n)";\n// Often, ordered, assigned, android.\n'),
    ('include/tilewright.h', '/* Rows\n * of A. */\nint x;\n'),
    ('tools/x.py', '# Rows\n# of A.\nx = """\n# of a string\n"""\n'),
    ('docs/x.cpp', '// Of no folder that is looked at.\n'),
]



def checked(path, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(ROOT / 'LAYERS', root)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        return subprocess.run([sys.executable, ROOT / 'tools/check_style.py', '--root', root],
                              capture_output=True, text=True)


for path, text, expected in PLANTED:
    run = checked(path, text)
    if run.returncode != 1 or expected not in run.stdout or run.stdout.count('\n') != 1:
        sys.exit(f'{path}: expected one complaint with "{expected}", got:\n{run.stdout}{run.stderr}')
for path, text in ALLOWED:
    if checked(path, text).returncode != 0:
        sys.exit(f'{path}: expected no complaint, got:\n{checked(path, text).stdout}')
print(f'{len(PLANTED)} planted breaks are caught, {len(ALLOWED)} files are let pass.')
