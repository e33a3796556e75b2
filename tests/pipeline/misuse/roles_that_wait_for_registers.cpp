// Must compile as it is, and must not compile with TW_MISUSE: 24 warps are launched with 80
// registers a thread, which do not add up to 160 for eight of them and 48 for the others.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}};
};
struct ManyWarps : tw::MatmulRecipe {
  static consteval tw::RoleTable roles(const tw::RoleTable& given, const tw::MatmulConfig&) {
    tw::RoleTable table = given;
#if defined(TW_MISUSE)
    table.multiply.first_warp = 16;
#else
    table.multiply.first_warp = 8;
#endif
    table.load.registers = 48;
    table.multiply.registers = 160;
    return table;
  }
};
constexpr unsigned stages = tw::Kernel<tw::Sm90, ManyWarps, Named>::stages;
