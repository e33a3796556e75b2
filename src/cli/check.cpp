// ./tw check: many schedules of one problem on the virtual GPU, with every checker on.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/family_of.h"
#include "src/cli/landing.h"
#include "src/cli/matmul_request.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

struct CheckRequest {
  MatmulRequest matmul;
  unsigned schedules = 40;
  unsigned sms = 4;
  bool json = false;
};

void check(const CheckRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::Off);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, seed, instance] = *resolved.value;

  const VerifiedProblem problem(shape, fill, seed);
  std::atomic<unsigned> next = 0;
  std::mutex mutex;
  unsigned clean = 0;
  std::string first_complaint;
  Status refused = Status::good();
  const auto work = [&] {
    for (unsigned i = next++; i < request.schedules; i = next++) {
      vgpu::Options options;
      options.sm_count = request.sms;
      options.landing = landings[i % std::size(landings)].second;
      options.seed = seed + i;
      const VirtualRun run = run_virtually(*instance, order, problem, TraceBuffer{}, options);
      const std::lock_guard lock(mutex);
      if (!run.status.is_good()) {
        refused = run.status;
        next = request.schedules;
      } else if (run.clean()) {
        ++clean;
      } else if (first_complaint.empty()) {
        first_complaint = fmt::format("schedule {}:\n{}replay: {}{}\n", i, run.complaint(),
                                      run_line(*resolved.value), schedule_words(options));
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (!refused.is_good()) return verdict.refuse(refused.sentence());

  fmt::print("matmul {} x {} x {}, {}: {} of {} schedules are clean, seeds {} to {}\n", shape.m,
             shape.n, shape.k, instance->name, clean, request.schedules, seed,
             seed + request.schedules - 1);
  if (!first_complaint.empty()) fmt::print("{}", first_complaint);
  if (request.json) {
    fmt::print("{}\n", nlohmann::json({{"instance", instance->name},
                                       {"schedules", request.schedules},
                                       {"clean", clean},
                                       {"complaint", first_complaint}})
                           .dump());
  }
  verdict.status = clean == request.schedules ? 0 : 1;
}

}  // namespace

void add_check(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<CheckRequest>();
  CLI::App* command = app.add_subcommand("check", "many schedules on the virtual GPU");
  request->matmul.m = 257;
  request->matmul.n = 129;
  request->matmul.k = 200;
  request->matmul.add_options(*command);
  command->add_option("--schedules", request->schedules, "how many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--sms", request->sms, "SMs of the virtual GPU")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--json", request->json, "print the verdict as JSON last");
  add_check_conv2d(*command, verdict);
  add_check_described(*command, all_families(), verdict);
  command->callback([command, request, &verdict] {
    if (command->get_subcommands().empty()) check(*request, verdict);
  });
}

}  // namespace tw::cli
