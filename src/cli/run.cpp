// ./tw run: one verified run, on the GPU or on the virtual GPU.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/family_of.h"
#include "src/cli/landing.h"
#include "src/cli/matmul_request.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

struct RunRequest {
  MatmulRequest matmul;
  std::string on;
  int launches = 1;
  ScheduleRequest schedule;
  bool twice = false;
  bool unchecked = false;  // on the virtual GPU
};

std::string title(const MatmulTask& task) {
  const MatmulShape& shape = task.shape;
  const InstanceWords words = words_of(*task.instance);
  return fmt::format("matmul {} x {} x {}{}, {} {}, {} ({} stages)", shape.m, shape.n, shape.k,
                     shape.batch == 1 ? "" : fmt::format(" x {}", shape.batch), words.types,
                     layout_name(shape.a_major, shape.b_major), task.instance->name,
                     task.instance->stages);
}

void run(const RunRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::Off);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, seed, instance] = *resolved.value;
  const Result<vgpu::Options> schedule = request.schedule.resolve();
  if (!schedule.status.is_good()) return verdict.refuse(schedule.status.sentence());
  const Result<bool> place = runs_on_gpu(request.on, *instance);
  if (!place.status.is_good()) return verdict.refuse(place.status.sentence());
  const bool on_gpu = *place.value;
  Comparison comparison;
  std::string findings;
  double seconds = 0;
  if (on_gpu) {
    MatmulData data = make_matmul_data(shape, fill, seed);
    const auto begin = std::chrono::steady_clock::now();
    const Status status = run_on_gpu(*instance, order, data, shape, request.launches);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!status.is_good()) return verdict.refuse(status.sentence());
    comparison = compare(data, reference_on_gpu(data, shape));
    if (request.twice) {
      MatmulData again = make_matmul_data(shape, fill, seed);
      const Status second = run_on_gpu(*instance, order, again, shape, request.launches);
      if (!second.is_good()) return verdict.refuse(second.sentence());
      if (!same_outputs(data, again)) findings = not_deterministic;
    }
  } else {
    const VerifiedProblem problem(shape, fill, seed);
    vgpu::Options options = *schedule.value;
    options.check = !request.unchecked;
    const VirtualRun run = run_virtually(*instance, order, problem, TraceBuffer{}, options);
    if (!run.status.is_good()) return verdict.refuse(run.status.sentence());
    comparison = run.comparison;
    seconds = run.seconds;
    if (run.report.verdict() != vgpu::Report::Clean) findings = run.complaint();
    if (request.twice && findings.empty() && comparison.good()) {
      const VirtualRun again =
          run_virtually(*instance, order, problem, TraceBuffer{}, another_schedule(options));
      findings = again.complaint();
      if (findings.empty() && !same_outputs(run.data, again.data)) findings = not_deterministic;
    }
  }
  const std::string replay = run_line(*resolved.value) +
                             (on_gpu ? " --on gpu" : schedule_words(*schedule.value)) +
                             (request.twice ? " --twice" : "");
  fmt::print("{} on {}: ", title(*resolved.value), on_gpu ? gpu_name() : "the virtual GPU");
  if (!findings.empty()) {
    fmt::print("findings\n{}replay: {}\n", findings, replay);
    verdict.status = 1;
  } else if (!comparison.good()) {
    fmt::print("wrong, of {} elements\n{}replay: {}\n", shape.outputs(), comparison.complaint(),
               replay);
    verdict.status = 1;
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact, {:.3f} s\n", shape.outputs(), seconds);
  } else {
    fmt::print("the worst error is {:.2f} of its bound, {:.3f} s\n", comparison.worst, seconds);
  }
}

}  // namespace

void add_run(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<RunRequest>();
  CLI::App* command = app.add_subcommand("run", "one verified run");
  request->matmul.add_options(*command);
  add_on_option(*command, request->on);
  command->add_option("--launches", request->launches, "launches on the GPU before D is read")
      ->check(CLI::Range(1, 1000000));
  request->schedule.add_options(*command);
  command->add_flag("--twice", request->twice,
                    "run again, on the virtual GPU with another schedule: the bytes must be equal");
  command->add_flag("--unchecked", request->unchecked, "run the virtual GPU without its checkers");
  add_run_conv2d(*command, verdict);
  add_run_described(*command, all_families(), verdict);
  command->callback([command, request, &verdict] {
    if (command->get_subcommands().empty()) run(*request, verdict);
  });
}

}  // namespace tw::cli
