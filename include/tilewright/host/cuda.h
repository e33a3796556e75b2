// Launching on a real GPU: TMA descriptors through the run-time entry point (a binary linked with
// the driver would not start on a machine without one), and cluster launches.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstring>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/host/tensor_map.h"

namespace tw {

inline Status cuda_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::good();
  return Status::refused(std::string(what) + " failed: " + cudaGetErrorString(error) + ".");
}

// Copies move bits, so that any type of the right width would do; tf32 stays float32, whose lower
// bits the tensor core ignores.
constexpr CUtensorMapDataType cuda_type_of(ElementType type) {
  switch (type) {
    case ElementType::Bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::Fp16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::Fp32:
    case ElementType::Tf32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::S32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
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

  constexpr CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                             CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(box.inner),
                                 static_cast<cuuint64_t>(box.outer),
                                 static_cast<cuuint64_t>(box.batch)};
  const cuuint64_t pitches[2] = {static_cast<cuuint64_t>(box.pitch_bytes),
                                 static_cast<cuuint64_t>(box.encoded_batch_pitch())};
  const cuuint32_t box_extents[3] = {box.box_inner, box.box_outer, 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, cuda_type_of(box.type), 3, const_cast<void*>(box.base), extents, pitches,
             box_extents, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzles[static_cast<unsigned>(box.swizzle)], CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status::refused("The driver refused a TMA descriptor of " + std::to_string(box.batch) +
                           " matrices of " + std::to_string(box.outer) + " by " +
                           std::to_string(box.inner) + " " + name_of(box.type) +
                           " with pitches of " + std::to_string(box.pitch_bytes) + " and " +
                           std::to_string(box.encoded_batch_pitch()) + " bytes (error " +
                           std::to_string(static_cast<int>(result)) + ").");
  }
  std::memcpy(&map, &encoded, sizeof map);
  return Status::good();
}

// The launch of a kernel in clusters; valid as long as the arguments live.
struct ClusterLaunch {
  ClusterLaunch(unsigned ctas, unsigned cluster_size, unsigned threads, std::size_t shared_bytes,
                cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster_size, 1, 1};
    config.gridDim = dim3(ctas);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};

// How many clusters of `entry` the current device holds at once: fewer than its SMs suggest where a
// cluster would straddle two groups of SMs. Asked once per kernel and device, together with raising
// the kernel's shared memory limit.
template <auto entry>
Status max_active_clusters(unsigned& clusters, unsigned cluster_size, unsigned threads,
                           std::size_t shared_bytes) {
  constexpr int max_devices = 64;
  static std::atomic<unsigned> known[max_devices];
  int device = 0, major = 0, shared_limit = 0;
  if (Status status = cuda_status(cudaGetDevice(&device), "cudaGetDevice"); !status.is_good()) {
    return status;
  }
  if (device >= max_devices) {
    return Status::refused("Device " + std::to_string(device) +
                           " is beyond the 64 that are known.");
  }
  clusters = known[device].load(std::memory_order_acquire);
  if (clusters != 0) return Status::good();
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (major != 9) {
    return Status::refused("This kernel needs compute capability 9.0 (sm_90a); the device has " +
                           std::to_string(major) + ".x.");
  }
  cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (shared_bytes > static_cast<std::size_t>(shared_limit)) {
    return Status::refused("The kernel needs " + std::to_string(shared_bytes) +
                           " bytes of shared memory; the device offers " +
                           std::to_string(shared_limit) + ".");
  }
  Status raised =
      cuda_status(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes)),
                  "Raising the shared memory limit");
  if (!raised.is_good()) return raised;
  const ClusterLaunch launch(cluster_size, cluster_size, threads, shared_bytes, nullptr);
  int active = 0;
  Status asked = cuda_status(cudaOccupancyMaxActiveClusters(&active, entry, &launch.config),
                             "cudaOccupancyMaxActiveClusters");
  if (!asked.is_good()) return asked;
  clusters = static_cast<unsigned>(active);
  known[device].store(clusters, std::memory_order_release);
  return Status::good();
}

}  // namespace tw
