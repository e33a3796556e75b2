// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/launch_cuda.h"
#include "tilewright/host/grouped.h"

namespace tw {

template <class Parts>
class CudaGrouped {
 public:
  explicit CudaGrouped(const void* image) : matmul_(image) {}

  Status launch(const GroupedProblem& problem, const MatmulOrder& order, void* stream) {
    if (Status status = check(problem); !status.is_good()) return status;
    return matmul_.launch_planned(
        problem.matmul, {}, stream, [&](auto& params, auto& grid, unsigned clusters) {
          return plan<Parts>(params, grid, problem, order, clusters, {}, encode_for_cuda);
        });
  }

 private:
  CudaMatmul<Parts> matmul_;
};

}  // namespace tw
