// Must compile as it is, and must not compile with TW_MISUSE: what nobody loads never fills a
// stage.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
#include "tilewright/family/blockwise/kernel.h"

struct Scaled {
  static constexpr tw::MatmulConfig config = {
      .tiling = {.n = 128, .a_type = tw::ElementType::E4m3, .b_type = tw::ElementType::E4m3},
      .promote_every = 1};
};
struct Forgetful : tw::ScaledBy<128> {
#if defined(TW_MISUSE)
  static consteval tw::RoleTable roles(const tw::RoleTable& table, const tw::MatmulConfig&) {
    return table;
  }
  template <tw::Tiling tiling, tw::RoleTable>
  using Scales = tw::ScaleLoader<tiling, 128, 1>;
#endif
};
constexpr unsigned stages = tw::Kernel<tw::Sm90, Forgetful, Scaled>::stages;
