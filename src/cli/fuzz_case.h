// What the fuzzer asks of a random case, whatever family it is of.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/cli/landing.h"
#include "src/instances/shape.h"
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
  std::function<ShrunkCase()> shrink;  // makes a failing case smaller
};

// Makes a failing case smaller, one thing at a time. `fails` says whether a candidate still does.
template <class Case>
class CaseShrinker {
 public:
  CaseShrinker(const Case& failing, std::function<bool(const Case&)> fails,
               int tries = shrink_tries)
      : best_(failing), fails_(std::move(fails)), tries_(tries) {}

  // Tries all that `round` attempts, again and again, until nothing more can go.
  Case shrink(const std::function<void(CaseShrinker&)>& round) {
    do {
      simpler_ = false;
      round(*this);
    } while (simpler_ && tries_ > 0);
    return best_;
  }
  const Case& best() const { return best_; }
  // Changes a copy of the best so far, and keeps it where it still fails.
  template <class Change>
  void attempt(const Change& change) {
    Case candidate = best_;
    change(candidate);
    if (same_problem(candidate, best_)) return;
    if (tries_-- <= 0 || !fails_(candidate)) return;
    best_ = candidate;
    simpler_ = true;
  }
  // A number towards `least`: by all that is left, by half, by one.
  template <class Number>
  void reduce(const Number& number, std::int64_t least) {
    for (const int part : {1, 2, 0}) {
      attempt([&](Case& candidate) {
        auto& value = number(candidate);
        if (value > least) value -= part == 0 ? 1 : (value - least) / part;
      });
    }
  }

 private:
  Case best_;
  std::function<bool(const Case&)> fails_;
  int tries_;
  bool simpler_ = true;
};

// Makes a random case of one instance.
using CaseMaker = std::function<AnyCase(std::mt19937_64& random)>;

inline vgpu::Options random_schedule(unsigned cluster, std::mt19937_64& random) {
  vgpu::Options schedule;
  schedule.landing = landings[random() % std::size(landings)].second;
  schedule.seed = random() % 1000000;
  schedule.sm_count = cluster + static_cast<unsigned>(random() % 6);
  return schedule;
}

}  // namespace tw::cli
