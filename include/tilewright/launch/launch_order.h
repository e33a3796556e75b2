// How a matmul is launched, beside what it computes.
#pragma once

#include <cstddef>

#include "tilewright/base/status.h"
#include "tilewright/bind/config.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// In which order tiles are taken (0 leaves the group to the plan), and in how many parts sums are
// made by kernels that make them in parts.
struct LaunchOrder {
  int group = 0;
  Raster raster = Raster::AlongM;
  int split_k = 1;
  bool stream_k = false;
  bool operator==(const LaunchOrder&) const = default;
};

// A sum of so many parts or more has several that finish a share of its tile each. With fewer
// parts the last one alone is as fast.
inline constexpr int shared_parts = 4;

struct MatmulGrid {
  unsigned ctas;
};

// Memory of the caller's that a launch may use. Tickets and counters lie in its first bytes, never
// anything else: zero before the first launch, and zero again after each, whatever it computes.
inline constexpr std::size_t workspace_counter_bytes = 64 << 10;
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
  void* other_counters = nullptr;  // what is used instead of its first bytes; null: nothing

  void* counters() const { return other_counters != nullptr ? other_counters : data; }
};

}  // namespace tw
