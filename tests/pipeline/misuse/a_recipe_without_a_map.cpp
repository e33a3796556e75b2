// Must compile as it is, and must not compile with TW_MISUSE: the binder names what a recipe lacks.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

class Recipe : public tw::MatmulRecipe {
#if defined(TW_MISUSE)
  using tw::MatmulRecipe::Map;
#endif
};
struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Kernel<tw::Sm90, Recipe, Named>;
constexpr unsigned stages = Kernel::stages;
