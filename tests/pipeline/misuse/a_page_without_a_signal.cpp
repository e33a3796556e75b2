// Must compile as it is, and must not compile with TW_MISUSE: the binder names what a page lacks.
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"

class Page : public tw::Sm90 {
#if defined(TW_MISUSE)
  using tw::Sm90::Signal;
#endif
};
struct Named {
  static constexpr tw::MatmulConfig config = {};
};
using Kernel = tw::Matmul<Page, Named>;
constexpr unsigned stages = Kernel::stages;
