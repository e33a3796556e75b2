#include <cuda_runtime_api.h>

#include "src/bench/harness/foreign.h"

namespace tw::bench {

namespace {

__device__ int stored;

__global__ void foreign_kernel() { stored = 1; }

}  // namespace

void launch_foreign(void* stream) {
  foreign_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>();
}

}  // namespace tw::bench
