#include "src/dispatch/grouped.h"

namespace tw {

namespace {

struct GroupedProducts {
  static auto instances() { return grouped_instances(); }
  static KernelFacts facts(const GroupedInstance& instance) {
    return {.target = instance.target,
            .config = instance.config,
            .any_alignment = instance.gathers,
            .scales_sums = instance.b_scale_rows > 0};
  }
  static MatmulProblem matmul(const GroupedInstance&, const GroupedProblem& problem) {
    MatmulProblem batch = as_batch(problem);
    if (batch.batch > 0) batch.m = (batch.m + batch.batch - 1) / batch.batch;
    return batch;
  }
  static double operand_bytes(const GroupedProblem&) { return 0; }
  static constexpr const char* noun = "product in groups";
  static int distance(const MatmulConfig& config, const GroupedProblem& problem) {
    return distance_between(config, problem.matmul);
  }
};

}  // namespace

Status choose(GroupedChoice& choice, const GroupedProblem& problem, const DispatchRequest& request,
              std::vector<GroupedRejection>* rejections) {
  return choose_launch<GroupedProducts>(choice, problem, request, rejections);
}

}  // namespace tw
