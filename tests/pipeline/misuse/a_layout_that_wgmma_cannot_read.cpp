// Must compile as it is, and must not compile with TW_MISUSE: without a swizzle no descriptor says
// where the lines are.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<tw::Sm90, Named>;

constexpr tw::Layout swizzled =
    tw::in_stages(tw::operand_layout(64, 64, 1, tw::Major::K, 2), 8192, 2);
#if defined(TW_MISUSE)
constexpr tw::Layout layout = tw::without_swizzle(swizzled);
#else
constexpr tw::Layout layout = swizzled;
#endif
constexpr tw::DescribedLayout described =
    tw::OperandBlocks<tw::SharedTile<tw::Bf16, layout>, tw::Major::K, 64, 16>::layout;
