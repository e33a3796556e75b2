// Must compile as it is, and must not compile with TW_MISUSE: what a loader begins with before the
// cluster has met is of the same copies as its 'load'.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

template <tw::Tiling tiling>
class OwnLoader : public tw::TmaLoader<tiling> {
 public:
  using tw::TmaLoader<tiling>::TmaLoader;
#if !defined(TW_MISUSE)
  static constexpr bool loads_own_first = false;
#endif
  template <tw::StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    this->template load_parts<true, true>(stage, tile, k + 1);
  }
};
struct Recipe : tw::MatmulRecipe {
  template <class, tw::Tiling tiling, tw::RoleTable>
  using Loader = OwnLoader<tiling>;
};
struct Named {
  static constexpr tw::MatmulConfig config = {.tiling = {.cluster = {2, 1}}};
};
using Kernel = tw::Kernel<tw::Sm90, Recipe, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
static_assert(tw::loads_stages<Kernel::Loader, Output::Token, tw::WorkTile>());
