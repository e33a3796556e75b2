// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/launch_cuda.h"
#include "src/matmul/streaming_cuda.h"
#include "tilewright/host/depthwise.h"

namespace tw {

struct EncodeForCuda {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_cuda(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_cuda(map, box);
  }
};

template <class Parts>
class CudaConv2d {
 public:
  explicit CudaConv2d(const void* image) : matmul_(image) {}

  Status workspace(std::size_t& bytes, const Conv2dProblem& problem, const MatmulOrder& order) {
    return matmul_.workspace(bytes, as_matmul<Parts>(problem), order);
  }

  Status launch(const Conv2dProblem& problem, const MatmulOrder& order, const Workspace& workspace,
                void* stream) {
    if (Status status = supports<Parts>(problem, order); !status.is_good()) return status;
    return matmul_.launch_planned(
        as_matmul<Parts>(problem), {}, stream, [&](auto& params, auto& grid, unsigned clusters) {
          return plan<Parts>(params, grid, problem, order, clusters, workspace, EncodeForCuda{});
        });
  }

 private:
  CudaMatmul<Parts> matmul_;
};

template <DepthwiseKernel Parts>
class CudaConv2d<Parts> {
 public:
  explicit CudaConv2d(const void* image) : stream_(image) {}

  Status workspace(std::size_t& bytes, const Conv2dProblem&, const MatmulOrder&) {
    bytes = 0;
    return Status::good();
  }

  Status launch(const Conv2dProblem& problem, const MatmulOrder& order, const Workspace&,
                void* stream) {
    if (Status status = supports<Parts>(problem, order); !status.is_good()) return status;
    if (problem.n * problem.pixels() * problem.k == 0) return Status::good();
    return stream_.launch(stream, [&](auto& params, unsigned& ctas, unsigned max_ctas) {
      plan<Parts>(params, ctas, problem, max_ctas);
      return Status::good();
    });
  }

 private:
  CudaStreaming<Parts> stream_;
};

}  // namespace tw
