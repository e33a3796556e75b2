#include "src/families/conv2d_choice.h"

#include "tilewright/family/conv2d/launch.h"

namespace tw {

namespace {

struct Convolutions : UsualChoice {
  static auto instances() { return conv2d_instances(); }
  static const Conv2dFacts& own(const Instance& instance) {
    return *static_cast<const Conv2dFacts*>(instance.facts);
  }
  static KernelFacts facts(const Instance& instance) {
    return {.target = instance.target,
            .config = config_of(instance),
            .any_alignment = own(instance).by_threads && !own(instance).spans_groups,
            .by_threads = own(instance).by_threads && own(instance).spans_groups,
            .streams = own(instance).depthwise,
            .positions = own(instance).by_lines ? line_positions : 1,
            .counts_channels = own(instance).counts_channels,
            .efficiency = instance.efficiency};
  }
  static MatmulProblem priced(const Instance& instance, const KernelProblem& taken) {
    MatmulProblem matmul = taken.product;
    const tw_conv2d_problem problem = with_patches(taken.checked.as<tw_conv2d_problem>());
    const Conv2dFacts& facts = own(instance);
    // Where threads read B's blocks, a line of memory has the channels of one group.
    if (facts.spans_groups && !facts.by_threads) matmul.b.pitch /= groups_together(problem, facts);
    // Words are what is read of lines.
    if (facts.spans_groups && by_lines(problem)) matmul.a.pitch = matmul.b.pitch = 2;
    return matmul;
  }
  // Image and filter, each read once: the matmul's operands repeat the image. Layers run amid other
  // people's norms and activations.
  static double microseconds(const PricedLaunch& launch) {
    const Checked& checked = launch.problem;
    const auto& problem = checked.as<tw_conv2d_problem>();
    const TensorExtents image = Conv2dFamily::image_of(problem),
                        filter = Conv2dFamily::filter_of(problem);
    const auto elements =
        static_cast<double>(image.rows * image.columns + filter.rows * filter.columns);
    return launch.microseconds(Situation::Amid,
                               elements * bytes_of(checked.tensor(Conv2dFamily::image).type));
  }
  static std::string call(const Checked& checked) {
    return call_of(checked.as<tw_conv2d_problem>());
  }
  static const char* does(const Checked&) { return "computes this convolution"; }
  static constexpr bool only_in_parts = true;  // gradients of filters
  static bool is_of_other_kind(const MatmulConfig& config, const Checked& checked) {
    return direction_of(config) != checked.as<tw_conv2d_problem>().direction;
  }
};

}  // namespace

std::vector<LaunchChoice> conv2d_candidates(const Checked& problem, const DispatchRequest& request,
                                            std::vector<LaunchRejection>* rejections) {
  return launches_of<Convolutions>(problem, request, rejections);
}

Status choose_conv2d(LaunchChoice& choice, const Checked& problem, const DispatchRequest& request,
                     std::vector<LaunchRejection>* rejections) {
  return choose_launch<Convolutions>(choice, problem, request, rejections);
}

}  // namespace tw
