// Must compile as it is, and must not compile with TW_MISUSE: a tile begins with a block of scales,
// or in the middle of one.
#include "tilewright/arch/sm100_scaled.h"
#include "tilewright/family/block_scaled/kernel.h"

struct Named {
#if defined(TW_MISUSE)
  static constexpr unsigned columns = 96;
#else
  static constexpr unsigned columns = 192;
#endif
  static constexpr tw::MatmulConfig config = {
      .tiling = {.n = columns, .a_type = tw::ElementType::E4m3, .b_type = tw::ElementType::E4m3},
      .multiply_groups = 1};
};
constexpr unsigned stages =
    tw::Kernel<tw::Sm100Scaled, tw::BlockScaledBy<tw::ScaleType::Ue8m0>, Named>::stages;
