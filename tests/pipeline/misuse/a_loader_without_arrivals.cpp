// Must compile as it is, and must not compile with TW_MISUSE: arrivals are counted from what a
// loader says.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

template <tw::Tiling tiling>
class OwnLoader : public tw::TmaLoader<tiling> {
#if defined(TW_MISUSE)
  using tw::TmaLoader<tiling>::arrivals;
#endif
 public:
  using tw::TmaLoader<tiling>::TmaLoader;
};
struct Recipe : tw::MatmulRecipe {
  template <class, tw::Tiling tiling, tw::RoleTable>
  using Loader = OwnLoader<tiling>;
};
struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Kernel<tw::Sm90, Recipe, Named>;
constexpr unsigned stages = Kernel::stages;
