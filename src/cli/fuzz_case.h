// What the fuzzer asks of a random case, whatever family it is of.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "src/cli/landing.h"
#include "tilewright/base/status.h"

namespace tw::cli {

inline constexpr int shrink_tries = 300;

struct Outcome {
  Status status = Status::good();  // refused: nothing ran
  std::string complaint;           // empty: all oracles are content
  bool failed() const { return status.is_good() && !complaint.empty(); }
};

struct ShrunkCase {
  std::string line;
  std::string complaint;
};

struct AnyCase {
  const char* instance;
  std::string line;  // ./tw run ...
  std::function<Outcome()> judge;
  std::function<ShrunkCase()> shrink;  // of a case that fails
};

// Of one instance.
using CaseMaker = std::function<AnyCase(std::mt19937_64& random)>;

inline vgpu::Options random_schedule(unsigned cluster, std::mt19937_64& random) {
  vgpu::Options schedule;
  schedule.landing = landings[random() % std::size(landings)].second;
  schedule.seed = random() % 1000000;
  schedule.sm_count = cluster + static_cast<unsigned>(random() % 6);
  return schedule;
}

}  // namespace tw::cli
