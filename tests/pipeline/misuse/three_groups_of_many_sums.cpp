// Must compile as it is, and must not compile with TW_MISUSE: three warpgroups have fewer registers
// for their sums.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
#if defined(TW_MISUSE)
  static constexpr unsigned columns = 192;
#else
  static constexpr unsigned columns = 128;
#endif
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 192, .n = columns},
                                              .multiply_groups = 3};
};
constexpr unsigned stages = tw::Matmul<tw::Sm90, Named>::stages;
