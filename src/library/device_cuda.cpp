#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "src/library/device.h"
#include "src/library/failure.h"
#include "tilewright/launch/targets.h"

namespace tw::library {

namespace {

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
  const LoadsWhileCapturing allowed(cuda());
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

class CudaGpu : public Gpu {
 public:
  bool is_there() const override {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count > 0;
    static_cast<void>(cudaGetLastError());  // who asks for the device hears of it
    return false;
  }

  Device current() const override {
    static KnownDevices known;
    int number = 0;
    must(cudaGetDevice(&number), "cudaGetDevice");
    return known.find(number, [&] {
      const int capability = attribute(cudaDevAttrComputeCapabilityMajor, number) * 10 +
                             attribute(cudaDevAttrComputeCapabilityMinor, number);
      const char* const target = name_of_target(capability);
      const auto sms = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, number));
      const double cycles_per_us = attribute(cudaDevAttrClockRate, number) / 1e3;
      // Two transfers a cycle.
      const double bytes_per_us = 2.0 * attribute(cudaDevAttrMemoryClockRate, number) / 1e3 *
                                  attribute(cudaDevAttrGlobalMemoryBusWidth, number) / 8;
      return Device{this,       number,        target,      sms, name_of(number),
                    capability, cycles_per_us, bytes_per_us};
    });
  }

  Status clear(void* memory, std::size_t bytes, void* stream) const override {
    const cudaError_t error = cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream));
    if (error == cudaSuccess) return Status::good();
    return Status::refused(
        fmt::format("Clearing the workspace failed: {}.", cudaGetErrorString(error)));
  }

  void* counters_of_capture(std::size_t bytes, void* given) const override;

  Status exchange_capture_mode(int& mode) const override {
    auto exchanged = static_cast<cudaStreamCaptureMode>(mode);
    const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&exchanged);
    mode = exchanged;
    if (error == cudaSuccess) return Status::good();
    return Status::refused(
        fmt::format("cudaThreadExchangeStreamCaptureMode failed: {}.", cudaGetErrorString(error)));
  }
};
static_assert(cudaStreamCaptureModeRelaxed == Gpu::relaxed);

void* CudaGpu::counters_of_capture(std::size_t bytes, void* given) const {
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

}  // namespace

const Gpu& cuda() {
  static const CudaGpu one;
  return one;
}

}  // namespace tw::library
