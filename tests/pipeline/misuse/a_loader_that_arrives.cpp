// Must compile as it is, and must not compile with TW_MISUSE: a loader hands the signal to its
// copies, and cannot arrive there itself.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

tw::CopySignal use(Output& output) {
  auto empty = output.produce();
#if defined(TW_MISUSE)
  tw::isa::mbarrier_arrive(empty.full());
#endif
  return empty.full();
}
