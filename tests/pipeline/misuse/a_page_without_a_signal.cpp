// Must compile as it is, and must not compile with TW_MISUSE: the compiler names what a page lacks.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Bound = tw::Matmul<tw::Sm90, Named>;

struct Page {
  static constexpr tw::TargetFacts target = tw::target::sm90a;
  static constexpr unsigned shared_bytes = 232448;
  static constexpr unsigned registers = 65536;
  static constexpr bool in_clusters = true;
#if !defined(TW_MISUSE)
  using Signal = tw::Mbarriers;
#endif
  template <tw::Tiling tiling, tw::RoleTable>
  using Loader = tw::TmaLoader<tiling>;
};
template <tw::TargetPage Page>
constexpr bool is_a_page = true;
static_assert(is_a_page<Page>);
