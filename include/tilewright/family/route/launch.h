// The launch that routes tokens to experts.
#pragma once

#include <algorithm>

#include "tilewright/family/route/family.h"
#include "tilewright/family/route/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw {

struct RouteLaunch {
  using Family = RouteFamily;

  template <class Kernel>
  static constexpr RouteConfig facts = Kernel::Stream::config;

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    using Stream = typename Kernel::Stream;
    const std::int64_t experts = checked.as<Family::Problem>().experts;
    if (experts <= Stream::most_experts) return Status::good();
    return Status::refused(
        sentence("There are {} experts, but must be at most {}.", experts, Stream::most_experts));
  }

  // Each CTA has a run of as many tokens; the last may have fewer.
  template <class Stream>
  struct Grid {
    Grid(const Family::Problem& problem, unsigned max_ctas) {
      const auto tokens = static_cast<unsigned>(problem.tokens);
      const unsigned rounds = (tokens + Stream::round - 1) / Stream::round;
      const unsigned most = std::max(1u, std::min({rounds, max_ctas, Stream::config.most_ctas}));
      run = (tokens + most - 1) / most;
      ctas = run == 0 ? 1 : (tokens + run - 1) / run;
    }
    unsigned run, ctas;
  };

  // Counters, then the counts of every CTA.
  template <class Kernel>
  static std::size_t workspace(const Checked& checked, unsigned max_ctas) {
    const Family::Problem& problem = checked.as<Family::Problem>();
    const unsigned ctas = Grid<typename Kernel::Stream>(problem, max_ctas).ctas;
    if (ctas == 1) return 0;
    return workspace_counter_bytes + ctas * static_cast<std::size_t>(problem.experts) * 4;
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas, const Workspace& workspace = {}) {
    const Family::Problem& problem = checked.as<Family::Problem>();
    const Grid<typename Kernel::Stream> grid(problem, max_ctas);
    const TensorLines& logits = checked.tensor(Family::logits);
    auto& stream = params.stream;
    stream = {.logits = logits.data,
              .pitch = logits.pitch,
              .bias = problem.bias,
              .weights = problem.weights,
              .chosen = problem.chosen,
              .places = problem.places,
              .index = problem.index,
              .ends = problem.ends,
              .tokens = static_cast<unsigned>(problem.tokens),
              .experts = static_cast<unsigned>(problem.experts),
              .k = static_cast<unsigned>(problem.k),
              .groups = static_cast<unsigned>(problem.groups),
              .top_groups = static_cast<unsigned>(problem.top_groups),
              .group_scores = static_cast<unsigned>(problem.group_scores),
              .run = grid.run,
              .scale = problem.scale,
              .type = logits.type,
              .is_sigmoid = problem.scoring == TW_SIGMOID,
              .normalises = problem.normalise != 0,
              .runs_at_once = grid.ctas > 1,
              .counters = nullptr,
              .counts = nullptr};
    if (grid.ctas > 1) {
      stream.counters = static_cast<std::uint32_t*>(workspace.counters());
      stream.counts = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(workspace.data) +
                                                       workspace_counter_bytes);
    }
    params.tiles = ctas = grid.ctas;
  }
};

}  // namespace tw
