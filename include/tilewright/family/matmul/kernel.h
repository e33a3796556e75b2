// The kernels of matmul: their recipe is that of all products, or they stream.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/isa/has_ptx.h"
#if TW_HAS_PTX
#include "tilewright/bind/streamed.h"
#include "tilewright/family/matmul/rows.h"
#endif

namespace tw {

#if TW_HAS_PTX
// A target's page, of kernels that stream rows of B. Their configuration has the rows of B as m,
// those of A as n, and four warps for each of multiply_groups.
template <class Page>
struct Rows : Page {};

template <TargetPage Page, class Named>
struct Kernel<Rows<Page>, MatmulRecipe, Named> : Streamed<Page, Named> {
  static constexpr MatmulConfig config = Named::config;
  static constexpr bool dependent_launch = config.dependent_launch != 0;
  using Stream = RowStream<config.tiling.a_type, config.d_type, config.tiling.m, config.tiling.n,
                           4 * config.multiply_groups, config.tiling.spans>;
};
template <class Kernel>
concept RowKernel = requires {
  typename Kernel::Stream;
};
#endif

}  // namespace tw
