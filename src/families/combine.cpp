#include <cmath>

#include "src/verify/trial_of.h"
#include "tilewright/family/combine/family.h"
#include "tilewright/family/combine/kernel.h"

namespace tw {

std::span<const Instance> combine_instances();  // by src/instances/table.cpp.in

namespace {

struct CombineTrial : CombineFamily, UsualTrial {
  static std::span<const Instance> instances() { return combine_instances(); }
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    problem.tokens = between(random, 1, 9);
    problem.columns = 8 * between(random, 1, random() % 4 == 0 ? 300 : 20);
    problem.k = between(random, 1, random() % 4 == 0 ? 16 : 4);
    problem.rows = between(random, 0, 40);
    problem.source.type = random() % 3 == 0 ? TW_FP16 : TW_BF16;
    adopt(&problem, *made.instance, [](const char*) { return false; });
  }
  // All have the source's type.
  static void adopt(void* given, const Instance&, const IsGiven& is_given) {
    Problem& problem = *static_cast<Problem*>(given);
    for (const auto& [name, type] : {std::pair("output_type", &problem.output.type),
                                     std::pair("addend_type", &problem.addend.type)}) {
      if (!is_given(name)) *type = problem.source.type;
    }
  }
  // One place of eight lies outside of what there is.
  static void fill(HostProblem& data, const Case& of) {
    detail::fill_inputs(data, of);
    const Problem& problem = of.problem.as<Problem>();
    Random random(of.seed + 2);
    data.tensor(places).fill([&](auto, auto, auto) -> double {
      constexpr std::int64_t last = INT32_MAX;
      const std::int64_t outside[] = {-1, -last - 1, problem.rows, last};
      if (problem.rows == 0 || random() % 8 == 0) {
        return static_cast<double>(outside[random() % std::size(outside)]);
      }
      return static_cast<double>(between(random, 0, problem.rows - 1));
    });
  }

  // Bit by bit: each product joins the sum before by one fused operation, in order.
  static void reference(const Checked& on_host) {
    const Problem& problem = on_host.as<Problem>();
    const auto at = [&](unsigned tensor, std::int64_t row, std::int64_t column) {
      const TensorLines& lines = on_host.tensor(tensor);
      return static_cast<std::byte*>(lines.data) +
             (row * lines.pitch + column) * std::int64_t{bytes_of(lines.type)};
    };
    const auto value = [&](unsigned tensor, std::int64_t row, std::int64_t column) {
      return static_cast<float>(read_element(on_host.tensor(tensor).type, at(tensor, row, column)));
    };
    for (std::int64_t token = 0; token < problem.tokens; ++token) {
      for (std::int64_t column = 0; column < problem.columns; ++column) {
        float sum = 0;
        for (std::int64_t i = token * problem.k; i < (token + 1) * problem.k; ++i) {
          const std::int64_t row = problem.places[i];
          if (row < 0 || row >= problem.rows) continue;
          const float weight = problem.weights == nullptr ? 1.0f : problem.weights[i];
          sum = std::fma(weight, value(source, row, column), sum);
        }
        if (has_addend(problem)) sum += value(addend, token, column);
        write_element(on_host.tensor(output).type, at(output, token, column), sum);
      }
    }
  }
  static InstanceWords list(const Instance&) {
    return {"16 bit", "-", "1x1024", "1x1", "-", "-", "static"};
  }
  static constexpr auto tracks = tracks_of_stream<CombineConfig>;
};

}  // namespace

extern const Trial combine_trial;
const Trial combine_trial = trial_of<CombineTrial>();

}  // namespace tw
