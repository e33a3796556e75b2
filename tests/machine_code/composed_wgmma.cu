// The kernel as the library composes it: the instance coop_128x256_2x1 of src/CMakeLists.txt, or
// with TW_TRACED its traced sister.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"
#include "tilewright/kernel/entry.h"

struct Composed {
#if defined(TW_TRACED)
  static constexpr tw::MatmulConfig config = {
      .tiling = {.cluster = {2, 1}}, .stagger = 2, .tracing = tw::Tracing::On};
#else
  static constexpr tw::MatmulConfig config = {.tiling = {.cluster = {2, 1}}, .stagger = 2};
#endif
};
using ComposedKernel = tw::MatmulKernel<tw::Sm90, Composed>;

template __global__ void tw::kernel::entry<ComposedKernel>(
    const __grid_constant__ ComposedKernel::Params);
