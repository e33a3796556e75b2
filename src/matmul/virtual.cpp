#include "src/matmul/virtual.h"

#include <chrono>

namespace tw {

std::string VirtualRun::complaint() const {
  if (!status.is_good()) return status.sentence();
  std::string text;
  for (const vgpu::Finding& finding : report.findings)
    text += finding.name + ": " + finding.text + "\n";
  for (const std::string& what : report.incomplete) text += "incomplete: " + what + "\n";
  if (comparison.wrong > 0) {
    text += "wrong result: " + std::to_string(comparison.wrong) + " elements. " + comparison.first +
            "\n";
  }
  if (comparison.padding_touched > 0) {
    text += "wrong result: " + std::to_string(comparison.padding_touched) +
            " elements of padding were written.\n";
  }
  return text;
}

VirtualRun run_virtually(const MatmulInstance& instance, const MatmulOrder& order,
                         const VerifiedProblem& problem, const TraceBuffer& trace,
                         const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = Status::refused(
        "This build has no virtual GPU: the compiled Boost.Context was not found when it was "
        "configured.");
    return run;
  }
  MatmulData data = problem.data;
  const auto begin = std::chrono::steady_clock::now();
  run.status =
      instance.simulate(problem_on_host(data, problem.shape), order, trace, options, run.report);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (run.status.is_good()) {
    run.comparison = compare(data, problem.reference, problem.shape, problem.fill);
  }
  return run;
}

}  // namespace tw
