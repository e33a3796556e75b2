#include "src/bench/buffers.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "src/bench/device.h"
#include "src/bench/fill.h"

namespace tw::bench {

namespace {

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

std::size_t a_bytes(const MatmulCase& what) {
  return aligned(bytes_of(what.type) * what.m * what.k_pitch());
}
std::size_t b_bytes(const MatmulCase& what) {
  return aligned(bytes_of(what.type) * what.n * what.k_pitch());
}

}  // namespace

MatmulBuffers::MatmulBuffers(const MatmulCase& what, std::uint64_t seed) : what_(what) {
  int l2_bytes = 0;
  must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
  const std::size_t bytes = a_bytes(what) + b_bytes(what) + aligned(2 * what.m * what.n_pitch());
  const std::size_t sets = std::clamp<std::size_t>(3 * std::size_t(l2_bytes) / bytes + 1, 2, 64);
  for (std::size_t set = 0; set < sets; ++set) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes), "Allocating on the GPU");
    char* const base = static_cast<char*>(memory);
    base_.push_back(base);
    fill_normal(base, what.type, what.m * what.k_pitch(), seed + 2 * set);
    fill_normal(base + a_bytes(what), what.type, what.n * what.k_pitch(), seed + 2 * set + 1);
  }
  for (std::size_t set = 0; set < sets; ++set) {
    stated_.push_back(std::make_unique<StatedMatmul>(problem(static_cast<int>(set))));
  }
  must(cudaDeviceSynchronize(), "Filling the inputs");
}

MatmulBuffers::~MatmulBuffers() {
  for (char* base : base_) cudaFree(base);
}

MatmulProblem MatmulBuffers::problem(int set) const {
  MatmulProblem problem;
  problem.m = what_.m;
  problem.n = what_.n;
  problem.k = what_.k;
  char* base = base_[set];
  problem.a.data = base;
  problem.b.data = base + a_bytes(what_);
  problem.d.data = base + a_bytes(what_) + b_bytes(what_);
  problem.a.type = problem.b.type = what_.type;
  problem.d.type = what_.d_type();
  problem.a.pitch = problem.b.pitch = what_.k_pitch();
  problem.d.pitch = what_.n_pitch();
  return problem;
}

DeviceWorkspace::DeviceWorkspace(std::size_t bytes) : workspace{nullptr, bytes} {
  if (bytes == 0) return;
  must(cudaMalloc(&workspace.data, bytes), "Allocating a workspace");
  must(cudaMemset(workspace.data, 0, bytes), "Clearing a workspace");
}
DeviceWorkspace::~DeviceWorkspace() { cudaFree(workspace.data); }

}  // namespace tw::bench
