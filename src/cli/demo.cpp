// ./tw demo: every instance on whatever is here, verified.
#include <fmt/format.h>

#include <chrono>

#include "src/cli/command.h"
#include "src/matmul/gpu.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

void show_row(const char* where, const char* name, const MatmulShape& shape, bool good,
              const std::string& verdict, double seconds) {
  fmt::print("{:<12} {:<22} {:<16} {:<6} {:<34} {:>7.3f} s\n", where, name,
             fmt::format("{}x{}x{}", shape.m, shape.n, shape.k), good ? "ok" : "WRONG", verdict,
             seconds);
}

void demo(Verdict& verdict) {
  const MatmulShape shapes[] = {{257, 129, 200, 1.0f, 0.0f, false},
                                {512, 512, 512, 2.0f, -0.5f, true}};
  const std::string no_gpu = why_no_gpu();
  fmt::print("{:<12} {:<22} {:<16} {:<6} {:<34} {:>9}\n", "on", "kernel", "m x n x k", "", "",
             "time");
  for (const MatmulShape& shape : shapes) {
    const VerifiedProblem problem(shape, Fill::Integers, 1);
    for (const MatmulInstance& instance : matmul_instances()) {
      if (instance.config.tracing == Tracing::On) continue;
      if (instance.simulate != nullptr) {
        const VirtualRun run =
            run_virtually(instance, MatmulOrder{}, problem, TraceBuffer{}, vgpu::Options{});
        show_row("virtual GPU", instance.name, shape, run.clean(),
                 run.clean() ? "exact; no race, hang or leak" : run.complaint(), run.seconds);
        if (!run.clean()) verdict.status = 1;
      }
      if (no_gpu.empty()) {
        MatmulData data = problem.data;
        const auto begin = std::chrono::steady_clock::now();
        const Status status = run_on_gpu(instance, MatmulOrder{}, data, shape, 1);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        const Comparison comparison = compare(data, problem.reference, shape, problem.fill);
        const bool good = status.is_good() && comparison.good();
        show_row("GPU", instance.name, shape, good,
                 good ? "exact" : status.sentence() + comparison.first, seconds.count());
        if (!good) verdict.status = 1;
      }
    }
  }
  if (!no_gpu.empty()) fmt::print("\nNothing ran on a real GPU. {}\n", no_gpu);
}

}  // namespace

void add_demo(CLI::App& app, Verdict& verdict) {
  app.add_subcommand("demo", "every instance on whatever is here, verified")->callback([&verdict] {
    demo(verdict);
  });
}

}  // namespace tw::cli
