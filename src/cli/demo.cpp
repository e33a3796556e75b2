// ./tw demo: every instance on whatever is here, verified.
#include <fmt/format.h>

#include <chrono>

#include "src/cli/command.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"
#include "src/matmul/task.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

void show_row(const char* where, const MatmulInstance& instance, const MatmulShape& shape,
              bool good, const std::string& verdict, double seconds) {
  const std::string words = epilogue_words(shape.epilogue);
  fmt::print("{:<11} {:<7} {:<30} {:<20} {:<6} {:<13} {:<16} {:<6} {:<30} {:>7.3f} s\n", where,
             instance.target, instance.name, words_of(instance).types, words_of(instance).layout,
             fmt::format("{}x{}x{}", shape.m, shape.n, shape.k), words.empty() ? "-" : words,
             good ? "ok" : "WRONG", verdict, seconds);
}

// Ragged and plain, and round with an epilogue.
std::vector<MatmulShape> shapes_for(const MatmulInstance& instance) {
  MatmulShape plain = usual_shape(instance);
  plain.m = fitting_rows(instance, 257);
  plain.n = 129;
  plain.k = 200;
  plain.epilogue.output_scale = fitting_output_scale(plain, Fill::Integers);
  MatmulShape mixed = plain;
  mixed.m = fitting_rows(instance, 256);
  mixed.n = 384;
  mixed.k = 320;
  mixed.epilogue.alpha = 2.0f;
  mixed.epilogue.beta = -0.5f;
  mixed.epilogue.column_bias = true;
  mixed.epilogue.activation = Activation::Relu;
  mixed.epilogue.output_scale = fitting_output_scale(mixed, Fill::Integers);
  return {plain, mixed};
}

void demo(Verdict& verdict) {
  const std::string no_gpu = why_no_gpu();
  fmt::print("{:<11} {:<7} {:<30} {:<20} {:<6} {:<13} {:<16} {:<6} {:<30} {:>9}\n", "on", "target",
             "kernel", "types", "layout", "m x n x k", "epilogue", "", "", "time");
  for (const MatmulInstance& instance : matmul_instances()) {
    if (instance.config.tracing == Tracing::On) continue;
    MatmulOrder order = usual_order(instance);
    if (instance.config.split == Split::Parts) order.split_k = 3;
    for (const MatmulShape& shape : shapes_for(instance)) {
      const VerifiedProblem problem(shape, Fill::Integers, 1);
      if (instance.simulate != nullptr) {
        const VirtualRun run =
            run_virtually(instance, order, problem, TraceBuffer{}, vgpu::Options{});
        show_row("virtual GPU", instance, shape, run.clean(),
                 run.clean() ? "exact; no race, hang or leak" : run.complaint(), run.seconds);
        if (!run.clean()) verdict.status = 1;
      }
      if (why_not_on_gpu(instance).empty()) {
        MatmulData data = problem.data;
        const auto begin = std::chrono::steady_clock::now();
        const Status status = run_on_gpu(instance, order, data, shape, 1);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        const Comparison comparison = compare(data, problem.reference);
        const bool good = status.is_good() && comparison.good();
        show_row("GPU", instance, shape, good,
                 good ? "exact" : status.sentence() + comparison.complaint(), seconds.count());
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
