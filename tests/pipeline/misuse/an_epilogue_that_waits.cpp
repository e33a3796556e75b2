// Must compile as it is, and must not compile with TW_MISUSE: an epilogue gets its buffers, from
// which nobody comes to the operands' signals.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

void use(Kernel::Epilogue::Buffers& buffers, Kernel::Ring::Barriers& barriers) {
#if defined(TW_MISUSE)
  Input input(buffers, 0, tw::NoTrace({}, 0, false));
#else
  Input input(barriers, 0, tw::NoTrace({}, 0, false));
#endif
  (void)buffers;
}
