// The kernel as the library composes it: the instance blackwell_bf16 of src/CMakeLists.txt in
// clusters of two.
#include "tilewright/arch/sm100.h"
#include "tilewright/bind/recipe.h"
#include "tilewright/kernel/entry.h"

struct Composed {
  static constexpr tw::MatmulConfig config = {.tiling = {.cluster = {2, 1}}, .multiply_groups = 1};
};
using ComposedKernel = tw::MatmulKernel<tw::Sm100, Composed>;

template __global__ void tw::kernel::entry<ComposedKernel>(
    const __grid_constant__ ComposedKernel::Params);
