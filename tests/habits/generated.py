"""Checked-in generated files must be what their generators write."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
WGMMA_KINDS = ['bf16', 'fp16', 'tf32', 'e4m3', 'e5m2', 's8', 'bf16_register', 'e4m3_register',
               'fp16_register']
GENERATED = {'tools/gen_tcgen05.py': 'include/tilewright/isa/ptx/tcgen05_access.h'}
GENERATED |= {f'tools/gen_wgmma.py {kind}': f'include/tilewright/isa/ptx/wgmma_{kind}.h'
              for kind in WGMMA_KINDS}

for command, path in GENERATED.items():
    generator, *options = command.split()
    fresh = subprocess.run([sys.executable, ROOT / generator, *options], capture_output=True, text=True,
                           check=True)
    if fresh.stdout != (ROOT / path).read_text():
        sys.exit(f'{path} is not what its generator writes; run: python3 {command} > {path}')
print(f'{len(GENERATED)} generated files are fresh.')
