// Looks for launches that are faster than what the cost model takes.
#pragma once

#include <vector>

#include "src/bench/tuned.h"

namespace tw::bench {

// A first look at all candidates keeps those near the fastest, also with each of the raster groups;
// they are measured in two passes over all shapes. Prints a line for each shape, and, with `each`,
// one for whatever was measured twice.
std::vector<TunedEntry> tune(const std::vector<MatmulCase>& shapes, const std::vector<int>& groups,
                             int rounds, double slice_milliseconds, bool each);

}  // namespace tw::bench
