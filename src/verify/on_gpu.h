// Verified runs of described families on a real GPU.
#pragma once

#include "src/verify/case.h"

namespace tw {

// Empty when the GPU here runs the instance; otherwise a sentence that says why not.
std::string why_not_on_gpu(const Instance& instance);
// The name of the GPU that runs it.
std::string gpu_name(const Instance& instance);
// The name of the GPU here whose vendor made the target, or of any where that is empty; or why
// there is none.
Result<std::string> gpu_name_for(const std::string& target);

// Copies the problem to the GPU, launches, and compares what comes back. A hang ends the program
// with status 1 after a minute: the device cannot be used any more.
// `ran`, where it is not null, gets what the kernel left.
Result<Comparison> run_on_gpu(const Verified& verified, int launches = 1,
                              HostProblem* ran = nullptr);

// What a kernel that is compiled with tracing wrote.
struct GpuTrace {
  std::uint32_t capacity = 4096;      // acquires kept of each track
  unsigned tracks = 0;                // tracks of a CTA
  std::vector<TraceEvent> events;     // (capacity, track)
  std::vector<std::uint32_t> counts;  // (track): all acquires
  std::uint64_t lost() const;         // acquires that did not fit
};
// Twice: the first launch warms up, the second writes over its record.
Result<Comparison> trace_on_gpu(const Verified& verified, GpuTrace& trace);

// How long launches took that were timed one by one, the caches as the one before left them.
struct Timing {
  double median_us, fastest_us, slowest_us;
  int launches;
};
Result<Timing> time_on_gpu(const Case& of);

}  // namespace tw
