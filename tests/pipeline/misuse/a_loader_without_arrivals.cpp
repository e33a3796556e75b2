// Must compile as it is, and must not compile with TW_MISUSE: arrivals are counted from what a
// loader says.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Bound = tw::Matmul<tw::Sm90, Named>;

struct Loader {
  struct Params {};
  static constexpr bool elected = true, clears = false;
  static constexpr tw::Completion completion = tw::Completion::TransactionBytes;
#if !defined(TW_MISUSE)
  static constexpr unsigned arrivals = 1;
#endif
  static constexpr unsigned stages_held = 0, least_alignment = 16;
  static constexpr tw::Tiling in_shared() { return {}; }
  void finish() {}
};
template <tw::TileLoader Loader>
constexpr bool is_a_loader = true;
static_assert(is_a_loader<Loader>);
