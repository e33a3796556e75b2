// Must compile as it is, and must not compile with TW_MISUSE: a warp reaches a quarter of the lanes
// of tensor memory, so that four read a sum, or eight halves of its columns.
#include "tilewright/arch/sm100.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};
struct SixWarps : tw::MatmulRecipe {
  static consteval tw::RoleTable roles(const tw::RoleTable& given, const tw::MatmulConfig&) {
    tw::RoleTable table = given;
#if defined(TW_MISUSE)
    table.epilogue = {0, 6};
    table.load = {6, 1};
    table.multiply = {7, 1};
#endif
    return table;
  }
};
constexpr unsigned stages = tw::Kernel<tw::Sm100, SixWarps, Named>::stages;
