// Must compile as it is, and must not compile with TW_MISUSE: the stage belongs to `held` by then.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Ring = tw::Matmul<tw::Sm90, Named>::Ring;
using Input = tw::Consumer<Ring, tw::Release::Group, tw::NoTrace>;

unsigned use_a_stage(Input& input) {
  tw::Held<Input::Token, 1> held;
  auto stage = input.consume();
  unsigned slot = stage.slot();
  held.keep(std::move(stage));
#if defined(TW_MISUSE)
  slot += stage.slot();
#endif
  return slot;
}
