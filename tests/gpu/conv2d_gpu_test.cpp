// Convolutions on the GPU against the direct convolution on the host.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "src/matmul/gpu.h"
#include "tests/families/conv2d_problems.h"

namespace tw::tests {
namespace {

void must(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

// Copies of the matrices on the GPU.
class OnDevice {
 public:
  explicit OnDevice(MatmulData& data) : data_(data) {
    MatmulData::for_each(data, [this](HostMatrix& matrix, bool) {
      if (!matrix.exists()) return;
      must(cudaMalloc(&copies_[&matrix], matrix.bytes.size()));
      must(cudaMemcpy(copies_[&matrix], matrix.bytes.data(), matrix.bytes.size(),
                      cudaMemcpyHostToDevice));
    });
  }
  ~OnDevice() {
    for (const auto& [matrix, copy] : copies_) cudaFree(copy);
  }
  OnDevice(const OnDevice&) = delete;

  void* address(HostMatrix& matrix) const {
    if (!matrix.exists()) return nullptr;
    return static_cast<std::byte*>(copies_.at(&matrix)) + matrix.first * bytes_of(matrix.type);
  }
  void read_outputs() {
    MatmulData::for_each(data_, [this](HostMatrix& matrix, bool output) {
      if (!output || !matrix.exists()) return;
      must(cudaMemcpy(matrix.bytes.data(), copies_.at(&matrix), matrix.bytes.size(),
                      cudaMemcpyDeviceToHost));
    });
  }

 private:
  MatmulData& data_;
  std::map<HostMatrix*, void*> copies_;
};

// A hang cannot be ended: the device is lost.
void wait_or_exit(const std::string& what) {
  for (int i = 0; cudaStreamQuery(nullptr) == cudaErrorNotReady; ++i) {
    if (i == 20'000) {
      std::fprintf(stderr, "hangs: %s\n", what.c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void expect_right(const Conv2dInstance& instance, const Conv2dShape& shape, Fill fill,
                  std::uint64_t seed) {
  const std::string line = run_line(instance, shape, fill, seed);
  VerifiedConv2d problem(shape, fill, seed);
  OnDevice device(problem.data);
  const Conv2dProblem given =
      conv2d_at(problem.data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  Workspace workspace;
  Status status = instance.workspace(workspace.bytes, given, {});
  if (workspace.bytes > 0) {
    must(cudaMalloc(&workspace.data, workspace.bytes));
    must(cudaMemset(workspace.data, 0, workspace.bytes));
  }
  if (status.is_good()) status = instance.launch(given, {}, workspace, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  must(cudaDeviceSynchronize());
  device.read_outputs();
  cudaFree(workspace.data);
  const Comparison comparison = compare(problem.data, problem.reference);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(Conv2dGpu, ComputesRandomProblemsExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  int major = 0;
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  const std::string target = major == 9 ? "sm90a" : major == 10 ? "sm100a" : "";
  Random random(base_seed());
  for (int i = 0; i < 100; ++i) {
    for (const Conv2dInstance& instance : conv2d_instances()) {
      const bool portable = instance.target == std::string("sm80") && major < 10;
      if (instance.target != target && !portable) continue;
      expect_right(instance, random_shape(instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tw::tests
