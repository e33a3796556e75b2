#include "src/verify/virtual_run.h"

#include <chrono>

#include "src/verify/stated.h"

namespace tw {

std::string VirtualRun::complaint() const {
  if (!status.is_good()) return status.sentence();
  std::string text;
  for (const vgpu::Finding& finding : report.findings)
    text += finding.name + ": " + finding.text + "\n";
  for (const std::string& what : report.incomplete) text += "incomplete: " + what + "\n";
  text += comparison.complaint();
  return text;
}

Status no_virtual_gpu() {
  return Status::refused(
      "This build has no virtual GPU: the compiled Boost.Context was not found when it was "
      "configured.");
}

VirtualRun run_virtually(const Instance& instance, const LaunchOrder& order,
                         const VerifiedProblem& problem, const TraceBuffer& trace,
                         const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  run.data = problem.data;
  const auto begin = std::chrono::steady_clock::now();
  const StatedMatmul stated(problem_on_host(run.data, problem.shape));
  run.status = stated.status();
  if (run.status.is_good()) {
    run.status = instance.simulate(stated.checked(), {order, {}, trace}, options, run.report);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (run.status.is_good()) {
    run.comparison = compare(run.data, problem.reference);
  }
  return run;
}

}  // namespace tw
