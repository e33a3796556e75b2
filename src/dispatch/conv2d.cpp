#include "src/dispatch/conv2d.h"

#include "tilewright/host/conv2d_check.h"

namespace tw {

namespace {

struct Convolutions {
  static auto instances() { return conv2d_instances(); }
  static KernelFacts facts(const Conv2dInstance& instance) {
    return {.target = instance.target,
            .config = instance.config,
            .any_alignment = instance.by_threads && !instance.spans_groups,
            .by_threads = instance.by_threads && instance.spans_groups,
            .streams = instance.depthwise};
  }
  static MatmulProblem matmul(const Conv2dInstance& instance, const Conv2dProblem& given) {
    const Conv2dProblem problem = with_patches(given);
    const Tiling& tiling = instance.config.tiling;
    if (!instance.spans_groups) return as_matmul(problem, instance.by_threads ? 1 : tiling.k());
    MatmulProblem matmul = as_pieces(problem, tiling);
    // Words are what is read of lines.
    if (by_lines(problem)) matmul.a.pitch = matmul.b.pitch = 2;
    return matmul;
  }
  // Of image and filter, each read once: the matmul's operands repeat the image.
  static double operand_bytes(const Conv2dProblem& problem) {
    const auto image = static_cast<double>(problem.n * problem.image_pixels() * problem.c);
    const auto filter =
        static_cast<double>(problem.k * problem.positions() * (problem.c / problem.groups));
    return (image + filter) * bytes_of(problem.type);
  }
  static std::string call(const Conv2dProblem& problem) { return call_of(problem); }
  static constexpr const char* noun = "convolution";
  static constexpr bool only_in_parts = true;  // gradients of filters
  static int distance(const MatmulConfig& config, const Conv2dProblem& problem) {
    return 4 * (direction_of(config) != problem.direction) +
           2 * (config.tiling.a_type != problem.type) + (config.d_type != problem.d_type);
  }
};

}  // namespace

std::vector<Conv2dChoice> candidates(const Conv2dProblem& problem, const DispatchRequest& request,
                                     std::vector<Conv2dRejection>* rejections) {
  return launches_of<Convolutions>(problem, request, rejections);
}

Status choose(Conv2dChoice& choice, const Conv2dProblem& problem, const DispatchRequest& request,
              std::vector<Conv2dRejection>* rejections) {
  return choose_launch<Convolutions>(choice, problem, request, rejections);
}

MatmulOrder order_of(const Conv2dInstance& instance, const Conv2dProblem& problem, unsigned sms) {
  const DispatchRequest request = {
      .target = instance.target, .sms = sms, .instance = instance.name};
  return cheapest_of(candidates(problem, request, nullptr)).order;
}

}  // namespace tw
