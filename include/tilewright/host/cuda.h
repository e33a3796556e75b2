// Launching on a real GPU: TMA descriptors through the run-time entry point (a binary linked with
// the driver would not start on a machine without one), and cluster launches.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/host/tensor_map.h"

namespace tw {

inline Status cuda_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::good();
  return Status::refused(std::string(what) + " failed: " + cudaGetErrorString(error) + ".");
}

inline Status encode_for_cuda(TensorMap& map, const MatrixBox& box) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
      return PFN_cuTensorMapEncodeTiled_v12000{nullptr};
    }
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
  }();
  if (encode == nullptr) return Status::refused("The driver offers no cuTensorMapEncodeTiled.");

  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(box.columns),
                                 static_cast<cuuint64_t>(box.rows)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(box.pitch) * 2};
  const cuuint32_t box_extents[2] = {box.box_columns, box.box_rows};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(box.base), extents,
             pitch, box_extents, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status::refused("The driver refused a TMA descriptor of " + std::to_string(box.rows) +
                           " by " + std::to_string(box.columns) + " elements with pitch " +
                           std::to_string(box.pitch) + " (error " +
                           std::to_string(static_cast<int>(result)) + ").");
  }
  std::memcpy(&map, &encoded, sizeof map);
  return Status::good();
}

struct CudaDevice {
  unsigned sm_count = 0;
  std::size_t shared_bytes = 0;
  int major = 0;
};

inline Status query_device(CudaDevice& device) {
  int index = 0;
  if (Status status = cuda_status(cudaGetDevice(&index), "cudaGetDevice"); !status.is_good()) {
    return status;
  }
  int sms = 0, shared = 0, major = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, index);
  cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index);
  device = {static_cast<unsigned>(sms), static_cast<std::size_t>(shared), major};
  return Status::good();
}

// `Grid` has ctas, cluster_size, threads and shared_bytes.
template <class Params, class Grid>
Status launch_on_cuda(void (*entry)(const Params), const Params& params, const Grid& grid,
                      cudaStream_t stream) {
  Status raised =
      cuda_status(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(grid.shared_bytes)),
                  "Raising the shared memory limit");
  if (!raised.is_good()) return raised;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {grid.cluster_size, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid.ctas);
  config.blockDim = dim3(grid.threads);
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cuda_status(cudaLaunchKernelEx(&config, entry, params), "The launch");
}

}  // namespace tw
