#include "src/verify/device.h"

#if TW_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tw {

#if TW_WITH_CUDA

std::string why_no_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
    return "There is no NVIDIA GPU here.";
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  if (major < 8) {
    return "The GPU has compute capability " + std::to_string(major) +
           ".x; kernels need at least 8.0 (sm_80).";
  }
  return "";
}

std::string gpu_name() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "unknown GPU";
  return properties.name;
}

#else

std::string why_no_gpu() {
  return "This build has no CUDA: nvcc was not found when it was configured.";
}
std::string gpu_name() { return "none"; }

#endif

}  // namespace tw
