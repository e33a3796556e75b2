// Which compiled kernel computes a product of matrices, and in which order: candidates, a cost
// model, and tables of measured exceptions. Addresses matter only through their alignment.
#pragma once

#include "src/dispatch/choose_launch.h"

namespace tw {

std::span<const Instance> matmul_instances();

using Choice = LaunchChoice;

struct MatmulProducts : DescribedProducts<matmul_instances> {
  // Who declares weights constant lets launches overlap. Others run amid foreign kernels.
  static Situation situation(const Checked& problem) {
    const bool overlaps = problem.as<tw_matmul_problem>().b_is_constant != 0;
    return overlaps ? Situation::Following : Situation::Amid;
  }
};
inline constexpr auto candidates = launches_of<MatmulProducts>;
inline constexpr auto choose = choose_launch<MatmulProducts>;

}  // namespace tw
