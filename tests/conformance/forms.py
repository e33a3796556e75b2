"""Every instruction wrapper of isa/ that device code calls is called by a conformance program as well, or stands in one of two lists here.

usage: forms.py ROOT

Counted are functions of isa/ and isa/ptx that headers outside of isa/ name as `isa::NAME`. What is no instruction, or has no result to compare, is
apart. What has no program of its own is listed with what else tests it: a wrapper that comes without a program, and one that has got one
but is still listed, both fail. Forms of AMD's instructions are counted in compiled code (tests/amd/conformance/forms.py).
"""
import pathlib
import re
import sys

APART = {
    'describe_barrier', 'describe_no_step', 'describe_role', 'describe_shared', 'describe_step',  # words for the virtual GPU
    'griddepcontrol_launch_dependents', 'griddepcontrol_wait',  # order grids
    'half_twice', 'warp_lanes',  # constants, and moves of bits
    'prefetch_global',  # has no result
    'wgmma_registers', 'wgmma_registers_of_row',  # fences of the compiler
}
WITHOUT = {
    'cp_async_bulk_load': 'four-bit weights on the H200',
    'cp_async_cached': 'convolutions on the H200',
    'cvt_bf16x2_e4m3x2': 'attention of e4m3 keys on the H200',
    'cvt_f32_f16': 'products of fp16 on the H200',
    'ex2_approx': 'tests/isa/exponential_test.cpp, and attention on the H200',
    'lg2_approx': 'tests/isa/exponential_test.cpp, and attention on the H200',
    'max_nan': 'epilogues on the H200',
    'mbarrier_arrive_expect_tx_cluster': 'tests/vgpu/launch_control_test.cpp; no hardware has run it',
    'multiply_pairs': 'four-bit weights on the H200',
    'permute_bytes': 'four-bit weights on the H200',
    'rcp_approx': 'attention on the H200',
    'shifted_by_product': 'four-bit weights on the H200',
    'subtract_pairs': 'four-bit weights on the H200',
}


def judged(wrappers, called, tested):
    """Sentences about what is wrong."""
    used = {name for name in called if name in wrappers}
    for name in sorted(used - tested - APART - WITHOUT.keys()):
        yield f'isa::{name} has no conformance program'
    for name in sorted(WITHOUT.keys() & tested):
        yield f'isa::{name} has a conformance program, and is listed as if it had none'
    for name in sorted((APART | WITHOUT.keys()) - used):
        yield f'isa::{name} is listed, but nothing calls it'


root = pathlib.Path(sys.argv[1])
include = root / 'include/tilewright'
wrappers = set()
for folder in ('isa', 'isa/ptx'):
    for path in (include / folder).glob('*.h'):
        wrappers |= set(re.findall(r'TW_DEVICE\s+[\w:<> *&]+?\s+\*?(\w+)\(', path.read_text()))
called = set()
for path in include.rglob('*.h'):
    if 'isa' not in path.relative_to(include).parts:
        called |= set(re.findall(r'isa::(\w+)', path.read_text()))
tested = set()
for path in (root / 'tests/conformance').glob('*.h'):
    tested |= set(re.findall(r'isa::(\w+)', path.read_text()))
wrong = list(judged(wrappers, called, tested))
# A wrapper without a program, planted, must be told.
if 'isa::tcgen05_commit has no conformance program' not in judged(wrappers, called, tested - {'tcgen05_commit'}):
    wrong.append('a wrapper that lost its program was not told')
print(f'{len(wrappers & called)} wrappers are called, {len(wrappers & called & tested)} of them by conformance programs; {len(WITHOUT)} have no program.')
sys.exit('\n'.join(wrong) or 0)
