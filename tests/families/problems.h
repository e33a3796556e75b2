// The one generator of matmul problems, for the virtual GPU and for the real one.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "src/matmul/data.h"
#include "src/matmul/instance.h"

namespace tw::tests {

struct RandomProblem {
  MatmulShape shape;
  MatmulOrder order;
  const MatmulInstance* instance;
  std::uint64_t seed;

  std::string name() const {
    return std::string(instance->name) + " " + std::to_string(shape.m) + "x" +
           std::to_string(shape.n) + "x" + std::to_string(shape.k) + " alpha " +
           std::to_string(shape.alpha) + " beta " + std::to_string(shape.beta) +
           (shape.bias ? " bias" : "") + " group " + std::to_string(order.group) + " seed " +
           std::to_string(seed);
  }
};

inline std::uint64_t base_seed() {
  const char* text = std::getenv("TW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261115;
}

// Ragged everywhere, with the corners 0 and 1 and exact tile multiples mixed in. Scales are powers
// of two, so that integer data stay exact.
inline std::vector<RandomProblem> random_problems(int count, int largest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto extent = [&](int limit) -> std::int64_t {
    switch (random() % 10) {
      case 0: return 1;
      case 1: return std::int64_t{64} * static_cast<std::int64_t>(1 + random() % (limit / 64));
      case 2: return random() % 8 == 0 ? 0 : 8;
      default: return static_cast<std::int64_t>(1 + random() % limit);
    }
  };
  std::vector<const MatmulInstance*> instances;
  for (const MatmulInstance& instance : matmul_instances()) instances.push_back(&instance);
  std::vector<RandomProblem> problems;
  for (int i = 0; i < count; ++i) {
    RandomProblem problem;
    problem.shape.m = extent(largest);
    problem.shape.n = extent(largest);
    problem.shape.k = extent(largest);
    const float scales[] = {1.0f, 1.0f, 2.0f, -0.5f};
    problem.shape.alpha = scales[random() % 4];
    problem.shape.beta = random() % 3 == 0 ? scales[random() % 4] : 0.0f;
    problem.shape.bias = random() % 3 == 0;
    problem.order = {static_cast<int>(random() % 5),
                     random() % 2 == 0 ? Raster::AlongM : Raster::AlongN};
    problem.seed = random() % 1000000;
    problem.instance = instances[static_cast<std::size_t>(i) % instances.size()];
    problems.push_back(problem);
  }
  return problems;
}

}  // namespace tw::tests
