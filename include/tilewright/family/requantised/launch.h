// The launch of FP8 with scales of blocks and a quantised D: the
// product's with the views of its scales, and where D's scales go.
#pragma once

#include "tilewright/family/requantised/family.h"
#include "tilewright/family/requantised/kernel.h"
#include "tilewright/launch/scales.h"

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct RequantisedFacts {
  ProductFacts product;
  bool in_groups;     // rows of A come so
  bool gates_blocks;  // gate and up come in turns by 128 columns
};

struct RequantisedLaunch {
  using Family = RequantisedFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr RequantisedFacts facts = {facts_of<Kernel>, Kernel::Recipe::in_groups,
                                             gates_blocks<typename Kernel::Recipe>};

  // Groups are a batch whose matrices share all that has rows; a gate of blocks has half of the
  // columns, as any gate.
  static MatmulProblem product(const Checked& checked) {
    MatmulProblem product = checked.product();
    const Problem& problem = checked.as<Problem>();
    product.batch = problem.matmul.batch;
    product.epilogue.gated = Family::gates_blocks(problem);
    return product;
  }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& taken, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const Checked& checked = taken.checked;
    const Problem& problem = checked.as<Problem>();
    constexpr RequantisedFacts own = facts<Kernel>;
    const bool in_groups = Family::in_groups(problem);
    Status found = check_operands<Kernel>(taken.product);
    found.unless(in_groups == own.in_groups, [in_groups] {
      return in_groups ? "The rows come in groups; this kernel takes no groups."
                       : "This kernel takes rows in groups, but the problem has none.";
    });
    const bool gated = Family::gates_blocks(problem);
    found.unless(gated == own.gates_blocks, [gated] {
      return gated ? "Blocks of columns are gate and up; this kernel joins none."
                   : "This kernel joins blocks of gate and up, but the problem has none.";
    });
    found.add(take_scales<Family, Kernel>(params.own, checked, taken.product));
    if (!found.is_good()) return found;
    if constexpr (own.in_groups) {
      params.schedule.rows = problem.rows;
      params.schedule.capacity = 0;
    }
    const TensorLines& scales = checked.tensor(Family::d_scales);
    params.epilogue.epilogue.scales = {
        static_cast<float*>(scales.data), scales.by_rows ? scales.pitch : 1,
        scales.by_rows ? 1 : scales.pitch, in_groups ? 0 : scales.batch_pitch,
        problem.powers_of_two != 0 ? BlockScale::power_of_two : BlockScale::real};
    return tw::plan<Kernel>(params, grid, taken.product, order, max_clusters, workspace, encode);
  }
};

}  // namespace tw
