// Must compile as it is, and must not compile with TW_MISUSE: no hardware adds copies to a counter.
#include "tilewright/arch/gfx942.h"
#include "tilewright/bind/recipe.h"

struct Page : tw::Gfx942 {
  template <tw::Tiling tiling, tw::RoleTable roles>
  using Loader = tw::ThreadLoader<tiling, tw::VectorCopy, roles.load.warps,
#if defined(TW_MISUSE)
                                  tw::Completion::CopiesArrive,
#else
                                  tw::Completion::WarpsArrive,
#endif
                                  roles.lanes>;
};
struct Named {
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};
using Kernel = tw::MatmulKernel<Page, Named>;
void run(const Kernel::Params& params) { Kernel::run(params); }
