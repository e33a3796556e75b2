// Copies of matrices on the GPU, and waiting for what a kernel makes of them.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "src/verify/data.h"
#include "tilewright/launch/kernel_problem.h"
#include "tilewright/launch/targets.h"

namespace tw::tests {

inline void must(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

class OnDevice {
 public:
  explicit OnDevice(MatmulData& data) : data_(data) {
    MatmulData::for_each(data, [this](HostMatrix& matrix, bool) { add(matrix); });
  }
  ~OnDevice() {
    for (const auto& [matrix, copy] : copies_) cudaFree(copy);
  }
  OnDevice(const OnDevice&) = delete;

  void add(HostMatrix& matrix) {
    if (!matrix.exists()) return;
    must(cudaMalloc(&copies_[&matrix], matrix.bytes.size()));
    must(cudaMemcpy(copies_[&matrix], matrix.bytes.data(), matrix.bytes.size(),
                    cudaMemcpyHostToDevice));
  }
  void* address(HostMatrix& matrix) const {
    if (!matrix.exists()) return nullptr;
    return static_cast<std::byte*>(copies_.at(&matrix)) + matrix.offset();
  }
  void read_outputs() {
    MatmulData::for_each(data_, [this](HostMatrix& matrix, bool output) {
      if (output && matrix.exists()) read(matrix);
    });
  }
  void read(HostMatrix& matrix) {
    must(cudaMemcpy(matrix.bytes.data(), copies_.at(&matrix), matrix.bytes.size(),
                    cudaMemcpyDeviceToHost));
  }

 private:
  MatmulData& data_;
  std::map<HostMatrix*, void*> copies_;
};

// Zeroed, as a first launch needs it.
class DeviceWorkspace {
 public:
  explicit DeviceWorkspace(std::size_t bytes) : given_{nullptr, bytes} {
    if (bytes == 0) return;
    must(cudaMalloc(&given_.data, bytes));
    must(cudaMemset(given_.data, 0, bytes));
  }
  ~DeviceWorkspace() { cudaFree(given_.data); }
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  const Workspace& given() const { return given_; }

 private:
  Workspace given_;
};

// A hang cannot be ended: the device is lost.
inline void wait_or_exit(const std::string& what) {
  for (int i = 0; cudaStreamQuery(nullptr) == cudaErrorNotReady; ++i) {
    if (i == 20'000) {
      std::fprintf(stderr, "hangs: %s\n", what.c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  must(cudaDeviceSynchronize());
}

// Captures what `call` enqueues on a stream into a graph, and replays that thrice: a launch leaves
// its workspace as it found it.
template <class Call>
void replay_captured(const Call& call) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  must(cudaStreamCreate(&stream));
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  call(stream);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&executable, graph, 0));
  for (int replay = 0; replay < 3; ++replay) must(cudaGraphLaunch(executable, stream));
  must(cudaStreamSynchronize(stream));
  must(cudaGraphExecDestroy(executable));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
}

// Whether the device runs instances of a target, or those that run up to the capability `end`.
inline bool runs_here(const std::string& target, int end = 0) {
  int major = 0, minor = 0;
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  must(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  const TargetFacts* const here = target_of(major * 10 + minor);
  return here != nullptr && runs_on(target, here->name, end);
}

}  // namespace tw::tests
