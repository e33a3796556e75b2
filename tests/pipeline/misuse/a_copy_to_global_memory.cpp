// Must compile as it is, and must not compile with TW_MISUSE: TMA loads land in shared memory.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;

constexpr tw::OperandTile tile = {64, 1, 64, tw::Major::K, 1, 64};
constexpr tw::Layout layout = tw::operand_layout(64, 64, 1, tw::Major::K, 2);
using Shared = tw::SharedTile<tw::Bf16, layout>;
using Global = tw::TileTensor<tw::Bf16, tw::Space::Global, layout>;

void use(const Shared& shared, const Global& global) {
  const auto issue = [](auto, int, int) {};
#if defined(TW_MISUSE)
  tw::for_each_copy<tile>(global, 0, 0, 0, issue);
#else
  tw::for_each_copy<tile>(shared, 0, 0, 0, issue);
#endif
  (void)global;
}
