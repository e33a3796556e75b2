// ./tw run: one verified run, on the GPU or on the virtual GPU.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/matmul_request.h"
#include "src/matmul/gpu.h"
#if defined(TW_VGPU)
#include "vgpu/machine/machine.h"
#endif

namespace tw::cli {

namespace {

struct RunRequest {
  MatmulRequest matmul;
  std::string on;
  int launches = 1;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const RunRequest& request, Verdict& verdict) {
  MatmulShape shape;
  MatmulOrder order;
  Fill fill;
  const MatmulInstance* instance = nullptr;
  const Status resolved =
      request.matmul.resolve(shape, instance, order, fill, Tracing::Off);
  if (!resolved.is_good()) return verdict.refuse(resolved.sentence());
  const std::string no_gpu = why_no_gpu();
  if (!request.on.empty() && request.on != "gpu" && request.on != "virtual") {
    return verdict.refuse(fmt::format("--on is '{}', but must be gpu or virtual.", request.on));
  }
  if (request.on == "gpu" && !no_gpu.empty()) return verdict.refuse(no_gpu);
  const bool on_gpu = request.on != "virtual" && no_gpu.empty();
  if (!on_gpu && instance->simulate == nullptr) {
    return verdict.refuse("This build has no virtual GPU: Boost.Context was not found. " + no_gpu);
  }

  MatmulData data = make_matmul_data(shape, fill, request.matmul.seed);
  const auto begin = std::chrono::steady_clock::now();
  Status status = Status::good();
  std::string findings;
  if (on_gpu) {
    status = run_on_gpu(*instance, order, data, shape, request.launches);
  } else {
#if defined(TW_VGPU)
    vgpu::Options options;
    options.seed = request.matmul.seed;
    vgpu::Report report;
    status = instance->simulate(problem_on_host(data, shape), order, TraceBuffer{}, options, report);
    for (const vgpu::Finding& finding : report.findings) findings += finding.text + "\n";
#endif
  }
  if (!status.is_good()) return verdict.refuse(status.sentence());
  const double seconds = seconds_since(begin);
  const MatmulReference reference =
      on_gpu ? reference_on_gpu(data, shape) : reference_on_host(data, shape);
  const Comparison comparison = compare(data, reference, shape, fill);
  const std::string where = on_gpu ? gpu_name() : "the virtual GPU";
  fmt::print("matmul {} x {} x {}, {} ({} stages) on {}: ", shape.m, shape.n, shape.k,
             instance->name, instance->stages, where);
  if (!findings.empty()) {
    fmt::print("findings, seed {}\n{}", request.matmul.seed, findings);
    verdict.status = 1;
  } else if (!comparison.good()) {
    fmt::print("{} of {} elements are wrong, {} bytes of padding were written. {} Seed {}.\n",
               comparison.wrong, shape.m * shape.n, comparison.padding_touched * 2,
               comparison.first, request.matmul.seed);
    verdict.status = 1;
  } else if (fill == Fill::Integers) {
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
  command->add_option("--on", request->on, "gpu or virtual; empty: the GPU when there is one");
  command->add_option("--launches", request->launches, "launches on the GPU before D is read")
      ->check(CLI::Range(1, 1000000));
  command->callback([request, &verdict] { run(*request, verdict); });
}

}  // namespace tw::cli
