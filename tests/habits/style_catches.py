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
]

for path, text, expected in PLANTED:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(ROOT / 'LAYERS', root)
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
        run = subprocess.run([sys.executable, ROOT / 'tools/check_style.py', '--root', root],
                             capture_output=True, text=True)
        if run.returncode != 1 or expected not in run.stdout or run.stdout.count('\n') != 1:
            sys.exit(f'{path}: expected one complaint with "{expected}", got:\n{run.stdout}{run.stderr}')
print(f'{len(PLANTED)} planted breaks are caught.')
