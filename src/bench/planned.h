// Launches as a caller of the library gets them: plans of its C interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/bench/buffers.h"
#include "src/bench/measure.h"
#include "tilewright.h"

namespace tw::bench {

// The functions of one family's plans.
template <class Problem, class Plan>
struct PlanCalls {
  tw_status (*create)(Plan**, const Problem*, const tw_matmul_options*);
  void (*destroy)(Plan*);
  size_t (*workspace_size)(const Plan*);
  const char* (*command)(const Plan*);
  tw_status (*run)(const Plan*, const Problem*, void*, size_t, void*);
};

// "bf16_64x64 /2 m4", of the command that repeats a plan's launch: as name_of says it of a Choice.
std::string name_in_command(const std::string& command);

// One plan, run on each set's problem; a refusal is a measurement that did not run.
template <class Problem, class Plan>
Candidate planned(const PlanCalls<Problem, Plan>& calls, const std::vector<Problem>& problems) {
  tw_matmul_options options;
  tw_matmul_init(nullptr, &options);
  options.workspace_is_ready = 1;
  Plan* made = nullptr;
  if (calls.create(&made, &problems[0], &options) != TW_OK) {
    const Status status = Status::refused(tw_message());
    return {"tilewright", [status](int, void*) { return status; }};
  }
  const std::shared_ptr<Plan> plan(made, calls.destroy);
  const auto memory = std::make_shared<DeviceWorkspace>(calls.workspace_size(made));
  return {name_in_command(calls.command(made)),
          [calls, plan, memory, problems](int set, void* stream) {
            const Workspace& workspace = memory->workspace;
            const tw_status status =
                calls.run(plan.get(), &problems[set], workspace.data, workspace.bytes, stream);
            return status == TW_OK ? Status::good() : Status::refused(tw_message());
          }};
}

}  // namespace tw::bench
