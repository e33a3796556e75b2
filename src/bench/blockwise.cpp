#include "src/bench/blockwise.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "src/bench/device.h"
#include "src/bench/planned.h"

namespace tw::bench {

namespace {

constexpr std::int64_t block = 128;
std::int64_t blocks_of(std::int64_t extent) { return MatmulCase::up(extent, block) / block; }
std::int64_t b_pitch(std::int64_t k) { return MatmulCase::up(blocks_of(k), 4); }

tw_scales c_scales(const ScaleTensor& scales) {
  const std::int64_t pitch = scales.tensor.pitch;
  const bool by_rows = scales.tensor.major == Major::K;
  return {scales.tensor.data,  scales.rows, scales.k_blocks, by_rows ? pitch : 1,
          by_rows ? 1 : pitch, 0,           TW_FP32};
}

Candidate planned_candidate(const MatmulBuffers& buffers, const BlockScales& scales) {
  std::vector<tw_blockwise_problem> problems(static_cast<std::size_t>(buffers.sets()));
  for (int set = 0; set < buffers.sets(); ++set) {
    const BlockwiseProblem given = scales.problem(buffers.problem(set));
    tw_blockwise_problem& problem = problems[static_cast<std::size_t>(set)];
    tw_blockwise_init(&problem, nullptr);
    problem.matmul = c_problem(buffers, set);
    problem.a_scales = c_scales(given.a_scales);
    problem.b_scales = c_scales(given.b_scales);
  }
  return planned(
      PlanCalls<tw_blockwise_problem, tw_blockwise_plan>{
          tw_blockwise_plan_create, tw_blockwise_plan_destroy, tw_blockwise_plan_workspace_size,
          tw_blockwise_plan_command, tw_blockwise_plan_run},
      problems);
}

}  // namespace

Candidate candidate_of(const BlockwiseChoice& choice, const MatmulBuffers& buffers,
                       const BlockScales& scales) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, scales.problem(buffers.problem(0)), choice.order);
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, &buffers, &scales, memory](int set, void* stream) {
            return choice.instance->launch(scales.problem(buffers.problem(set)), choice.order,
                                           memory->workspace, stream);
          }};
}

BlockScales::BlockScales(const MatmulCase& what, Major own_a)
    : own_a_(own_a), a_count_(MatmulCase::up(MatmulCase::up(what.m, 4) * blocks_of(what.k), 64)) {
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

Status blockwise_candidates(std::vector<Candidate>& found, const OwnRequest& request,
                            const MatmulBuffers& buffers, const BlockScales& scales) {
  found.clear();
  if (request.asks_the_library()) {
    found.push_back(planned_candidate(buffers, scales));
    return Status::good();
  }
  const BlockwiseProblem problem = scales.problem(buffers.problem(0));
  for (const BlockwiseChoice& choice :
       request.wanted(candidates(problem, dispatch_request(), nullptr))) {
    found.push_back(candidate_of(choice, buffers, scales));
  }
  if (!found.empty()) return Status::good();
  return Status::refused("No instance that computes " + buffers.what().text() +
                         " with scales of blocks has a name with '" + request.instances + "'.");
}

}  // namespace tw::bench
