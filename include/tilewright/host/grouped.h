// The launch of a product in groups: that of a batch whose matrices share A and D.
#pragma once

#include "tilewright/family/grouped/family.h"
#include "tilewright/family/grouped/kernel.h"
#include "tilewright/host/checked.h"
#include "tilewright/host/product.h"
#include "tilewright/host/product_facts.h"
// family blockwise: begin
#include "tilewright/host/scales.h"
// family blockwise: end

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct GroupedFacts {
  ProductFacts product;
  bool gathers;      // rows of A, by an index
  bool needs_index;  // and does not take them as they lie
};

struct GroupedLaunch {
  using Family = GroupedFamily;
  using Problem = Family::Problem;

  template <class Parts>
  static constexpr bool gathers = requires(typename Parts::Loader::Params params) {
    params.index;
  };
  template <class Parts>
  static constexpr bool needs_index = [] {
    if constexpr (gathers<Parts>) return Parts::Loader::needs_index;
    return false;
  }();
  template <class Parts>
  static constexpr GroupedFacts facts = {facts_of<Parts>, gathers<Parts>, needs_index<Parts>};

  // A batch whose matrices share all that has rows.
  static MatmulProblem product(const Checked& checked) {
    MatmulProblem batch = checked.product();
    batch.batch = checked.as<Problem>().matmul.batch;
    return batch;
  }

  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const MatmulOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const Problem& problem = checked.as<Problem>();
    params.schedule.rows = problem.rows;
    params.schedule.capacity = static_cast<int>(problem.capacity);
    const bool has_index = problem.row_index != nullptr;
    if (has_index ? !gathers<Parts> : needs_index<Parts>) {
      return Status::refused(needs_index<Parts>
                                 ? "This kernel gathers rows of A, but there is no row index."
                                 : "This kernel takes rows of A as they lie: no row index.");
    }
    const MatmulProblem batch = product(checked);
    // family blockwise: begin
    if constexpr (b_scale_rows < Parts >> 0) {
      Status status = take_scales<Family, Parts>(params.own, checked, batch);
      if (!status.is_good()) return status;
      if constexpr (gathers<Parts>) params.own.index = problem.row_index;
    } else if (Family::is_scaled(problem)) {
      return Status::refused("This kernel takes no scales of blocks.");
    }
    // family blockwise: end
    Status planned = tw::plan<Parts>(params, grid, batch, order, max_clusters, workspace, encode);
    if constexpr (gathers<Parts>) {
      params.loader.index = problem.row_index;
      if (has_index) {
        params.loader.a.rows = static_cast<int>(problem.a_rows);
      }
    }
    return planned;
  }
};

}  // namespace tw
