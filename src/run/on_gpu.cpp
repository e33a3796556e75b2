#include "src/run/on_gpu.h"

#include "src/matmul/gpu.h"
#if TW_WITH_CUDA
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tilewright/host/targets.h"
#endif

namespace tw {

#if TW_WITH_CUDA

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "tw: %s failed: %s.\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Zeros on the GPU.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    if (bytes == 0) return;
    must(cudaMalloc(&data_, bytes), "Allocating on the GPU");
    must(cudaMemset(data_, 0, bytes), "Clearing memory of the GPU");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Memory of the GPU with the same bytes, at the same offset from a multiple of 256 bytes.
class DeviceCopies {
 public:
  explicit DeviceCopies(const HostProblem& given) : copies_(given.tensors(), nullptr) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const std::vector<std::byte>& bytes = given.tensor(i).bytes;
      if (bytes.empty()) continue;
      must(cudaMalloc(&copies_[i], bytes.size()), "Allocating on the GPU");
      must(cudaMemcpy(copies_[i], bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
           "Copying to the GPU");
    }
  }
  ~DeviceCopies() {
    for (void* copy : copies_) cudaFree(copy);
  }
  DeviceCopies(const DeviceCopies&) = delete;
  void* address(const HostMatrix& matrix, std::size_t i) const {
    return static_cast<std::byte*>(copies_[i]) + matrix.first * bytes_of(matrix.type);
  }
  void read(HostMatrix& matrix, std::size_t i) const {
    must(cudaMemcpy(matrix.bytes.data(), copies_[i], matrix.bytes.size(), cudaMemcpyDeviceToHost),
         "Copying back");
  }

 private:
  std::vector<void*> copies_;
};

void wait_or_give_up(const Case& of) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "tw: the kernel hangs: %s\n", run_line(of).c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  must(cudaDeviceSynchronize(), "The kernel");
}

}  // namespace

std::string why_not_on_gpu(const Instance& instance) {
  if (std::string why = why_no_gpu(); !why.empty()) return why;
  if (instance.launch == nullptr) {
    return std::string("The instance ") + instance.name + " is not compiled for a GPU.";
  }
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  const TargetFacts* const here = target_of(major * 10 + minor);
  if (here != nullptr && runs_on(instance.target, here->name)) return "";
  return sentence("The GPU has compute capability {}.{}; the instance {} is for {}.", major, minor,
                  instance.name, instance.target);
}

Result<Comparison> run_on_gpu(const Verified& verified) {
  const Case& of = verified.of();
  if (std::string why = why_not_on_gpu(*of.instance); !why.empty()) {
    return {Status::refused(why), std::nullopt};
  }
  HostProblem ran = verified.given();
  const DeviceCopies copies(ran);
  const AnyProblem problem =
      ran.placed([&](std::size_t i) { return copies.address(ran.tensor(i), i); });
  Checked checked;
  Status status = check(checked, *of.trial->description, problem.data());
  LaunchOptions options = {of.order};
  if (status.is_good()) {
    status = of.instance->workspace(options.workspace.bytes, checked, options);
  }
  if (!status.is_good()) return {status, std::nullopt};
  const DeviceMemory workspace(options.workspace.bytes);
  options.workspace.data = workspace.data();
  status = of.instance->launch(checked, options, nullptr);
  if (!status.is_good()) return {status, std::nullopt};
  wait_or_give_up(of);
  for (std::size_t i = 0; i < ran.tensors(); ++i) {
    if (ran.is_written(i) && !ran.tensor(i).bytes.empty()) copies.read(ran.tensor(i), i);
  }
  return {Status::good(), verified.compare(ran)};
}

#else

std::string why_not_on_gpu(const Instance&) { return why_no_gpu(); }
Result<Comparison> run_on_gpu(const Verified&) {
  return {Status::refused(why_no_gpu()), std::nullopt};
}

#endif

}  // namespace tw
