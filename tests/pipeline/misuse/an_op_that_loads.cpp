// Must compile as it is, and must not compile with TW_MISUSE: who reads a stage cannot fill it.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;
using Output = tw::Producer<Kernel::Ring, tw::Role::Load, tw::NoTrace>;
using Input = tw::Consumer<Kernel::Ring, tw::Release::Group, tw::NoTrace>;

void use(Output& output, Input& input, Kernel::Loader& loader, const tw::WorkTile& tile) {
  auto empty = output.produce();
  auto full = input.consume();
  loader.load(empty, tile, 0);
#if defined(TW_MISUSE)
  loader.load(full, tile, 0);
#endif
}
