// Verified runs on a real GPU.
#pragma once

#include <string>

#include "src/matmul/data.h"
#include "src/matmul/instance.h"

namespace tw {

// Empty when there is a GPU that can run these kernels; otherwise a sentence that says why not.
std::string why_no_gpu();
std::string gpu_name();

// Copies the data to the GPU, runs the instance `launches` times and copies D back. Gives up after
// a minute: a hang ends the program with status 1, because the device cannot be used any more.
Status run_on_gpu(const MatmulInstance& instance, const MatmulOrder& order, MatmulData& data,
                  const MatmulShape& shape, int launches);

// The same sums by one thread per element in double precision: slow, simple, shares no code with
// the kernels.
MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape);

// Runs an instance compiled with tracing; `events` holds `tracks` records of `capacity` events.
Status trace_on_gpu(const MatmulInstance& instance, const MatmulOrder& order, MatmulData& data,
                    const MatmulShape& shape, std::vector<TraceEvent>& events,
                    std::vector<std::uint32_t>& counts, std::uint32_t capacity);

}  // namespace tw
