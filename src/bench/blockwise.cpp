#include "src/bench/blockwise.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "src/bench/device.h"
#include "src/blockwise_fp8/instance.h"

namespace tw::bench {

namespace {

constexpr std::int64_t block = 128;
std::int64_t blocks_of(std::int64_t extent) { return MatmulCase::up(extent, block) / block; }
std::int64_t b_pitch(std::int64_t k) { return MatmulCase::up(blocks_of(k), 4); }

Candidate candidate_of(const BlockwiseInstance& instance, int split_k, const MatmulBuffers& buffers,
                       const BlockScales& scales) {
  MatmulOrder order;
  order.split_k = split_k;
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)instance.workspace(bytes, scales.problem(buffers.problem(0)), order);
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  const std::string parts = split_k > 1 ? " /" + std::to_string(split_k) : "";
  return {instance.name + parts,
          [&instance, order, &buffers, &scales, memory](int set, void* stream) {
            return instance.launch(scales.problem(buffers.problem(set)), order, memory->workspace,
                                   stream);
          }};
}

}  // namespace

BlockScales::BlockScales(const MatmulCase& what, Major own_a)
    : own_a_(own_a), a_count_(MatmulCase::up(what.m * blocks_of(what.k), 64)) {
  const std::vector<float> ones(a_count_ + blocks_of(what.n) * b_pitch(what.k), 1.0f);
  void* memory = nullptr;
  must(cudaMalloc(&memory, ones.size() * sizeof(float)), "Allocating scales");
  memory_ = static_cast<float*>(memory);
  must(cudaMemcpy(memory_, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice),
       "Copying scales");
}

BlockScales::~BlockScales() { cudaFree(memory_); }

BlockwiseProblem BlockScales::problem(const MatmulProblem& matmul) const {
  const std::int64_t k_blocks = blocks_of(matmul.k);
  return {
      matmul,
      {{a(), own_a_ == Major::K ? k_blocks : matmul.m, 0, ElementType::Fp32, own_a_},
       matmul.m,
       k_blocks},
      {{b(), b_pitch(matmul.k), 0, ElementType::Fp32, Major::K}, blocks_of(matmul.n), k_blocks}};
}

std::vector<Candidate> blockwise_candidates(const OwnRequest& request, const MatmulBuffers& buffers,
                                            const BlockScales& scales) {
  std::vector<Candidate> candidates;
  const std::string target = dispatch_request().target;
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    const bool takes = instance.b_scale_rows == block && instance.target == target &&
                       (instance.config.tiling.loaded_rows == 0 ||
                        buffers.what().m <= instance.config.tiling.loaded_rows);
    if (!takes || (!request.instances.empty() && !is_wanted(request.instances, instance.name))) {
      continue;
    }
    const bool in_parts = instance.config.split == Split::Parts;
    for (int split_k = in_parts ? 2 : 1; split_k <= (in_parts ? 8 : 1); split_k *= 2) {
      candidates.push_back(candidate_of(instance, split_k, buffers, scales));
    }
  }
  return candidates;
}

}  // namespace tw::bench
