// ./tw fuzz: random problems, instances and schedules until the time is over; a failure is shrunk
// to one `./tw run` line.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "src/checkout.h"
#include "src/cli/choose_instance.h"
#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/fuzz_blockwise.h"
#include "src/cli/fuzz_case.h"
#include "src/cli/fuzz_conv2d.h"
#include "src/cli/landing.h"
#include "src/cli/shrink.h"
#include "src/matmul/gpu.h"
#include "src/matmul/random_task.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct FuzzRequest {
  double minutes = 1.0;
  std::uint64_t seed = 0;  // 0: another one each time
  std::string on;
  std::string arch;
  std::string instance;
  int largest = 0;  // 0: 320 on the virtual GPU, 2000 on the GPU
  std::string corpus = in_checkout("tests/corpus/found.txt");
  bool json = false;
};

std::string running_path(const FuzzRequest& request) { return request.corpus + ".running"; }

constexpr std::size_t enough_failures = 8;

// Exact results are the same bytes anyway.
bool twice(const MatmulTask& task) { return task.fill == Fill::Normal; }

std::string line_of(const FuzzCase& one, bool on_gpu) {
  return run_line(one.task) + (on_gpu ? " --on gpu" : schedule_words(one.schedule)) +
         (twice(one.task) ? " --twice" : "");
}

// Oracles: checkers, reference, poison and padding; and for data whose sums are rounded, that
// another schedule gives the same bytes.
Outcome judge_virtually(const FuzzCase& one) {
  const MatmulTask& task = one.task;
  const VerifiedProblem problem(task.shape, task.fill, task.seed);
  const VirtualRun run =
      run_virtually(*task.instance, task.order, problem, TraceBuffer{}, one.schedule);
  Outcome outcome = {run.status, run.complaint()};
  if (!outcome.status.is_good() || outcome.failed() || !twice(task)) return outcome;
  const VirtualRun again = run_virtually(*task.instance, task.order, problem, TraceBuffer{},
                                         another_schedule(one.schedule));
  outcome.complaint = again.complaint();
  if (!outcome.failed() && !same_outputs(run.data, again.data)) {
    outcome.complaint = not_deterministic;
  }
  return outcome;
}

Outcome judge_on_gpu(const FuzzCase& one) {
  const MatmulTask& task = one.task;
  MatmulData first = make_matmul_data(task.shape, task.fill, task.seed);
  MatmulData second = first;
  Outcome outcome;
  for (MatmulData* data : {&first, &second}) {
    outcome.status = run_on_gpu(*task.instance, task.order, *data, task.shape, 1);
    if (!outcome.status.is_good()) return outcome;
  }
  outcome.complaint = compare(first, reference_on_gpu(first, task.shape)).complaint();
  if (!same_outputs(first, second)) outcome.complaint += not_deterministic;
  return outcome;
}

FuzzCase random_case(const MatmulInstance& instance, int largest, std::mt19937_64& random) {
  FuzzCase one;
  one.task = random_task(instance, largest, random);
  if (random() % 4 == 0) {
    one.task.fill = Fill::Normal;
    one.task.shape.epilogue.output_scale = fitting_output_scale(one.task.shape, Fill::Normal);
  }
  one.schedule = random_schedule(instance.config.tiling.cluster.size(), random);
  return one;
}

// On a GPU a hang or a fault ends the program: the file `running` then tells which case it was.
AnyCase matmul_case(const FuzzCase& one, bool on_gpu, const std::string& running) {
  const auto judge = [on_gpu, running](const FuzzCase& given) {
    if (!on_gpu) return judge_virtually(given);
    std::ofstream(running) << line_of(given, on_gpu) << "\n";
    return judge_on_gpu(given);
  };
  return {one.task.instance->name, line_of(one, on_gpu), [judge, one] { return judge(one); },
          [judge, one, on_gpu] {
            const auto fails = [&judge](const FuzzCase& given) {
              const MatmulTask& task = given.task;
              return serves(*task.instance, task.shape, task.order).is_good() &&
                     judge(given).failed();
            };
            const FuzzCase small = shrink(one, fails, shrink_tries);
            return ShrunkCase{line_of(small, on_gpu), judge(small).complaint};
          }};
}

class Fuzzer {
 public:
  Fuzzer(const FuzzRequest& request, bool on_gpu, std::vector<CaseMaker> makers, std::uint64_t seed)
      : request_(request),
        on_gpu_(on_gpu),
        makers_(std::move(makers)),
        seed_(seed),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(60.0 * request.minutes))) {}

  void run() {
    std::vector<std::thread> threads;
    // The GPU takes one problem after the other.
    const unsigned workers = on_gpu_ ? 1 : std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& thread : threads) thread.join();
    if (on_gpu_) std::filesystem::remove(running_path(request_));
  }

  std::uint64_t clean() const { return clean_; }
  std::uint64_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }
  const std::set<std::string>& failures() const { return failures_; }
  const std::set<std::string>& tried() const { return tried_; }

 private:
  void work(unsigned worker) {
    std::mt19937_64 random(seed_ + worker);
    while (Clock::now() < end_ && !stop_) {
      const AnyCase one = makers_[random() % makers_.size()](random);
      const Outcome outcome = one.judge();
      {
        const std::lock_guard lock(mutex_);
        tried_.insert(one.instance);
        if (!outcome.status.is_good()) {
          if (refused_++ == 0) first_refusal_ = one.line + "\n" + outcome.status.sentence();
        } else if (!outcome.failed()) {
          ++clean_;
        }
      }
      if (outcome.failed()) report(one);
    }
  }

  void report(const AnyCase& failing) {
    const ShrunkCase small = failing.shrink();
    const std::lock_guard lock(mutex_);
    if (failures_.insert(small.line).second) {
      fmt::print("failure\n{}found as: {}\nreplay:   {}\n", small.complaint, failing.line,
                 small.line);
      std::fflush(stdout);
      append(small.line);
    }
    stop_ = failures_.size() >= enough_failures;
  }

  // What the corpus knows already is not written again.
  void append(const std::string& line) const {
    std::ifstream known(request_.corpus);
    for (std::string old; std::getline(known, old);) {
      if (old == line) return;
    }
    std::ofstream(request_.corpus, std::ios::app) << line << "\n";
  }

  const FuzzRequest& request_;
  bool on_gpu_;
  std::vector<CaseMaker> makers_;
  std::uint64_t seed_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::atomic<bool> stop_ = false;
  std::uint64_t clean_ = 0;
  std::uint64_t refused_ = 0;
  std::string first_refusal_;
  std::set<std::string> failures_;
  std::set<std::string> tried_;
};

// Where it runs, or why it cannot.
Result<bool> place(const FuzzRequest& request) {
  if (!request.on.empty() && request.on != "gpu" && request.on != "virtual") {
    return {Status::refused(fmt::format("--on is '{}', but must be gpu or virtual.", request.on)),
            std::nullopt};
  }
  const std::string no_gpu = why_no_gpu();
  if (request.on == "gpu" && !no_gpu.empty()) return {Status::refused(no_gpu), std::nullopt};
  return {Status::good(), request.on == "gpu"};
}

void add_matmul_cases(std::vector<CaseMaker>& makers, const FuzzRequest& request, bool on_gpu) {
  const int largest = request.largest > 0 ? request.largest : on_gpu ? 2000 : 320;
  for (const MatmulInstance& instance : matmul_instances()) {
    if (instance.config.tracing == Tracing::On) continue;
    if (!request.arch.empty() && request.arch != instance.target) continue;
    if (!request.instance.empty() && request.instance != instance.name) continue;
    const bool runs = on_gpu ? why_not_on_gpu(instance).empty() : instance.simulate != nullptr;
    if (!runs) continue;
    makers.push_back([&instance, largest, on_gpu, running = running_path(request)](auto& random) {
      return matmul_case(random_case(instance, largest, random), on_gpu, running);
    });
  }
}

void fuzz(const FuzzRequest& request, Verdict& verdict) {
  std::vector<CaseMaker> makers;
  add_described_cases(makers, request.arch, request.instance, request.on == "gpu",
                      running_path(request));
  if (request.on != "gpu") {
    add_conv2d_cases(makers, request.arch, request.instance);
    add_blockwise_cases(makers, request.arch, request.instance);
  }
  Wish wish;
  wish.arch = request.arch;
  if (makers.empty()) wish.instance = request.instance;  // else another family has it
  if (Status known = check_words(wish); !known.is_good()) return verdict.refuse(known.sentence());
  const Result<bool> on_gpu = place(request);
  if (!on_gpu.status.is_good()) return verdict.refuse(on_gpu.status.sentence());
  add_matmul_cases(makers, request, *on_gpu.value);
  if (makers.empty()) {
    return verdict.refuse(fmt::format("No instance of this build runs on {} for --arch '{}'.",
                                      *on_gpu.value ? "the GPU" : "the virtual GPU", request.arch));
  }
  if (std::isnan(request.minutes)) {  // which no range refuses
    return verdict.refuse("--minutes is nan, but must be a number.");
  }
  const std::filesystem::path corpus(request.corpus);
  if (corpus.has_parent_path() && !std::filesystem::is_directory(corpus.parent_path())) {
    return verdict.refuse(fmt::format("--corpus is '{}', but there is no folder '{}'.",
                                      request.corpus, corpus.parent_path().string()));
  }
  if (std::filesystem::exists(corpus) && !std::filesystem::is_regular_file(corpus)) {
    return verdict.refuse(fmt::format(
        "--corpus is '{}', but must be a file that keeps what is appended.", request.corpus));
  }
  const std::uint64_t seed = request.seed != 0 ? request.seed : std::random_device{}();
  const std::size_t count = makers.size();
  Fuzzer fuzzer(request, *on_gpu.value, std::move(makers), seed);
  const auto begin = Clock::now();
  fuzzer.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print(
      "fuzz on {}, seed {}, {:.0f} s, {} of {} instances: {} problems are clean, {} were "
      "refused, {} failures\n",
      *on_gpu.value ? gpu_name() : "the virtual GPU", seed, seconds, fuzzer.tried().size(), count,
      fuzzer.clean(), fuzzer.refused(), fuzzer.failures().size());
  if (fuzzer.refused() > 0) fmt::print("the first refusal: {}\n", fuzzer.first_refusal());
  if (request.json) {
    fmt::print("{}\n", nlohmann::json({{"seed", seed},
                                       {"seconds", seconds},
                                       {"clean", fuzzer.clean()},
                                       {"refused", fuzzer.refused()},
                                       {"failures", fuzzer.failures()}})
                           .dump());
  }
  verdict.status = fuzzer.failures().empty() && fuzzer.clean() > 0 ? 0 : 1;
}

}  // namespace

void add_fuzz(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<FuzzRequest>();
  CLI::App* command =
      app.add_subcommand("fuzz", "random problems, instances and schedules; failures are shrunk");
  command->add_option("--minutes", request->minutes, "how long")
      ->check(CLI::Range(0.001, 100000.0))
      ->capture_default_str();
  command->add_option("--seed", request->seed, "0: another one each time");
  command->add_option("--on", request->on, "gpu or virtual; empty: virtual");
  command->add_option("--arch", request->arch, "only instances of this target");
  command->add_option("--instance", request->instance, "only this one");
  command->add_option("--largest", request->largest, "of m, n and k; 0: 320, on the GPU 2000")
      ->check(CLI::Range(0, 65536));
  command->add_option("--corpus", request->corpus, "failures are appended to this file")
      ->capture_default_str();
  command->add_flag("--json", request->json, "print the counts as JSON last");
  command->callback([request, &verdict] { fuzz(*request, verdict); });
}

}  // namespace tw::cli
