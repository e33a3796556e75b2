// Must compile as it is, and must not compile with TW_MISUSE: tcgen05 multiplies pairs of CTAs by
// 32 columns.
#include "tilewright/arch/sm100.h"
#include "tilewright/bind/recipe.h"

struct Named {
#if defined(TW_MISUSE)
  static constexpr unsigned columns = 208;
#else
  static constexpr unsigned columns = 224;
#endif
  static constexpr tw::MatmulConfig config = {
      .tiling = {.n = columns, .cluster = {2, 1}, .group = 2}, .multiply_groups = 1};
};
constexpr unsigned stages = tw::Matmul<tw::Sm100, Named>::stages;
