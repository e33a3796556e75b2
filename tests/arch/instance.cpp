// One kernel, to be compiled and thrown away: PAGE is a file of arch/, ARCH its target there.
#include PAGE
#include "tilewright/bind/recipe.h"

struct Named {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};
using Kernel = tw::MatmulKernel<tw::ARCH, Named>;
void (*const run)(const Kernel::Params&) = &Kernel::run;
