#include <cmath>

#include "src/verify/trial_of.h"
#include "tilewright/family/rms_norm/family.h"
#include "tilewright/family/rms_norm/kernel.h"

namespace tw {

std::span<const Instance> rms_norm_instances();  // by src/instances/table.cpp.in

namespace {

// In float64. Squares of integers are added up without an error, and what follows is rounded to
// float32 step by step, as the kernel does; sums of other squares may err by a share of 2^-18.
class RmsNormAnswer : public Answer {
  using Family = RmsNormFamily;

 public:
  RmsNormAnswer(const Case& of, const HostProblem& given) : is_exact_(of.fill == Fill::Integers) {
    const Family::Problem& problem = of.problem.as<Family::Problem>();
    const HostMatrix &source = given.tensor(Family::source), &weight = given.tensor(Family::weight),
                     &residual = given.tensor(Family::residual);
    const double share = is_exact_ ? 0 : 0x1p-18;
    std::vector<float> row(static_cast<std::size_t>(problem.k));
    for (std::int64_t i = 0; i < problem.m; ++i) {
      double squares = 0;
      for (std::int64_t j = 0; j < problem.k; ++j) {
        auto value = static_cast<float>(source.at(0, i, j));
        if (residual.exists()) {
          value += static_cast<float>(residual.at(0, i, j));
          sum_.push_back({value, 0});
          value = static_cast<float>(rounded_to(source.type, value));
        }
        row[static_cast<std::size_t>(j)] = value;
        squares += static_cast<double>(value) * value;
      }
      const float of_mean = 1.0f / static_cast<float>(problem.k);
      const float raised = std::fma(static_cast<float>(squares), of_mean, problem.epsilon);
      const float inverse = 1.0f / std::sqrt(raised);
      for (std::int64_t j = 0; j < problem.k; ++j) {
        const float scaled = row[static_cast<std::size_t>(j)] * inverse;
        const double value = scaled * static_cast<float>(weight.at(0, 0, j));
        output_.push_back({value, std::abs(value) * share});
      }
    }
  }

  Comparison compare(const HostProblem& ran) const override {
    Comparison result;
    result.exact = is_exact_;
    compare_within(result, "the output", ran.tensor(Family::output), output_);
    compare_within(result, "the sum", ran.tensor(Family::sum), sum_);
    return result;
  }

 private:
  bool is_exact_;
  std::vector<Expected> output_, sum_;  // (row,column)
};

struct RmsNormTrial : RmsNormFamily, UsualTrial {
  static std::span<const Instance> instances() { return rms_norm_instances(); }
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    problem.m = between(random, 1, 9);
    const std::int64_t pieces = 256 * pieces_of(*made.instance);
    problem.k = 8 * between(random, 1, random() % 4 == 0 ? pieces : 300);
    problem.epsilon = random() % 2 == 0 ? 1e-5f : 0.5f;
    problem.source.type = random() % 3 == 0 ? TW_FP16 : TW_BF16;
    adopt(&problem, *made.instance, [](const char*) { return false; });
  }
  // All have the source's type.
  static void adopt(void* given, const Instance&, const IsGiven& is_given) {
    Problem& problem = *static_cast<Problem*>(given);
    for (const auto& [name, type] :
         {std::pair("output_type", &problem.output.type), std::pair("sum_type", &problem.sum.type),
          std::pair("residual_type", &problem.residual.type),
          std::pair("weight_type", &problem.weight_type)}) {
      if (!is_given(name)) *type = problem.source.type;
    }
  }
  static std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
    return std::make_shared<RmsNormAnswer>(of, given);
  }
  static InstanceWords list(const Instance& instance) {
    const std::string columns = std::to_string(2048 * pieces_of(instance));
    return {"16 bit", "-", "1x" + columns, "1x1", "-", "-", "static"};
  }
  static constexpr auto tracks = tracks_of_stream<RmsNormConfig>;

 private:
  static const RmsNormConfig& config_of_instance(const Instance& instance) {
    return *static_cast<const RmsNormConfig*>(instance.facts);
  }
  static unsigned pieces_of(const Instance& instance) {
    return config_of_instance(instance).pieces;
  }
};

}  // namespace

extern const Trial rms_norm_trial;
const Trial rms_norm_trial = trial_of<RmsNormTrial>();

}  // namespace tw
