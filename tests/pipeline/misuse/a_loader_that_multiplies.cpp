// Must compile as it is, and must not compile with TW_MISUSE: a stage that is being filled is not
// a stage to read.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

void use(Output& output, Input& input, Kernel::Op& op, Kernel::Op::Accumulator& sum) {
  auto filled = output.produce();
  auto full = input.consume();
  op.multiply(sum, full);
#if defined(TW_MISUSE)
  op.multiply(sum, filled);
#endif
}
