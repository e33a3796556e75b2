#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/verify/trial_of.h"
#include "tilewright/family/rotary/family.h"
#include "tilewright/family/rotary/kernel.h"

namespace tw {

std::span<const Instance> rotary_instances();  // by src/instances/table.cpp.in

namespace {

struct RotaryTrial : RotaryFamily, UsualTrial {
  static std::span<const Instance> instances() { return rotary_instances(); }

  // More rows and positions than tokens, and fewer where a list says which.
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    problem.tokens = between(random, 1, 12);
    problem.heads = between(random, 1, random() % 4 == 0 ? 40 : 6);
    problem.key_heads = between(random, 1, 4);
    problem.head_size = 16 * between(random, 1, random() % 4 == 0 ? 20 : 8);
    problem.all_positions = problem.tokens + between(random, 0, 20);
    problem.rows = problem.tokens + between(random, 0, 20);
    problem.qkv.type = random() % 3 == 0 ? TW_FP16 : TW_BF16;
    adopt(&problem, *made.instance, [](const char*) { return false; });
  }
  // All but cosines and sines have the type of qkv.
  static void adopt(void* given, const Instance&, const IsGiven& is_given) {
    Problem& problem = *static_cast<Problem*>(given);
    for (const auto& [name, matrix] :
         {std::pair("q_type", &problem.q), std::pair("k_type", &problem.k),
          std::pair("v_type", &problem.v)}) {
      if (!is_given(name)) matrix->type = problem.qkv.type;
    }
  }

  // Positions are any, some of several tokens; slots differ, and one in four is none. One of eight
  // lies outside of what there is.
  static void fill(HostProblem& data, const Case& of) {
    detail::fill_inputs(data, of);
    const Problem& problem = of.problem.as<Problem>();
    Random random(of.seed + 2);
    const auto outside = [&random](std::int64_t behind) {
      constexpr std::int64_t last = INT32_MAX;
      const std::int64_t all[] = {-1, -last - 1, behind, last};
      return static_cast<double>(all[random() % std::size(all)]);
    };
    data.tensor(positions).fill([&](auto, auto, auto) -> double {
      if (random() % 8 == 0) return outside(problem.all_positions);
      return static_cast<double>(between(random, 0, problem.all_positions - 1));
    });
    std::vector<std::int64_t> places(
        static_cast<std::size_t>(std::max(problem.rows, problem.tokens)));
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), random);
    data.tensor(slots).fill([&](auto, auto, std::int64_t token) -> double {
      const std::int64_t place = places[static_cast<std::size_t>(token)];
      if (random() % 8 == 0) return outside(problem.rows);
      return place >= problem.rows || random() % 4 == 0 ? -1.0 : static_cast<double>(place);
    });
  }

  // Bit by bit: of each sum of two products, the second product is rounded to float32, then the
  // sum, then the result.
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
    const std::int64_t size = problem.head_size, half = size / 2;
    for (std::int64_t token = 0; token < problem.tokens; ++token) {
      const std::int64_t slot = problem.slots == nullptr ? token : problem.slots[token];
      const std::int64_t position =
          problem.positions == nullptr
              ? token
              : std::clamp<std::int64_t>(problem.positions[token], 0, problem.all_positions - 1);
      for (std::int64_t head = 0; head < problem.heads + 2 * problem.key_heads; ++head) {
        const bool is_query = head < problem.heads;
        const bool is_value = head >= problem.heads + problem.key_heads;
        if (!is_query && (slot < 0 || slot >= problem.rows)) continue;
        const unsigned tensor = is_query ? q : is_value ? v : k;
        const std::int64_t first = head - (is_query   ? 0
                                           : is_value ? problem.heads + problem.key_heads
                                                      : problem.heads);
        for (std::int64_t j = 0; j < half; ++j) {
          const float x = value(qkv, token, head * size + j);
          const float y = value(qkv, token, head * size + j + half);
          const float c = is_value ? 1 : value(cosines, position, j);
          const float s = is_value ? 0 : value(sines, position, j);
          const volatile float by_sine[2] = {y * s, x * s};  // rounded
          const auto store = [&](std::int64_t column, float made) {
            write_element(on_host.tensor(tensor).type,
                          at(tensor, is_query ? token : slot, first * size + column), made);
          };
          store(j, is_value ? x : std::fma(x, c, -by_sine[0]));
          store(j + half, is_value ? y : std::fma(y, c, by_sine[1]));
        }
      }
    }
  }
  static InstanceWords list(const Instance&) {
    return {"16 bit", "-", "1 token", "1x1", "-", "-", "static"};
  }
  static constexpr auto tracks = tracks_of_stream<RotaryConfig>;
};

}  // namespace

extern const Trial rotary_trial;
const Trial rotary_trial = trial_of<RotaryTrial>();

}  // namespace tw
