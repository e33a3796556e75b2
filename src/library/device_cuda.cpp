#include <cuda_runtime.h>
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>

#include "src/library/device.h"
#include "src/library/failure.h"
#include "tilewright/launch/targets.h"

namespace tw::library {

namespace {

constexpr int max_devices = 64;

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Failure{TW_CUDA, fmt::format("{} failed: {}.", what, cudaGetErrorString(error))};
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  must(cudaDeviceGetAttribute(&value, which, device), "Asking for a property of the device");
  return value;
}

const char* name_of_target(int capability) {
  const TargetFacts* const target = target_of(capability);
  if (target != nullptr) return target->name;
  throw Failure{TW_UNSUPPORTED,
                fmt::format("The device has compute capability {}.{}, but kernels are compiled for "
                            "8.x, 9.0, 10.0 and 10.3.",
                            capability / 10, capability % 10)};
}

// Lives as long as the process.
const char* name_of(int device) {
  cudaDeviceProp properties;
  must(cudaGetDeviceProperties(&properties, device), "Asking for the name of the device");
  return strdup(properties.name);
}

}  // namespace

Place current_device() {
  // Written by whoever asks first; who asks at the same time writes the same.
  static std::atomic<const char*> targets[max_devices];
  static std::atomic<int> capabilities[max_devices];
  static std::atomic<unsigned> sms[max_devices];
  static std::atomic<const char*> names[max_devices];
  int device = 0;
  must(cudaGetDevice(&device), "cudaGetDevice");
  if (device >= max_devices) {
    throw Failure{TW_CUDA,
                  fmt::format("Device {} is beyond the {} that are known.", device, max_devices)};
  }
  if (targets[device].load(std::memory_order_acquire) == nullptr) {
    const int capability = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                           attribute(cudaDevAttrComputeCapabilityMinor, device);
    const char* target = name_of_target(capability);
    capabilities[device].store(capability);
    sms[device].store(static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, device)));
    names[device].store(name_of(device));
    targets[device].store(target, std::memory_order_release);
  }
  return {device, targets[device].load(), sms[device].load(), names[device].load(),
          capabilities[device].load()};
}

Status clear_memory(void* memory, std::size_t bytes, void* stream) {
  const cudaError_t error = cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream));
  if (error == cudaSuccess) return Status::good();
  return Status::refused(
      fmt::format("Clearing the workspace failed: {}.", cudaGetErrorString(error)));
}

namespace {

// What one stream of one graph counts in.
struct GraphCounters {
  void* memory;
  int device;
  unsigned long long capture;
  cudaStream_t stream;
  std::atomic<bool> is_free;  // the graph is gone
};

// Zero, before this returns. Nothing is enqueued on a stream that may be captured.
void* zeroed_memory(std::size_t bytes) {
  const LoadsWhileCapturing allowed;
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) return nullptr;
  const bool is_zero = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                       cudaMemsetAsync(memory, 0, bytes, stream) == cudaSuccess &&
                       cudaStreamSynchronize(stream) == cudaSuccess;
  if (stream != nullptr) cudaStreamDestroy(stream);
  if (is_zero) return memory;
  cudaFree(memory);
  return nullptr;
}

cudaError_t capture_of(cudaStream_t stream, unsigned long long* capture, cudaGraph_t* graph) {
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, &status, capture, graph, &nodes, &edges, &count);
#else
  return cudaStreamGetCaptureInfo_v3(stream, &status, capture, graph, &nodes, &edges, &count);
#endif
}

}  // namespace

void* counters_of_capture(std::size_t bytes, void* given) {
  auto* const stream = static_cast<cudaStream_t>(given);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // what follows reports it
    return nullptr;
  }
  if (status != cudaStreamCaptureStatusActive) return nullptr;
  unsigned long long capture = 0;
  cudaGraph_t graph = nullptr;
  must(capture_of(stream, &capture, &graph), "Asking for the capture of the stream");
  int device = 0;
  must(cudaGetDevice(&device), "cudaGetDevice");
  static std::mutex mutex;
  // They stay where they are, also when the process ends: graphs may live longer.
  static auto& all = *new std::deque<GraphCounters>;
  const std::lock_guard lock(mutex);
  GraphCounters* found = nullptr;
  for (GraphCounters& one : all) {
    if (one.device != device) continue;
    if (one.is_free.load(std::memory_order_acquire)) {
      found = &one;
    } else if (one.capture == capture && one.stream == stream) {
      return one.memory;
    }
  }
  if (found == nullptr) {
    void* const memory = zeroed_memory(bytes);
    if (memory == nullptr) return nullptr;
    found = &all.emplace_back(memory, device, capture, stream, true);
  }
  // CUDA calls back when the graph and all that was made of it are gone, and have run.
  const auto free = [](void* counters) {
    static_cast<GraphCounters*>(counters)->is_free.store(true, std::memory_order_release);
  };
  cudaUserObject_t object = nullptr;
  if (cudaUserObjectCreate(&object, found, free, 1, cudaUserObjectNoDestructorSync) !=
      cudaSuccess) {
    return nullptr;
  }
  found->capture = capture;
  found->stream = stream;
  found->is_free.store(false, std::memory_order_release);
  if (cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) != cudaSuccess) {
    cudaUserObjectRelease(object, 1);
    return nullptr;
  }
  return found->memory;
}

LoadsWhileCapturing::LoadsWhileCapturing() {
  auto mode = cudaStreamCaptureModeRelaxed;
  must(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
  mode_ = mode;
}

LoadsWhileCapturing::~LoadsWhileCapturing() {
  auto mode = static_cast<cudaStreamCaptureMode>(mode_);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

}  // namespace tw::library
