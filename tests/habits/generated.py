"""Checked-in generated files must be what their generators write."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
GENERATED = {'tools/gen_tcgen05.py': 'include/tilewright/isa/ptx/tcgen05_operands.h',
             'tools/gen_wgmma.py': 'include/tilewright/isa/ptx/wgmma_operands.h'}

for command, path in GENERATED.items():
    generator, *options = command.split()
    fresh = subprocess.run([sys.executable, ROOT / generator, *options], capture_output=True, text=True,
                           check=True)
    if fresh.stdout != (ROOT / path).read_text():
        sys.exit(f'{path} is not what its generator writes; run: python3 {command} > {path}')
print(f'{len(GENERATED)} generated files are fresh.')
