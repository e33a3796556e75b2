// Must compile as it is, and must not compile with TW_MISUSE: two tokens would signal one slot
// twice.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Input = tw::Consumer<tw::Matmul<tw::Sm90, Named>::Ring, tw::Release::Group, tw::NoTrace>;

void use_a_stage(Input& input) {
  auto stage = input.consume();
#if defined(TW_MISUSE)
  auto twice = stage;
#endif
}
