#include "src/run/virtual.h"

namespace tw {

VirtualRun run_virtually(const Verified& verified, const vgpu::Options& options) {
  VirtualRun run;
  const Case& of = verified.of();
  if (of.instance->simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  HostProblem ran = verified.given();
  const AnyProblem problem = ran.placed();
  Checked checked;
  run.status = check(checked, *of.trial->description, problem.data());
  if (run.status.is_good()) {
    run.status = of.instance->simulate(checked, {of.order}, options, run.report);
  }
  if (run.status.is_good()) run.comparison = verified.compare(ran);
  return run;
}

}  // namespace tw
