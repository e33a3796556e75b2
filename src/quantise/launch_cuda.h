// Launches one instance on the current CUDA device.
#pragma once

#include "src/matmul/streaming_cuda.h"
#include "tilewright/host/quantise.h"

namespace tw {

template <class Parts, unsigned scale_rows>
class CudaQuantise {
 public:
  explicit CudaQuantise(const void* image) : stream_(image) {}

  Status launch(const QuantiseProblem& problem, void* stream) {
    if (Status status = check(problem, scale_rows, Parts::Stream::tile_rows); !status.is_good())
      return status;
    if (problem.is_empty()) return Status::good();
    return stream_.launch(stream, [&](auto& params, unsigned& ctas, unsigned max_ctas) {
      return plan<Parts>(params, ctas, problem, max_ctas);
    });
  }

 private:
  CudaStreaming<Parts> stream_;
};

}  // namespace tw
