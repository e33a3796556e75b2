#include "src/cli/run_once.h"

#include <fmt/format.h>

#include "src/cli/described.h"
#include "src/cli/landing.h"
#include "src/cli/product_request.h"
#include "src/cli/still_going.h"
#include "src/verify/device.h"
#include "src/verify/on_gpu.h"
#include "src/verify/virtual.h"

namespace tw::cli {

namespace {

// What came of one or two runs.
struct Ran {
  Status status = Status::good();  // refused: nothing ran
  Comparison comparison;
  std::string findings;  // what the virtual GPU reported

  std::string complaint() const { return findings + comparison.complaint(); }
};

Ran on_virtual_gpu(const Case& made, const vgpu::Options& schedule, bool twice) {
  const Verified verified(made);
  HostProblem first = verified.given(), second = first;
  VirtualRun run = run_virtually(verified, schedule, &first);
  Ran ran = {run.status, run.comparison, ""};
  if (!run.status.is_good()) return ran;
  run.comparison = {};
  ran.findings = run.complaint();
  if (!twice || !ran.complaint().empty()) return ran;
  const VirtualRun again = run_virtually(verified, another_schedule(schedule), &second);
  ran.findings = again.complaint();
  if (ran.findings.empty() && !same_outputs(first, second)) ran.findings = not_deterministic;
  return ran;
}

Ran on_real_gpu(const Case& made, int launches, bool twice) {
  const Verified verified(made, true);
  HostProblem first = verified.given(), second = first;
  Ran ran;
  Result<Comparison> run = run_on_gpu(verified, launches, &first);
  ran.status = run.status;
  if (!run.status.is_good()) return ran;
  ran.comparison = *run.value;
  if (!twice) return ran;
  run = run_on_gpu(verified, launches, &second);
  ran.status = run.status;
  if (run.status.is_good() && !same_outputs(first, second)) ran.findings = not_deterministic;
  return ran;
}

// Throws Refused.
bool runs_on_gpu(const std::string& on, const Instance& instance) {
  if (!on.empty() && on != "gpu" && on != "virtual") {
    refuse("--on is '{}', but must be gpu or virtual.", on);
  }
  if (on == "virtual") return false;
  const std::string no_gpu = why_not_on_gpu(instance);
  if (on == "gpu" && !no_gpu.empty()) throw Refused{no_gpu};
  return no_gpu.empty();
}

}  // namespace

void RunRequest::add_options(CLI::App& command) {
  command.add_option("--on", on, "gpu or virtual; empty: the GPU when there is one that can");
  command.add_option("--launches", launches, "launches on the GPU before outputs are read")
      ->check(CLI::Range(1, 1000000));
  command.add_flag("--twice", twice,
                   "run again, on the virtual GPU with another schedule: the bytes must be equal");
  command.add_flag("--unchecked", unchecked, "run the virtual GPU without its checkers");
}

std::int64_t outputs_of(const Case& made) {
  std::int64_t count = 0;
  for (const TensorField& tensor : made.trial->description->tensors) {
    const TensorExtents extents = tensor.extents(made.problem.data());
    if (tensor.flow == TensorField::Flow::Written &&
        detail::is_present(tensor, made.problem.data())) {
      count += extents.batch * extents.rows * extents.columns;
    }
  }
  return count;
}

void run_once(const Case& made, const RunRequest& request, const vgpu::Options& schedule,
              Verdict& verdict) {
  const bool on_gpu = runs_on_gpu(request.on, *made.instance);
  vgpu::Options options = schedule;
  options.check = !request.unchecked;
  const StillGoing still_going("running");
  const Ran ran = on_gpu ? on_real_gpu(made, request.launches, request.twice)
                         : on_virtual_gpu(made, options, request.twice);
  if (!ran.status.is_good()) throw Refused{ran.status.sentence()};
  fmt::print("{} on {}: ", title_of(made), on_gpu ? gpu_name(*made.instance) : "the virtual GPU");
  const std::string complaint = ran.complaint();
  if (complaint.empty() && ran.comparison.exact) {
    fmt::print("all {} elements are exact\n", outputs_of(made));
  } else if (complaint.empty()) {
    fmt::print("right, the worst error is {:.2f} of its bound\n", ran.comparison.worst);
  } else {
    fmt::print("{}\n{}replay: {}{}{}\n", ran.findings.empty() ? "wrong" : "findings", complaint,
               run_line(made), on_gpu ? " --on gpu" : schedule_words(schedule),
               request.twice ? " --twice" : "");
  }
  verdict.status = complaint.empty() ? 0 : 1;
}

Outcome judge_virtually(const Case& one, const vgpu::Options& schedule, bool twice) {
  const Ran ran = on_virtual_gpu(one, schedule, twice);
  return {ran.status, ran.complaint()};
}

Outcome judge_on_gpu(const Case& one, int launches, bool twice) {
  const Ran ran = on_real_gpu(one, launches, twice);
  return {ran.status, ran.complaint()};
}

}  // namespace tw::cli
