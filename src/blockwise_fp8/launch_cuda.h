// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/launch_cuda.h"
#include "tilewright/host/blockwise_fp8.h"

namespace tw {

template <class Parts, unsigned b_scale_rows>
class CudaBlockwise {
 public:
  explicit CudaBlockwise(const void* image) : matmul_(image) {}

  Status workspace(std::size_t& bytes, const BlockwiseProblem& problem, const MatmulOrder& order) {
    return matmul_.workspace(bytes, problem.matmul, order);
  }

  Status launch(const BlockwiseProblem& problem, const MatmulOrder& order,
                const Workspace& workspace, void* stream) {
    if (Status status = check(problem, b_scale_rows); !status.is_good()) return status;
    return matmul_.launch_planned(
        problem.matmul, {}, stream, [&](auto& params, auto& grid, unsigned clusters) {
          return plan<Parts>(params, grid, problem, order, clusters, workspace, encode_for_cuda);
        });
  }

 private:
  CudaMatmul<Parts> matmul_;
};

}  // namespace tw
