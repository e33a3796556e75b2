// Looks for launches that are faster than what the library takes.
#pragma once

#include <vector>

#include "src/bench/harness/call.h"
#include "src/bench/harness/measure.h"
#include "src/dispatch/measured.h"

namespace tw::bench {

struct TuneSettings {
  std::vector<int> groups;  // raster groups that are tried beside the plan's own
  int rounds = 7;
  double slice_milliseconds = choosing_slice_milliseconds;
  bool by_table = true;  // false: beside the cost model's choice, not the library's
  bool each = false;     // a line for whatever was measured twice
};

// A first look at all candidates keeps those near the fastest, also with each of the raster groups;
// they are measured beside the usual choice in two passes over all calls. Prints a line for each
// call.
std::vector<MeasuredLaunch> tune(const std::vector<MeasuredCall>& calls,
                                 const TuneSettings& settings);

// ./tw tune
int tune_calls(int argc, char** argv);

}  // namespace tw::bench
