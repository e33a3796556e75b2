// Convolutions on the GPU against the direct convolution on the host.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "src/dispatch/launch_options.h"
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
  const MatmulOrder order = order_for(instance, seed);
  const std::string line = run_line(instance, shape, fill, seed, order);
  VerifiedConv2d problem(shape, fill, seed);
  OnDevice device(problem.data);
  const Conv2dProblem given =
      conv2d_at(problem.data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  Workspace workspace;
  Status status = instance.workspace(workspace.bytes, given, order);
  if (workspace.bytes > 0) {
    must(cudaMalloc(&workspace.data, workspace.bytes));
    must(cudaMemset(workspace.data, 0, workspace.bytes));
  }
  if (status.is_good()) status = instance.launch(given, order, workspace, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  must(cudaDeviceSynchronize());
  device.read_outputs();
  cudaFree(workspace.data);
  const Comparison comparison = compare(problem.data, problem.reference);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

class Conv2dGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    int major = 0;
    must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    const char* target = major == 9 ? "sm90a" : major == 10 ? "sm100a" : "sm80";
    for (const Conv2dInstance& instance : conv2d_instances()) {
      if (runs_on(instance.target, target)) instances_.push_back(&instance);
    }
    std::printf("seed %llu (TW_SEED changes it), %zu instances\n",
                static_cast<unsigned long long>(base_seed()), instances_.size());
  }
  std::vector<const Conv2dInstance*> instances_;
};

TEST_F(Conv2dGpu, ComputesRandomProblemsExactly) {
  Random random(base_seed());
  for (int i = 0; i < 100; ++i) {
    for (const Conv2dInstance* instance : instances_) {
      expect_right(*instance, random_shape(*instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// More tiles than the device runs at once, with a residual; channels end within a k-tile.
TEST_F(Conv2dGpu, ComputesManyTilesExactly) {
  for (const Conv2dInstance* instance : instances_) {
    Conv2dShape shape = shape_for(*instance);
    shape.n = 33;
    shape.c = 80;
    shape.k = 136;
    shape.h = {.extent = 28, .filter = 3, .pad_low = 1, .pad_high = 1};
    shape.w = {.extent = 27, .filter = 3, .pad_low = 1, .pad_high = 1};
    if (shape.direction == Conv2dDirection::Forward) {
      shape.epilogue.column_bias = true;
      shape.epilogue.beta = 1.0f;
      shape.epilogue.source_type = shape.d_type;
    }
    expect_right(*instance, shape, Fill::Integers, base_seed());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
