// Must compile as it is, and must not compile with TW_MISUSE: an epilogue gets its buffers, from
// which nobody comes to the operands' signals.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Bound = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Bound::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Bound::Ring, tw::Release::Group, tw::NoTrace>;

void use(Bound::Epilogue::Buffers& buffers, Bound::Ring::Barriers& barriers) {
#if defined(TW_MISUSE)
  Input input(buffers, 0, tw::NoTrace({}, 0, false));
#else
  Input input(barriers, 0, tw::NoTrace({}, 0, false));
#endif
  (void)buffers;
}
