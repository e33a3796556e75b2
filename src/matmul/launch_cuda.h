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
  constexpr auto entry = &kernel::entry<Kernel>;
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.m == 0 || problem.n == 0) return Status::good();
  unsigned max_clusters = 0;
  Status asked = max_active_clusters<entry>(max_clusters, Parts::config.cluster.size(),
                                            Kernel::threads, sizeof(typename Kernel::Storage));
  if (!asked.is_good()) return asked;
  typename Kernel::Params params;
  MatmulGrid grid;
  Status planned = plan<Parts>(params, grid, problem, order, max_clusters, encode_for_cuda);
  if (!planned.is_good()) return planned;
  if constexpr (Parts::config.tracing == Tracing::On) params.trace = trace;
  const ClusterLaunch launch(grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes,
                             static_cast<cudaStream_t>(stream));
  return cuda_status(cudaLaunchKernelEx(&launch.config, entry, params), "The launch");
}

}  // namespace tw
