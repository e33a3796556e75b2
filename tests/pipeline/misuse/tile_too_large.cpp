// Must compile as it is, and must not compile with TW_MISUSE: the configuration is refused with its
// sentence.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
#if defined(TW_MISUSE)
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 256}};
#else
  static constexpr tw::MatmulConfig config = {};
#endif
};
constexpr unsigned stages = tw::Matmul<tw::Sm90, Named>::stages;
