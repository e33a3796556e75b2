// The launch of a product in groups: that of a batch whose matrices share A and D.
#pragma once

#include <utility>

#include "tilewright/family/grouped/family.h"
#include "tilewright/family/grouped/kernel.h"
#include "tilewright/host/checked.h"
#include "tilewright/host/product.h"
#include "tilewright/host/product_facts.h"

namespace tw {

// What is known of a compiled kernel.
struct GroupedFacts {
  ProductFacts product;
  bool gathers;           // rows of A, by an index
  unsigned b_scale_rows;  // of B, that share a scale of 128 of k; 0: there are no scales
};

struct GroupedLaunch {
  using Family = GroupedFamily;
  using Problem = Family::Problem;

  template <class Parts>
  static constexpr bool gathers = requires(typename Parts::Loader::Params params) {
    params.index;
  };
  template <class Parts>
  static constexpr unsigned b_scale_rows = [] {
    if constexpr (requires { Parts::Scales::rows_of_scale; }) return Parts::Scales::rows_of_scale;
    return 0u;
  }();
  template <class Parts>
  static constexpr GroupedFacts facts = {facts_of<Parts>, gathers<Parts>, b_scale_rows<Parts>};

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
    if (gathers<Parts> != (problem.row_index != nullptr)) {
      return Status::refused(gathers<Parts>
                                 ? "This kernel gathers rows of A, but there is no row index."
                                 : "This kernel takes rows of A as they lie: no row index.");
    }
    const MatmulProblem batch = product(checked);
    // family blockwise: begin
    if constexpr (b_scale_rows < Parts >> 0) {
      if (Status status = take_scales<Parts>(params.own, checked, batch); !status.is_good()) {
        return status;
      }
    } else if (Family::is_scaled(problem)) {
      return Status::refused("This kernel takes no scales of blocks.");
    }
    // family blockwise: end
    Status planned = tw::plan<Parts>(params, grid, batch, order, max_clusters, workspace, encode);
    if constexpr (gathers<Parts>) {
      params.loader.index = problem.row_index;
      params.loader.a.rows = static_cast<int>(problem.a_rows);
    }
    return planned;
  }

 private:
  // family blockwise: begin
  // All groups share the scales of A; those of B are as many matrices as there are groups.
  template <class Parts, class Scales>
  static Status take_scales(Scales& own, const Checked& checked, const MatmulProblem& batch) {
    const Problem& problem = checked.as<Problem>();
    own = {};
    if (batch.k == 0) return Status::good();
    BlockScales shape = Family::b_scale_shape(problem);
    shape.rows_of_scale = b_scale_rows<Parts>;
    if (!Family::is_scaled(problem)) {
      return Status::refused("This kernel takes scales of blocks, but there are none.");
    }
    if (!shape.fits(problem.b_scales)) return Status::refused(shape.complaint(problem.b_scales));
    const auto view = [&](const TensorLines& lines, std::int64_t rows) {
      return detail::view_of({lines.data, lines.pitch, lines.batch_pitch, lines.type,
                              lines.by_rows ? Major::K : Major::MN},
                             batch, rows);
    };
    own = {view(checked.tensor(Family::a_scales), problem.a_scales.rows),
           view(checked.tensor(Family::b_scales), problem.b_scales.rows)};
    if constexpr (gathers<Parts>) own.index = problem.row_index;
    if constexpr (Parts::config.tiling.exchanged != 0) std::swap(own.a, own.b);
    return Status::good();
  }
  // family blockwise: end
};

}  // namespace tw
