// Launching on a real GPU: TMA descriptors through the run-time entry point (a binary linked with
// the driver would not start on a machine without one), kernels and their launches.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/launch/captured.h"
#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/small_tensor.h"
#include "tilewright/launch/tensor_map.h"

namespace tw {

inline Status cuda_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::good();
  return Status::refused(std::string(what) + " failed: " + cudaGetErrorString(error) + ".");
}

// Copies move bits, so that any type of the right width would do; tf32 stays float32, whose lower
// bits the tensor core ignores. Elements of fewer than 8 bits are unpacked: 16 of them take 16
// bytes of shared memory.
constexpr CUtensorMapDataType cuda_type_of(ElementType type) {
  switch (type) {
    case ElementType::Bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::Fp16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::Fp32:
    case ElementType::Tf32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::S32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case ElementType::E2m1: return CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
    case ElementType::E2m3:
    case ElementType::E3m2: return CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

namespace detail {

// A function of the driver, or null.
template <class Function>
Function driver_function(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return reinterpret_cast<Function>(entry);
}

// A thread that has called nothing but the run-time library's queries has no context yet.
template <class Attempt>
CUresult with_context(const Attempt& attempt) {
  CUresult result = attempt();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    int device = 0;
    if (cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
      result = attempt();
    }
  }
  return result;
}

// CUDA's count: 13000 is 13.0. One that cannot be asked counts as old.
inline int driver_version() {
  static const int version = [] {
    int found = 0;
    return cudaDriverGetVersion(&found) == cudaSuccess ? found : 0;
  }();
  return version;
}

inline constexpr CUtensorMapSwizzle swizzles[] = {
    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B};

// How much the L2 fetches for a line that it lacks. The 128 bytes of a row that begins amid lines
// touch two of them, and 256 bytes for each would be more than memory brings in time.
inline CUtensorMapL2promotion promotion_of(const MatrixBox& box) {
  if (box.read_once) return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  return box.pitch_bytes % 128 == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                    : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
}

}  // namespace detail

inline Status encode_for_cuda(TensorMap& map, const MatrixBox& box) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  static const auto encode =
      detail::driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  if (encode == nullptr) return Status::refused("The driver offers no cuTensorMapEncodeTiled.");

  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(box.inner),
                                 static_cast<cuuint64_t>(box.outer),
                                 static_cast<cuuint64_t>(box.batch)};
  const cuuint64_t pitches[2] = {
      static_cast<cuuint64_t>(box.pitch_bytes),
      static_cast<cuuint64_t>(box.batch == 1 ? box.pitch_bytes : box.batch_pitch_bytes)};
  const cuuint32_t box_extents[3] = {box.box_inner, box.box_outer, box.box_batch};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap encoded;
  const CUresult result = detail::with_context([&] {
    return encode(&encoded, cuda_type_of(box.type), 3, const_cast<void*>(box.base), extents,
                  pitches, box_extents, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  detail::swizzles[static_cast<unsigned>(box.swizzle)], detail::promotion_of(box),
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  });
  if (result != CUDA_SUCCESS) {
    return Status::refused("The driver refused a TMA descriptor of " + std::to_string(box.batch) +
                           " matrices of " + std::to_string(box.outer) + " by " +
                           std::to_string(box.inner) + " " + name_of(box.type) +
                           " with pitches of " + std::to_string(box.pitch_bytes) + " and " +
                           std::to_string(pitches[1]) + " bytes (error " +
                           std::to_string(static_cast<int>(result)) + ").");
  }
  std::memcpy(&map, &encoded, sizeof map);
  mend_small_tensor(map, span_bytes(box), detail::driver_version());
  return Status::good();
}

inline Status encode_im2col_for_cuda(TensorMap& map, const Im2colBox& box) {
  static const auto encode =
      detail::driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col");
  if (encode == nullptr) return Status::refused("The driver offers no cuTensorMapEncodeIm2col.");

  const auto numbers = [](const std::int64_t* given) {
    return reinterpret_cast<const cuuint64_t*>(given);
  };
  CUtensorMap encoded;
  const CUresult result = detail::with_context([&] {
    return encode(&encoded, cuda_type_of(box.type), box.rank, const_cast<void*>(box.base),
                  numbers(box.extents), numbers(box.pitch_bytes), box.lower, box.upper,
                  box.box_channels, box.box_pixels, box.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  detail::swizzles[static_cast<unsigned>(box.swizzle)],
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  });
  if (result != CUDA_SUCCESS) {
    return Status::refused("The driver refused an im2col descriptor of " +
                           std::to_string(box.extents[0]) + " channels, " + name_of(box.type) +
                           " (error " + std::to_string(static_cast<int>(result)) + ").");
  }
  std::memcpy(&map, &encoded, sizeof map);
  mend_small_tensor(map, span_bytes(box), detail::driver_version());
  return Status::good();
}

// The launch of a kernel; valid as long as the arguments live.
struct KernelLaunch {
  // cluster_size 0: the target has no clusters.
  KernelLaunch(unsigned ctas, unsigned cluster_size, unsigned threads, std::size_t shared_bytes,
               bool overlaps, bool at_once, cudaStream_t stream) {
    config.gridDim = dim3(ctas);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (cluster_size > 0) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs++].val.clusterDim = {cluster_size, 1, 1};
    }
    if (overlaps) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (at_once) {
      attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
      attributes[config.numAttrs++].val.cooperative = 1;
    }
  }
  KernelLaunch(const KernelLaunch&) = delete;
  cudaLaunchAttribute attributes[3]{};
  cudaLaunchConfig_t config{};
};

// Makes descriptors of TMA.
struct EncodeForCuda {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_cuda(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_cuda(map, box);
  }
};

// A kernel that nvcc compiled into this binary, or an image (a fatbin with one kernel) that is
// loaded when it is first needed. Any thread, any device.
class CudaKernel {
 public:
  using Encode = EncodeForCuda;
  struct Image {
    const void* begin;
  };
  constexpr CudaKernel(const void* function, const KernelNeeds& needs)
      : needs_(needs), function_(function) {}
  constexpr CudaKernel(Image image, const KernelNeeds& needs) : needs_(needs), image_(image) {}

  // How many clusters the current device holds at once: fewer than its SMs suggest where a cluster
  // would straddle two groups of SMs. Asked once per device, together with raising the kernel's
  // shared memory limit.
  Status max_active_clusters(unsigned& clusters) {
    int device = 0;
    if (Status status = cuda_status(cudaGetDevice(&device), "cudaGetDevice"); !status.is_good()) {
      return status;
    }
    if (device >= max_devices) {
      return Status::refused("Device " + std::to_string(device) +
                             " is beyond the 64 that are known.");
    }
    clusters = known_[device].load(std::memory_order_acquire);
    if (clusters != 0) return Status::good();
    Status asked = ask(clusters, device);
    if (asked.is_good()) known_[device].store(clusters, std::memory_order_release);
    return asked;
  }

  // After max_active_clusters() was good on this device.
  // A grid whose CTAs must run `at_once` does not overlap the one before: cooperative launches
  // promise that, and nothing says that they do where they begin early.
  // `cluster`: so many CTAs are one, of which nobody asked whether they fit; 0: as the kernel says.
  template <class Params>
  Status launch(const Params& params, unsigned ctas, void* stream, bool at_once = false,
                unsigned cluster = 0) const {
    auto* const onto = static_cast<cudaStream_t>(stream);
    const bool triggers = needs_.dependent_launch && !at_once;
    const CapturedNode before = triggers ? CapturedNode::of(onto) : CapturedNode{};
    // In a graph an edge to a kernel that triggers nothing costs more than it gains, in a stream it
    // gains.
    const bool overlaps =
        triggers && (!before.is_captured || before.follows(CapturedNode::last_of_thread()));
    const KernelLaunch launch(ctas, cluster != 0 ? cluster : cluster_size(), needs_.threads,
                              needs_.shared_bytes, overlaps, at_once, onto);
    void* arguments[] = {const_cast<Params*>(&params)};
    const cudaError_t launched = cudaLaunchKernelExC(&launch.config, function_, arguments);
    // Behind a launch that failed stands whatever stood there before it: perhaps a foreign kernel.
    if (before.is_captured) {
      CapturedNode::last_of_thread() =
          launched == cudaSuccess ? CapturedNode::of(onto) : CapturedNode{};
    }
    return cuda_status(launched, "The launch");
  }

 private:
  static constexpr int max_devices = 64;

  unsigned cluster_size() const { return needs_.in_clusters ? needs_.cluster_size : 0; }

  Status load() {
    const std::scoped_lock lock(loading_);
    if (function_ != nullptr) return Status::good();
    cudaLibrary_t library;
    Status loaded = cuda_status(
        cudaLibraryLoadData(&library, image_.begin, nullptr, nullptr, 0, nullptr, nullptr, 0),
        "Loading a kernel's image");
    if (!loaded.is_good()) return loaded;
    cudaKernel_t kernel;
    Status found = cuda_status(cudaLibraryEnumerateKernels(&kernel, 1, library),
                               "Finding a kernel in its image");
    if (found.is_good()) function_ = static_cast<const void*>(kernel);
    return found;
  }

  Status ask(unsigned& clusters, int device) {
    int major = 0, minor = 0, shared_limit = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    const int capability = major * 10 + minor;
    const bool by_ptx = capability >= needs_.ptx_begin && capability < needs_.ptx_end;
    if (!by_ptx && (capability < needs_.capability_begin || capability >= needs_.capability_end)) {
      return Status::refused("This kernel needs a compute capability from " +
                             std::to_string(needs_.capability_begin / 10) + "." +
                             std::to_string(needs_.capability_begin % 10) + " to below " +
                             std::to_string(needs_.capability_end / 10) + "." +
                             std::to_string(needs_.capability_end % 10) + "; the device has " +
                             std::to_string(major) + "." + std::to_string(minor) + ".");
    }
    cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (needs_.shared_bytes > static_cast<std::size_t>(shared_limit)) {
      return Status::refused("The kernel needs " + std::to_string(needs_.shared_bytes) +
                             " bytes of shared memory; the device offers " +
                             std::to_string(shared_limit) + ".");
    }
    if (Status loaded = load(); !loaded.is_good()) return loaded;
    Status raised =
        cuda_status(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(needs_.shared_bytes)),
                    "Raising the shared memory limit");
    if (!raised.is_good()) return raised;
    int active = 0;
    if (needs_.in_clusters) {
      const KernelLaunch launch(needs_.cluster_size, needs_.cluster_size, needs_.threads,
                                needs_.shared_bytes, false, false, nullptr);
      Status asked = cuda_status(cudaOccupancyMaxActiveClusters(&active, function_, &launch.config),
                                 "cudaOccupancyMaxActiveClusters");
      if (!asked.is_good()) return asked;
    } else {
      int per_sm = 0, sms = 0;
      Status asked = cuda_status(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &per_sm, function_, static_cast<int>(needs_.threads), needs_.shared_bytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
      if (!asked.is_good()) return asked;
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
      active = per_sm * sms;
    }
    clusters = static_cast<unsigned>(active);
    return Status::good();
  }

  KernelNeeds needs_;
  Image image_ = {};
  const void* function_ = nullptr;  // written once, before the first known_ that is not 0
  std::mutex loading_;
  std::atomic<unsigned> known_[max_devices] = {};
};

}  // namespace tw
