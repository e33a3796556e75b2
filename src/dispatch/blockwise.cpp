#include "src/dispatch/blockwise.h"

#include "src/dispatch/call.h"

namespace tw {

namespace {

struct ScaledProducts {
  static auto instances() { return blockwise_instances(); }
  static KernelFacts facts(const BlockwiseInstance& instance) {
    return {.target = instance.target, .config = instance.config, .scales_sums = true};
  }
  static const MatmulProblem& matmul(const BlockwiseInstance&, const BlockwiseProblem& problem) {
    return problem.matmul;
  }
  static double operand_bytes(const BlockwiseProblem&) { return 0; }
  static std::string call(const BlockwiseProblem& problem) { return call_of(problem); }
  static constexpr const char* noun = "product with scales of blocks";
  static int distance(const MatmulConfig& config, const BlockwiseProblem& problem) {
    return distance_between(config, problem.matmul);
  }
};

}  // namespace

std::string call_of(const BlockwiseProblem& problem) {
  return call_of("blockwise", problem.matmul);
}

std::vector<BlockwiseChoice> candidates(const BlockwiseProblem& problem,
                                        const DispatchRequest& request,
                                        std::vector<BlockwiseRejection>* rejections) {
  return launches_of<ScaledProducts>(problem, request, rejections);
}

Status choose(BlockwiseChoice& choice, const BlockwiseProblem& problem,
              const DispatchRequest& request, std::vector<BlockwiseRejection>* rejections) {
  return choose_launch<ScaledProducts>(choice, problem, request, rejections);
}

}  // namespace tw
