// Verified runs of described families on a real GPU.
#pragma once

#include "src/run/case.h"

namespace tw {

// Empty when the GPU here runs the instance; otherwise a sentence that says why not.
std::string why_not_on_gpu(const Instance& instance);

// Copies the problem to the GPU, launches, and compares what comes back. A hang ends the program
// with status 1 after a minute: the device cannot be used any more.
// `ran`, where it is not null, gets what the kernel left.
Result<Comparison> run_on_gpu(const Verified& verified, int launches = 1,
                              HostProblem* ran = nullptr);

// How long launches took that were timed one by one, the caches as the one before left them.
struct Timing {
  double median_us, fastest_us, slowest_us;
  int launches;
};
Result<Timing> time_on_gpu(const Case& of);

}  // namespace tw
