// Launches that were measured to be faster than what the cost model takes: ./tw bench --tune finds
// them, bench/tuned keeps them, and tools/tuned_table.py compiles them in.
#pragma once

#include <cstdint>
#include <span>

#include "src/dispatch/choose.h"

namespace tw {

// Of a product of K-major operands of one type, without a batch.
struct MeasuredLaunch {
  const char* device;  // the name of the device, or the beginning of longer ones
  const char* type;    // of A and B
  std::int64_t m, n, k;
  const char* instance;
  int split_k;
  int group;
  Raster raster;
};

std::span<const MeasuredLaunch> measured_launches();

// Null where none is known.
const MeasuredLaunch* measured_launch(const MatmulProblem& problem, const DispatchRequest& request);

}  // namespace tw
