// Scales of blocks of 128 of k, from a problem that was checked to a kernel.
#pragma once

#include <utility>

#include "tilewright/launch/checked.h"
#include "tilewright/launch/product.h"
#include "tilewright/launch/scale_fields.h"

namespace tw {

// `Family` has Scales, the ScaleFields of its problem, and the tensors a_scales and b_scales; A and
// B are those of `product`.
template <class Family, class Kernel, class Scales>
Status take_scales(Scales& own, const Checked& checked, const MatmulProblem& product) {
  const auto& problem = checked.as<typename Family::Problem>();
  own = {};
  if (product.k == 0) return Status::good();
  if (!Family::is_scaled(problem)) {
    return Status::refused("This kernel takes scales of blocks, but there are none.");
  }
  ScalesOfBlocks shape = Family::Scales::of_b(problem);
  shape.rows_of_scale = Kernel::Recipe::b_scale_rows;
  if (!shape.fits(problem.b_scales)) return Status::refused(shape.complaint(problem.b_scales));
  const auto view = [&](const TensorLines& lines, std::int64_t rows) {
    return detail::view_of({lines.data, lines.pitch, lines.batch_pitch, lines.type,
                            lines.by_rows ? Major::K : Major::MN},
                           product, rows);
  };
  own = {view(checked.tensor(Family::a_scales), problem.a_scales.rows),
         view(checked.tensor(Family::b_scales), problem.b_scales.rows)};
  if constexpr (Kernel::config.tiling.swap_ab != 0) std::swap(own.a, own.b);
  return Status::good();
}

// A product with such scales, and nothing else.
template <class Family>
struct ScaledLaunch {
  template <class Kernel>
  static constexpr ProductFacts facts = facts_of<Kernel>;

  static MatmulProblem product(const Checked& checked) { return checked.product(); }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    Status found = check_operands<Kernel>(problem.product);
    found.add(take_scales<Family, Kernel>(params.own, problem.checked, problem.product));
    if (!found.is_good()) return found;
    return tw::plan<Kernel>(params, grid, problem.product, order, max_clusters, workspace, encode);
  }
};

}  // namespace tw
