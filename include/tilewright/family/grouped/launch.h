// The launch of a product in groups: that of a batch whose matrices share A and D.
#pragma once

#include "tilewright/family/grouped/family.h"
#include "tilewright/family/grouped/kernel.h"
#include "tilewright/launch/block_scales.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/scales.h"

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct GroupedFacts {
  ProductFacts product;
  bool gathers;      // rows of A, by an index
  bool needs_index;  // it takes no rows as they lie
  BlockScaleFacts block_scales;
};

struct GroupedLaunch {
  using Family = GroupedFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr bool gathers = gathers_rows<typename Kernel::Loader>;
  template <class Kernel>
  static constexpr bool needs_index = needs_row_index<typename Kernel::Loader>;
  template <class Kernel>
  static constexpr GroupedFacts facts = {facts_of<Kernel>, gathers<Kernel>, needs_index<Kernel>,
                                         block_scale_facts<Kernel>};

  // A batch whose matrices share all that has rows. Of operands with block scales, what is K-major
  // and MN-major at once is read K-major.
  template <class Kernel>
  static MatmulProblem product(const Checked& checked) {
    ProductFacts wanted = facts_of<Kernel>;
    wanted.any_layout = false;
    MatmulProblem batch =
        block_scale_facts<Kernel>.present ? as_read(checked, wanted) : checked.product();
    batch.batch = checked.as<Problem>().matmul.batch;
    return batch;
  }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& taken, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const Problem& problem = taken.checked.as<Problem>();
    const MatmulProblem& batch = taken.product;
    static_assert(!Kernel::Schedule::draws_tickets,
                  "Tickets are numbered before a launch: only the device knows how many tiles "
                  "groups have.");
    auto& groups = groups_of(params.schedule);
    groups.rows = problem.rows;
    groups.capacity = static_cast<int>(problem.capacity);
    constexpr bool by_blocks = block_scale_facts<Kernel>.present;
    Status found = by_blocks ? Status::good() : check_operands<Kernel>(batch);
    const bool has_index = problem.row_index != nullptr;
    found.unless(has_index ? gathers<Kernel> : !needs_index<Kernel>, [] {
      return needs_index<Kernel> ? "This kernel gathers rows of A, but there is no row index."
                                 : "This kernel takes rows of A as they lie: no row index.";
    });
    if constexpr (Kernel::Recipe::b_scale_rows != 0) {
      found.add(take_scales<Family, Kernel>(params.own, taken.checked, batch));
      if constexpr (gathers<Kernel>) params.own.index = problem.row_index;
    } else {
      found.unless(!Family::is_scaled(problem),
                   [] { return "This kernel takes no scales of blocks."; });
    }
    if constexpr (by_blocks) {
      if (!found.is_good()) return found;
      return plan_by_blocks<Kernel>(params, grid, taken, order, max_clusters, workspace, encode);
    }
    found.unless(!Family::has_block_scales(problem),
                 [] { return "This kernel takes no block scales."; });
    if (!found.is_good()) return found;
    Status planned = tw::plan<Kernel>(params, grid, batch, order, max_clusters, workspace, encode);
    gather<Kernel>(params, problem);
    offer<Kernel>(grid, problem);
    return planned;
  }

 private:
  // A schedule's map, or the schedule where that is one.
  template <class Schedule>
  static auto& groups_of(Schedule& schedule) {
    if constexpr (requires { schedule.map.rows; }) {
      return schedule.map;
    } else {
      return schedule;
    }
  }
  // The launcher hands out as many tiles as groups of these rows may have.
  template <class Kernel>
  static void offer(MatmulGrid& grid, const Problem& problem) {
    if constexpr (!Kernel::Schedule::one_wave) {
      constexpr MatmulConfig config = Kernel::config;
      constexpr std::int64_t columns =
          config.output_columns() *
          (config.tiling.swap_ab != 0 ? config.tiling.cluster.m : config.tiling.cluster.n);
      const std::int64_t row_tiles =
          Kernel::Map::most_row_tiles(problem.matmul.m, problem.matmul.batch, problem.capacity);
      const std::int64_t tiles = row_tiles * ((problem.matmul.n + columns - 1) / columns);
      grid = {static_cast<unsigned>(tiles) * config.tiling.cluster.size()};
    }
  }

  template <class Kernel, class Params>
  static void gather(Params& params, const Problem& problem) {
    if constexpr (gathers<Kernel>) {
      params.loader.index = problem.row_index;
      if (problem.row_index != nullptr) {
        params.loader.a.rows = static_cast<int>(problem.a_rows);
      }
    }
  }

  // Kernels that do not convert take blocks of scales whole: their tiles begin at multiples of 128
  // rows, which only capacities promise.
  template <class Kernel, class Encode>
  static Status plan_by_blocks(typename kernel::WarpSpecialized<Kernel>::Params& params,
                               MatmulGrid& grid, const KernelProblem& taken,
                               const LaunchOrder& order, unsigned max_clusters,
                               const Workspace& workspace, const Encode& encode) {
    const Checked& checked = taken.checked;
    const Problem& problem = checked.as<Problem>();
    const MatmulProblem& batch = taken.product;
    if (!Family::has_block_scales(problem) && batch.k > 0 && !checked.is_empty()) {
      return Status::refused("This kernel takes block scales, but there are none.");
    }
    const bool aligned = problem.capacity > 0 && problem.capacity % ScaleBlock::rows == 0;
    if (!converts_elements<Kernel> && !aligned && batch.k > 0) {
      return Status::refused(
          sentence("The capacity is {} rows; this kernel needs a multiple of {}, where blocks of "
                   "scales begin.",
                   problem.capacity, ScaleBlock::rows));
    }
    BlockScaledOperands operands(batch, Family::BlockScales::type(problem),
                                 checked.tensor(Family::a_block_scales).data,
                                 checked.tensor(Family::b_block_scales).data);
    operands.shares_a = true;
    operands.a_extent =
        ScaleExtent::of(Family::rows_of_a(problem), batch.k, Family::BlockScales::type(problem));
    Status planned =
        plan_block_scaled<Kernel>(params, grid, operands, order, max_clusters, workspace, encode);
    gather<Kernel>(params, problem);
    offer<Kernel>(grid, problem);
    return planned;
  }
};

}  // namespace tw
