// tw_sequence: plans that one call runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/library/calls.h"
#include "src/library/checks.h"

struct tw_sequence {
  std::vector<std::unique_ptr<tw_plan>> plans;
  std::size_t workspace_bytes = 0;
};

namespace tw::library {

namespace {

constexpr std::size_t most_problems = 4096;

void check_count(std::size_t count) {
  if (count >= 1 && count <= most_problems) return;
  throw Failure{TW_INVALID, fmt::format("A sequence of {} problems is given, but one has at least "
                                        "1 and at most {}.",
                                        count, most_problems)};
}

// Calls `body` with each problem and its index, in their order. A refusal tells the place.
template <class Body>
void for_each_problem(const void* const* problems, std::size_t count, const Body& body) {
  not_null(problems, "address of the problems");
  for (std::size_t i = 0; i < count; ++i) {
    try {
      body(problems[i], i);
    } catch (const Failure& failure) {
      throw Failure{failure.status,
                    fmt::format("Problem {} of {}: {}", i + 1, count, failure.sentence)};
    }
  }
}

std::unique_ptr<tw_sequence> make_sequence(const void* const* problems, std::size_t count,
                                           const tw_options* options) {
  check_count(count);
  auto made = std::make_unique<tw_sequence>();
  for_each_problem(problems, count, [&](const void* problem, std::size_t) {
    made->plans.emplace_back(make_plan(family_of(problem), problem, options));
    made->workspace_bytes =
        std::max(made->workspace_bytes, made->plans.back()->decision.workspace_bytes);
  });
  return made;
}

// All are checked before the first is launched. A thread remembers what it has just checked.
void run_sequence(const tw_sequence& sequence, const void* const* problems, std::size_t count,
                  const Workspace& workspace, void* stream) {
  if (count != sequence.plans.size()) {
    throw Failure{TW_INVALID, fmt::format("{} problems are given, but the sequence was made of {}.",
                                          count, sequence.plans.size())};
  }
  for_each_problem(problems, count, [&](const void* problem, std::size_t i) {
    check_plan(*sequence.plans[i], problem);
  });
  check_workspace(workspace.data, workspace.bytes, sequence.workspace_bytes);
  for_each_problem(problems, count, [&](const void* problem, std::size_t i) {
    run_plan(*sequence.plans[i], problem, workspace, stream);
  });
}

void simulate_sequence(const void* const* problems, std::size_t count, const tw_options* options) {
  check_count(count);
  for_each_problem(problems, count, [&](const void* problem, std::size_t) {
    Prepared prepared(family_of(problem), problem, options);
    prepared.decide_on(problem, virtual_device(prepared.options.target));
    check_virtual_gpu(prepared.decision.choice.instance->simulate != nullptr);
  });
  for_each_problem(problems, count, [&](const void* problem, std::size_t) {
    simulate(family_of(problem), problem, options);
  });
}

}  // namespace

}  // namespace tw::library

using tw::library::guarded;
using tw::library::not_null;

extern "C" {

tw_status tw_sequence_create(tw_sequence** sequence, const void* const* problems, size_t count,
                             const tw_options* options) {
  return guarded([&] {
    not_null(sequence, "address for the sequence") = nullptr;
    *sequence = tw::library::make_sequence(problems, count, options).release();
  });
}

void tw_sequence_destroy(tw_sequence* sequence) { delete sequence; }

size_t tw_sequence_workspace_size(const tw_sequence* sequence) {
  return sequence == nullptr ? 0 : sequence->workspace_bytes;
}

tw_status tw_sequence_run(const tw_sequence* sequence, const void* const* problems, size_t count,
                          void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    tw::library::run_sequence(not_null(sequence, "sequence"), problems, count,
                              {workspace, workspace_bytes}, stream);
  });
}

tw_status tw_sequence_simulate(const void* const* problems, size_t count,
                               const tw_options* options) {
  return guarded([&] { tw::library::simulate_sequence(problems, count, options); });
}

}  // extern "C"
