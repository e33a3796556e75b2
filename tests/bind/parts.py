"""Every member that a contract asks for is missed: from a part that has all of them one after the other is hidden, and the compiler
must say the sentence of that member. The parts themselves must compile.

usage: parts.py --root FOLDER COMPILER
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('--root', required=True, type=pathlib.Path)
parser.add_argument('compiler')
arguments = parser.parse_args()
sys.path.insert(0, str(arguments.root / 'tools'))
import parts_page  # noqa: E402

HEAD = '''
#include "tilewright/arch/sm100.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"
#include "tilewright/family/attention/launch.h"
#include "tilewright/family/attention/sm90.h"
#include "tilewright/family/matmul/launch.h"
#include "tilewright/family/quantise/launch.h"
#include "tilewright/launch/contracts.h"

namespace example {
using namespace tw;
struct OfMatmul {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}}, .scheduling = Scheduling::Dynamic, .c_stages = 2};
};
struct OfParts {
  static constexpr MatmulConfig config = {.split = Split::Parts};
};
struct OfQuantise {
  static constexpr QuantiseConfig config = {.scale_rows = 1};
};
struct OfAttention {
  static constexpr AttentionConfig config = {};
};
using Product = Matmul<Sm90, OfMatmul>;
using InParts = Matmul<Sm90, OfParts>;
using Quantiser = Quantise<Sm90, OfQuantise>;
using Heads = Attention<Sm90Attention, OfAttention>;
using Fills = Producer<Product::Ring, Role::Load, NoTrace>::Token;
using Reads = Consumer<Product::Ring, Product::Op::release, NoTrace>::Token;
using Sum = Product::Op::Accumulator;
using Epilogue = RuntimeEpilogue;
using Node = node::Scale<node::Sum>;
'''
# For each contract: a part that keeps it, and the contract's arguments behind the part.
EXAMPLES = {
    'is_page': ('Sm90', ''),
    'has_tickets': ('Sm90', ''),
    'has_turns': ('Sm90', ''),
    'has_staged_sources': ('Sm90', ''),
    'has_cluster_reduction': ('Sm90', ''),
    'has_last_finish': ('Sm100', ''),
    'has_group_reduction': ('Sm90', ''),
    'is_recipe': ('MatmulRecipe', ''),
    'is_loader': ('Product::Loader', ''),
    'loads_stages': ('Product::Loader', ', Fills, WorkTile'),
    'is_signal': ('Sm90::Signal', ''),
    'signals': ('Sm90::Signal', ', Product::Ring'),
    'is_op': ('Product::Op', ''),
    'multiplies_stages': ('Product::Op', ', Sum, Reads'),
    'is_store': ('Product::Store', ''),
    'is_epilogue': ('Epilogue', ''),
    'is_node': ('Node', ''),
    'is_source': ('Product::Sources', ''),
    'is_order': ('Product::Order', ''),
    'is_map': ('Product::Map', ''),
    'is_schedule': ('Product::Schedule', ''),
    'is_asked': ('Product::Schedule', ', NoTrace'),
    'is_reduction': ('InParts::Reduction', ''),
    'reduces': ('InParts::Reduction', ', Sum'),
    'is_program': ('kernel::OneProduct<Product>', ''),
    'is_stream': ('Quantiser::Stream', ''),
    'is_launch': ('MatmulLaunch', ', Product'),
    'plans_grids': ('MatmulLaunch', ', Product, kernel::WarpSpecialized<Product>::Params'),
    'plans_streams': ('QuantiseLaunch', ', Quantiser, kernel::Streaming<Quantiser>::Params'),
    'asks_for_workspace': ('AttentionLaunch', ', Heads'),
}

# A member that is missed where another is overridden, not where it is hidden.
OVERRIDDEN = {
    'lacks_load_own_of_loads_stages': ' public:\n  template <StageToFill Stage, class Tile>\n  void load(const Stage&, const Tile&, int) {}\n',
}

right, wrong, expected = [], [], {}
for _, _, contract, requirements in parts_page.contracts():
    if not requirements:
        continue
    if contract not in EXAMPLES:
        sys.exit(f'parts.py has no part that keeps {contract}.')
    part, more = EXAMPLES[contract]
    whole = f'whole_{contract}'
    right.append(f'using {whole} = {part};\nstatic_assert({contract}<{whole}{more}>());')
    for requirement in requirements:
        if not requirement.member:
            continue
        name = f'lacks_{requirement.member}_of_{contract}'
        expected[name] = requirement.sentence
        lacks = OVERRIDDEN.get(name, f' private:\n  using {whole}::{requirement.member};\n')
        wrong.append(f'struct {name} : {whole} {{\n  using {whole}::{whole};\n{lacks}}};\n'
                     f'constexpr bool asks_{name} = {contract}<{name}{more}>();')


def compiled(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(HEAD + text + '\n}  // namespace example\n')
    command = [arguments.compiler, '-std=c++20', '-fsyntax-only', '-fmax-errors=0', '-I', str(arguments.root / 'include'), str(path)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'})


with tempfile.TemporaryDirectory() as folder:
    kept = compiled(folder, 'right.cpp', '\n'.join(right))
    if kept.returncode != 0:
        sys.exit(f'Parts that have all members do not compile:\n{kept.stderr}')
    missed = compiled(folder, 'wrong.cpp', '\n'.join(right + wrong))

said, who = {}, None
for line in missed.stderr.splitlines():
    who = next(iter(re.findall(r'with \w+ = example::(lacks_\w+)', line)), who)
    failed = re.search(r'static assertion failed: (.*)', line)
    if failed:
        said.setdefault(who, set()).add(failed.group(1))
silent = [f'{name}: {sentence}' for name, sentence in expected.items() if sentence not in said.get(name, ())]
if silent:
    sys.exit('Not said:\n' + '\n'.join(silent) + f'\n{missed.stderr[-6000:]}')
print(f'{len(expected)} members of {len(EXAMPLES)} contracts are missed by their sentences.')
