#include "src/dispatch/grouped.h"

#include "tilewright/host/grouped.h"

namespace tw {

namespace {

struct GroupedProducts {
  static auto instances() { return grouped_instances(); }
  static KernelFacts facts(const Instance& instance) {
    const auto& facts = *static_cast<const GroupedFacts*>(instance.facts);
    return {.target = instance.target,
            .config = facts.product.config,
            .any_alignment = facts.gathers,
            .scales_sums = facts.b_scale_rows > 0};
  }
  static MatmulProblem matmul(const Instance&, const Checked& problem) {
    MatmulProblem batch = GroupedLaunch::product(problem);
    if (batch.batch > 0) batch.m = (batch.m + batch.batch - 1) / batch.batch;
    return batch;
  }
  static double operand_bytes(const Checked&) { return 0; }
  static constexpr const char* noun = "product in groups";
  static int distance(const MatmulConfig& config, const Checked& problem) {
    return distance_between(config, problem.product());
  }
};

}  // namespace

Status choose_grouped(LaunchChoice<Instance>& choice, const Checked& problem,
                      const DispatchRequest& request,
                      std::vector<LaunchRejection<Instance>>* rejections) {
  return choose_launch<GroupedProducts>(choice, problem, request, rejections);
}

}  // namespace tw
