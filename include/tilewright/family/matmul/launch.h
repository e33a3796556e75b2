// The launch of a matmul: of a product that a caller states as such.
#pragma once

#include "tilewright/family/matmul/family.h"
#include "tilewright/family/matmul/kernel.h"
#include "tilewright/launch/product.h"

namespace tw {

struct MatmulLaunch {
  using Family = MatmulFamily;

  template <class Kernel>
  static constexpr ProductFacts facts = [] {
    if constexpr (RowKernel<Kernel>) {
      return ProductFacts{.config = Kernel::config,
                          .stages = 0,
                          .tracks = 1,
                          .any_alignment = true,
                          .any_layout = false,
                          .by_threads = true,
                          .b_scale_rows = 0};
    } else {
      return facts_of<Kernel>;
    }
  }();

  template <class Kernel>
  static MatmulProblem product(const Checked& checked) {
    MatmulProblem product = as_read(checked, facts<Kernel>);
    product.b_is_constant = checked.as<Family::Problem>().b_is_constant != 0;
    return product;
  }

  template <class Kernel>
  static Status supports(const KernelProblem& problem, const LaunchOrder& order) {
    return tw::supports<Kernel>(problem.product, order);
  }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    return tw::plan<Kernel>(params, grid, problem.product, order, max_clusters, workspace, encode);
  }

  // rows_launch.h defines these for kernels that stream rows.
  template <RowKernel Kernel>
  static Status supports(const Checked& checked);
  template <RowKernel Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas);
};

}  // namespace tw

#include "tilewright/family/matmul/rows_launch.h"
