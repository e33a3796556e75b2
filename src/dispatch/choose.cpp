#include "src/dispatch/choose.h"

#include "src/dispatch/call.h"

namespace tw {

namespace {

struct Products {
  static auto instances() { return matmul_instances(); }
  static KernelFacts facts(const MatmulInstance& instance) {
    return {.target = instance.target,
            .config = instance.config,
            .any_alignment = instance.any_alignment,
            .by_threads = instance.by_threads,
            .is_step = instance.is_step};
  }
  static const MatmulProblem& matmul(const MatmulInstance&, const MatmulProblem& problem) {
    return problem;
  }
  static double operand_bytes(const MatmulProblem&) { return 0; }
  static std::string call(const MatmulProblem& problem) { return call_of(problem); }
  static constexpr const char* noun = "product";
  static int distance(const MatmulConfig& config, const MatmulProblem& problem) {
    return distance_between(config, problem);
  }
};

}  // namespace

std::string call_of(const MatmulProblem& problem) { return call_of("matmul", problem); }

std::vector<Choice> candidates(const MatmulProblem& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections) {
  return launches_of<Products>(problem, request, rejections);
}

Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections) {
  return choose_launch<Products>(choice, problem, request, rejections);
}

}  // namespace tw
