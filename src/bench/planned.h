// Launches as a caller of the library gets them: plans of its C interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/bench/buffers.h"
#include "src/bench/measure.h"
#include "tilewright.h"

namespace tw::bench {

// "bf16_64x64 /2 m4", of the command that repeats a plan's launch: as name_of says it of a Choice.
std::string name_in_command(const std::string& command);

// One plan, run on each set's problem; a refusal is a measurement that did not run.
template <class Problem>
Candidate planned(const std::vector<Problem>& problems) {
  tw_options options;
  tw_matmul_init(nullptr, &options);
  options.workspace_is_ready = 1;
  tw_plan* made = nullptr;
  if (tw_plan_create(&made, &problems[0], &options) != TW_OK) {
    const Status status = Status::refused(tw_message());
    return {"tilewright", [status](int, void*) { return status; }};
  }
  const std::shared_ptr<tw_plan> plan(made, tw_plan_destroy);
  const auto memory = std::make_shared<DeviceWorkspace>(tw_plan_workspace_size(made));
  return {name_in_command(tw_plan_command(made)), [plan, memory, problems](int set, void* stream) {
            const Workspace& workspace = memory->workspace;
            const tw_status status =
                tw_plan_run(plan.get(), &problems[set], workspace.data, workspace.bytes, stream);
            return status == TW_OK ? Status::good() : Status::refused(tw_message());
          }};
}

}  // namespace tw::bench
