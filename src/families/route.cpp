#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/verify/trial_of.h"
#include "tilewright/family/route/family.h"
#include "tilewright/family/route/kernel.h"

namespace tw {

std::span<const Instance> route_instances();  // by src/instances/table.cpp.in

namespace {

// One token's experts, by the definition.
class RoutedToken {
  using Problem = tw_route_problem;

 public:
  RoutedToken(const Problem& problem, std::vector<float> logits) : problem_(problem) {
    const bool is_sigmoid = problem.scoring == TW_SIGMOID;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const float logit = number(logits[i]);
      scores_.push_back(is_sigmoid ? elementary::logistic(logit) : logit);
      values_.push_back(
          number(problem.bias == nullptr ? scores_[i] : scores_[i] + problem.bias[i]));
    }
    std::vector<std::int64_t> eligible;
    for (const std::int64_t group : best_groups()) {
      for (std::int64_t i = 0; i < group_size(); ++i) eligible.push_back(group * group_size() + i);
    }
    std::sort(eligible.begin(), eligible.end());
    chosen = best(std::move(eligible), values_, problem.k);
  }

  std::vector<std::int64_t> chosen;

  // Chosen ones are added up in their order; all, by 32 sums, of which neighbours are joined.
  std::vector<float> weights() const {
    std::vector<float> parts;
    const float most = at(scores_, chosen[0]);
    const auto part = [&](float score) {
      if (problem_.scoring == TW_SIGMOID || score == most) {
        return problem_.scoring == TW_SIGMOID ? score : 1.0f;
      }
      return score - most < -87.0f ? 0.0f : elementary::exp(score - most);
    };
    for (const std::int64_t expert : chosen) parts.push_back(part(at(scores_, expert)));
    float sum = 1;
    if (problem_.normalise != 0) {
      sum = std::accumulate(parts.begin(), parts.end(), 0.0f);
      if (problem_.scoring == TW_SIGMOID) sum += 1e-20f;
    } else if (problem_.scoring == TW_SOFTMAX) {
      std::vector<float> sums(32, 0.0f);
      for (std::size_t i = 0; i < scores_.size(); ++i) sums[i % 32] += part(scores_[i]);
      for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
        for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
      }
      sum = sums[0];
    }
    for (float& each : parts) each = each / sum * problem_.scale;
    return parts;
  }

 private:
  static float number(float value) {
    return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
  }
  static float at(const std::vector<float>& values, std::int64_t index) {
    return values[static_cast<std::size_t>(index)];
  }
  std::int64_t group_size() const { return problem_.experts / problem_.groups; }
  // The first `count`, the lower where two are equal.
  static std::vector<std::int64_t> best(std::vector<std::int64_t> of,
                                        const std::vector<float>& values, std::int64_t count) {
    std::stable_sort(of.begin(), of.end(), [&](std::int64_t left, std::int64_t right) {
      return at(values, left) > at(values, right);
    });
    of.resize(static_cast<std::size_t>(count));
    return of;
  }
  std::vector<std::int64_t> best_groups() const {
    std::vector<float> values;
    for (std::int64_t group = 0; group < problem_.groups; ++group) {
      std::vector<float> all(values_.begin() + group * group_size(),
                             values_.begin() + (group + 1) * group_size());
      std::sort(all.begin(), all.end(), std::greater<>());
      values.push_back(number(problem_.group_scores == 1 ? all[0] : all[0] + all[1]));
    }
    std::vector<std::int64_t> groups(static_cast<std::size_t>(problem_.groups));
    std::iota(groups.begin(), groups.end(), 0);
    return best(std::move(groups), values, problem_.top_groups);
  }

  const Problem& problem_;
  std::vector<float> scores_, values_;
};

struct RouteTrial : RouteFamily, UsualTrial {
  static std::span<const Instance> instances() { return route_instances(); }

  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    const std::int64_t most = 32 * of_lane_of(*made.instance);
    problem.tokens = between(random, 0, random() % 4 == 0 ? 100 : 12);
    problem.groups = random() % 2 == 0 ? 1 : between(random, 1, 8);
    problem.experts =
        problem.groups * between(random, 1, (random() % 4 == 0 ? most : 32) / problem.groups);
    problem.top_groups = between(random, 1, problem.groups);
    const std::int64_t size = problem.experts / problem.groups;
    problem.k = between(random, 1, std::min<std::int64_t>(16, size * problem.top_groups));
    problem.scoring = random() % 2 == 0 ? TW_SOFTMAX : TW_SIGMOID;
    problem.normalise = random() % 2 == 0;
    problem.scale = random() % 2 == 0 ? 1 : 2.5f;
    problem.group_scores = problem.scoring == TW_SIGMOID && size > 1 ? between(random, 1, 2) : 1;
    if (problem.scoring == TW_SIGMOID && random() % 2 == 0) {
      problem.bias = static_cast<const float*>(some_address());
    }
    constexpr tw_type types[] = {TW_FP32, TW_BF16, TW_FP16};
    problem.logits.type = types[random() % std::size(types)];
  }

  // One logit of sixteen is no finite number.
  static void fill(HostProblem& data, const Case& of) {
    detail::fill_inputs(data, of);
    Random random(of.seed + 2);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double odd[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), -0.0};
    HostMatrix& all = data.tensor(logits);
    std::normal_distribution<double> normal;
    all.fill([&](auto, auto, auto) -> double {
      if (random() % 16 == 0) return odd[random() % std::size(odd)];
      return of.fill == Fill::Integers ? static_cast<double>(random() % 17) - 8 : normal(random);
    });
    if (!data.tensor(bias).exists()) return;
    data.tensor(bias).fill(
        [&](auto, auto, auto) -> double { return static_cast<double>(random() % 9) / 8 - 0.5; });
  }

  // Bit by bit: sums are in one order.
  static void reference(const Checked& on_host) {
    const Problem& problem = on_host.as<Problem>();
    const TensorLines& lines = on_host.tensor(logits);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(problem.experts));
    for (std::int64_t token = 0; token < problem.tokens; ++token) {
      std::vector<float> of_token;
      for (std::int64_t expert = 0; expert < problem.experts; ++expert) {
        of_token.push_back(static_cast<float>(read_element(
            lines.type, static_cast<std::byte*>(lines.data) +
                            (token * lines.pitch + expert) * std::int64_t{bytes_of(lines.type)})));
      }
      const RoutedToken routed(problem, std::move(of_token));
      const std::vector<float> shares = routed.weights();
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::int64_t at = token * problem.k + static_cast<std::int64_t>(i);
        problem.chosen[at] = static_cast<std::int32_t>(routed.chosen[i]);
        problem.weights[at] = shares[i];
        ++counts[static_cast<std::size_t>(routed.chosen[i])];
      }
    }
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    std::copy(counts.begin(), counts.end(), problem.ends);
    // From the last token on, each takes the last row that its expert has left.
    for (std::int64_t at = problem.tokens * problem.k - 1; at >= 0; --at) {
      const auto row = --counts[static_cast<std::size_t>(problem.chosen[at])];
      problem.places[at] = static_cast<std::int32_t>(row);
      problem.index[row] = static_cast<std::int32_t>(at / problem.k);
    }
  }
  static InstanceWords list(const Instance& instance) {
    const std::string experts = std::to_string(32 * of_lane_of(instance));
    return {"16, 32 bit", "-", "32x" + experts, "1x1", "-", "-", "static"};
  }
  static constexpr auto tracks = tracks_of_stream<RouteConfig>;

 private:
  static std::int64_t of_lane_of(const Instance& instance) {
    return static_cast<const RouteConfig*>(instance.facts)->of_lane;
  }
};

}  // namespace

extern const Trial route_trial;
const Trial route_trial = trial_of<RouteTrial>();

}  // namespace tw
