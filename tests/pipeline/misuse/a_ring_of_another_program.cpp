// Must compile as it is, and must not compile with TW_MISUSE: a TileOp reads the stages that it was
// made for.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

struct Narrow {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}};
};
using OtherInput =
    tw::Consumer<tw::Matmul<tw::Sm90, Narrow>::Ring, tw::Release::Group, tw::NoTrace>;

void use(Input& input, OtherInput& other, Kernel::Op& op, Kernel::Op::Accumulator& sum) {
  auto own = input.consume();
  auto foreign = other.consume();
#if defined(TW_MISUSE)
  op.multiply(sum, foreign);
#else
  op.multiply(sum, own);
#endif
}
