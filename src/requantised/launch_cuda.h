// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/launch_cuda.h"
#include "tilewright/host/requantised.h"

namespace tw {

template <class Parts, unsigned b_scale_rows>
class CudaRequantised {
 public:
  explicit CudaRequantised(const void* image) : matmul_(image) {}

  Status launch(const RequantisedProblem& problem, const MatmulOrder& order, void* stream) {
    if (Status status = check(problem, b_scale_rows); !status.is_good()) return status;
    return matmul_.launch_planned(
        problem.product.matmul, {}, stream, [&](auto& params, auto& grid, unsigned clusters) {
          return plan<Parts>(params, grid, problem, order, clusters, {}, encode_for_cuda);
        });
  }

 private:
  CudaMatmul<Parts> matmul_;
};

}  // namespace tw
