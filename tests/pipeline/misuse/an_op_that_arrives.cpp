// Must compile as it is, and must not compile with TW_MISUSE: the token of a reader has no signal
// that a TileOp could reach.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

unsigned use(Input& input) {
  auto full = input.consume();
#if defined(TW_MISUSE)
  tw::isa::mbarrier_arrive(full.full());
#endif
  return full.slot();
}
