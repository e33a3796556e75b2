#include "src/bench/blockwise.h"

#include <cuda_runtime_api.h>

#include "src/bench/device.h"

namespace tw::bench {

namespace {

constexpr std::int64_t block = 128;
std::int64_t blocks_of(std::int64_t extent) { return MatmulCase::up(extent, block) / block; }
std::int64_t b_pitch(std::int64_t k) { return MatmulCase::up(blocks_of(k), 4); }

}  // namespace

BlockwiseScales::BlockwiseScales(const MatmulCase& what, Major own_a)
    : own_a_(own_a), a_count_(MatmulCase::up(MatmulCase::up(what.m, 4) * blocks_of(what.k), 64)) {
  const std::vector<float> ones(a_count_ + blocks_of(what.n) * b_pitch(what.k), 1.0f);
  void* memory = nullptr;
  must(cudaMalloc(&memory, ones.size() * sizeof(float)), "Allocating scales");
  memory_ = static_cast<float*>(memory);
  must(cudaMemcpy(memory_, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice),
       "Copying scales");
}

BlockwiseScales::~BlockwiseScales() { cudaFree(memory_); }

BlockwiseProblems BlockwiseScales::problems(const MatmulBuffers& buffers) const {
  std::vector<tw_blockwise_problem> given(static_cast<std::size_t>(buffers.sets()));
  for (int set = 0; set < buffers.sets(); ++set) {
    tw_blockwise_problem& problem = given[static_cast<std::size_t>(set)];
    tw_blockwise_init(&problem, nullptr);
    problem.matmul = c_problem(buffers, set);
    const auto& [m, n, k] = std::tie(problem.matmul.m, problem.matmul.n, problem.matmul.k);
    const std::int64_t k_blocks = blocks_of(k);
    problem.a_scales = own_a_ == Major::K ? tw_scales{a(), m, k_blocks, k_blocks, 1, 0, TW_FP32}
                                          : tw_scales{a(), m, k_blocks, 1, m, 0, TW_FP32};
    problem.b_scales = {b(), blocks_of(n), k_blocks, b_pitch(k), 1, 0, TW_FP32};
  }
  return std::make_shared<const Problems<BlockwiseFamily>>(std::move(given));
}

std::vector<LaunchChoice<Instance>> launches_of(const BlockwiseProblems& problems,
                                                const DispatchRequest& request) {
  if (!problems->status.is_good()) return {};
  return tw::launches_of<DescribedProducts<blockwise_instances, whole_product>>(
      problems->checked[0], request, static_cast<std::vector<LaunchRejection<Instance>>*>(nullptr));
}

}  // namespace tw::bench
