// The launch of a product of elements with block scales.
#pragma once

#include <limits>

#include "tilewright/family/block_scaled/family.h"
#include "tilewright/family/block_scaled/kernel.h"
#include "tilewright/launch/block_scales.h"
#include "tilewright/launch/checked.h"

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct BlockScaledFacts {
  ProductFacts product;
  BlockScaleFacts scales;
  bool quantises;  // D, with scales of its own
};

struct BlockScaledLaunch {
  using Family = BlockScaledFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr BlockScaledFacts facts = {facts_of<Kernel>, block_scale_facts<Kernel>,
                                             Kernel::Recipe::quantises_d};

  // What is K-major and MN-major at once is read K-major.
  template <class Kernel>
  static MatmulProblem product(const Checked& checked) {
    ProductFacts wanted = facts_of<Kernel>;
    wanted.any_layout = false;
    return as_read(checked, wanted);
  }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const Checked& checked = problem.checked;
    const BlockScaledOperands given(
        problem.product, Family::BlockScales::type(checked.as<Problem>()),
        checked.tensor(Family::a_scales).data, checked.tensor(Family::b_scales).data);
    if constexpr (Kernel::Recipe::quantises_d) {
      params.epilogue.epilogue.scales = {
          static_cast<std::uint8_t*>(checked.tensor(Family::d_scales).data),
          Family::d_scale_extent(checked.as<Problem>())};
    }
    const Status planned =
        plan_block_scaled<Kernel>(params, grid, given, order, max_clusters, workspace, encode);
    // Tiles begin with whole blocks of scales.
    if (Kernel::Recipe::quantises_d) {
      detail::tile_map(params.schedule).last_column = std::numeric_limits<int>::max();
    }
    return planned;
  }
};

}  // namespace tw
