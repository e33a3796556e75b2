// ./tw run: one verified run, on the GPU or on the virtual GPU.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/landing.h"
#include "src/cli/matmul_request.h"
#include "src/matmul/gpu.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

struct RunRequest {
  MatmulRequest matmul;
  std::string on;
  int launches = 1;
  // On the virtual GPU.
  unsigned sms = 4;
  std::string landing = "random";
  std::uint64_t schedule_seed = 1;
  bool unchecked = false;
};

void run(const RunRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::Off);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, instance] = *resolved.value;
  if (!landings.contains(request.landing)) {
    return verdict.refuse(fmt::format(
        "--landing is '{}', but must be eager, lazy, random or adversarial.", request.landing));
  }
  const Result<bool> place = runs_on_gpu(request.on);
  if (!place.status.is_good()) return verdict.refuse(place.status.sentence());
  const bool on_gpu = *place.value;
  Comparison comparison;
  std::string findings;
  double seconds = 0;
  if (on_gpu) {
    MatmulData data = make_matmul_data(shape, fill, request.matmul.seed);
    const auto begin = std::chrono::steady_clock::now();
    const Status status = run_on_gpu(*instance, order, data, shape, request.launches);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!status.is_good()) return verdict.refuse(status.sentence());
    comparison = compare(data, reference_on_gpu(data, shape), shape, fill);
  } else {
    const VerifiedProblem problem(shape, fill, request.matmul.seed);
    vgpu::Options options;
    options.sm_count = request.sms;
    options.landing = landings.at(request.landing);
    options.seed = request.schedule_seed;
    options.check = !request.unchecked;
    const VirtualRun run = run_virtually(*instance, order, problem, TraceBuffer{}, options);
    if (!run.status.is_good()) return verdict.refuse(run.status.sentence());
    comparison = run.comparison;
    seconds = run.seconds;
    if (run.report.verdict() != vgpu::Report::Clean) findings = run.complaint();
  }
  fmt::print("matmul {} x {} x {}, {} ({} stages) on {}: ", shape.m, shape.n, shape.k,
             instance->name, instance->stages, on_gpu ? gpu_name() : "the virtual GPU");
  if (!findings.empty()) {
    fmt::print("findings\n{}", findings);
    verdict.status = 1;
  } else if (!comparison.good()) {
    fmt::print("{} of {} elements are wrong, {} elements of padding were written. {} Seed {}.\n",
               comparison.wrong, shape.m * shape.n, comparison.padding_touched, comparison.first,
               request.matmul.seed);
    verdict.status = 1;
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact, {:.3f} s\n", shape.m * shape.n, seconds);
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
  command->add_option("--sms", request->sms, "SMs of the virtual GPU")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--landing", request->landing,
                   "when copies land on the virtual GPU: eager, lazy, random or adversarial")
      ->capture_default_str();
  command->add_option("--schedule-seed", request->schedule_seed, "of the virtual GPU's schedule")
      ->capture_default_str();
  command->add_flag("--unchecked", request->unchecked, "run the virtual GPU without its checkers");
  command->callback([request, &verdict] { run(*request, verdict); });
}

}  // namespace tw::cli
