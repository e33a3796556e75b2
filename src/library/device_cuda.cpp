#include <cuda_runtime.h>
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "src/library/device.h"
#include "src/library/failure.h"
#include "tilewright/host/targets.h"

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
