#include "src/verify/virtual.h"

#include "src/verify/trace_room.h"

namespace tw {

VirtualRun run_virtually(const Verified& verified, const vgpu::Options& options, HostProblem* ran) {
  VirtualRun run;
  const Case& of = verified.of();
  if (of.instance->simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  HostProblem data = verified.given();
  const AnyProblem problem = data.placed();
  Checked checked;
  TraceRoom room(of);
  run.status = check(checked, *of.trial->description, problem.data());
  if (run.status.is_good()) {
    try {
      run.status =
          of.instance->simulate(checked, {of.order, {}, room.buffer()}, options, run.report);
      if (run.status.is_good()) run.comparison = verified.compare(data);
    } catch (const Refusal& refusal) {  // a launch that no GPU takes
      run.report.incomplete.push_back(std::string("The launch is refused. ") + refusal.what());
    }
  }
  if (ran != nullptr) *ran = std::move(data);
  return run;
}

}  // namespace tw
