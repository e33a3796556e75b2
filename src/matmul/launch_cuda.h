// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/instance.h"
#include "tilewright/host/cuda.h"
#include "tilewright/kernel/entry.h"

namespace tw {

template <class Parts>
Status launch_matmul(const MatmulProblem& problem, const MatmulOrder& order,
                     const TraceBuffer& trace, void* stream) {
  using Kernel = kernel::WarpSpecialized<Parts>;
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.m == 0 || problem.n == 0) return Status::good();
  CudaDevice device;
  if (Status status = query_device(device); !status.is_good()) return status;
  if (device.major != 9) {
    return Status::refused("This kernel needs compute capability 9.0 (sm_90a); the device has " +
                           std::to_string(device.major) + ".x.");
  }
  typename Kernel::Params params;
  MatmulGrid grid;
  Status planned = plan<Parts>(params, grid, problem, order, device.sm_count, encode_for_cuda);
  if (!planned.is_good()) return planned;
  if (grid.shared_bytes > device.shared_bytes) {
    return Status::refused("The kernel needs " + std::to_string(grid.shared_bytes) +
                           " bytes of shared memory; the device offers " +
                           std::to_string(device.shared_bytes) + ".");
  }
  if constexpr (Parts::config.tracing == Tracing::On) params.trace = trace;
  return launch_on_cuda(&kernel::entry<Kernel>, params, grid, static_cast<cudaStream_t>(stream));
}

}  // namespace tw
