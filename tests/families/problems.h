// The one generator of matmul problems, for the virtual GPU and for the real one.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/families/matmul.h"
#include "tests/families/seed.h"
#include "tests/families/task.h"

namespace tw::tests {

// Every instance in turn, or as many of them, evenly, as there are to be problems; run_line() names
// a problem.
inline std::vector<MatmulTask> random_problems(int count, int largest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<MatmulTask> problems;
  const auto instances = matmul_trial.instances();
  const int of = static_cast<int>(instances.size());
  for (int i = 0; i < count; ++i) {
    const int index = count < of ? i * of / count : i % of;
    problems.push_back(random_task(instances[static_cast<std::size_t>(index)], largest, random));
  }
  return problems;
}

}  // namespace tw::tests
