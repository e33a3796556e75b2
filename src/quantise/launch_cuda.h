// Launches one instance on the current CUDA device.
#pragma once

#include "tilewright/host/cuda.h"
#include "tilewright/host/quantise.h"

namespace tw {

template <class Parts, unsigned scale_rows>
class CudaQuantise {
  using Kernel = kernel::Streaming<Parts>;

 public:
  explicit CudaQuantise(const void* image)
      : kernel_(CudaKernel::Image{image},
                {1, false, Parts::Arch::capability_begin, Parts::Arch::capability_end,
                 Kernel::threads, sizeof(typename Kernel::Storage), false}) {}

  Status launch(const QuantiseProblem& problem, void* stream) {
    if (Status status = check(problem, scale_rows); !status.is_good()) return status;
    if (problem.is_empty()) return Status::good();
    unsigned max_ctas = 0, ctas = 0;
    if (Status asked = kernel_.max_active_clusters(max_ctas); !asked.is_good()) return asked;
    typename Kernel::Params params;
    if (Status planned = plan<Parts>(params, ctas, problem, max_ctas); !planned.is_good()) {
      return planned;
    }
    return kernel_.launch(params, ctas, static_cast<cudaStream_t>(stream));
  }

 private:
  CudaKernel kernel_;
};

}  // namespace tw
