#include "src/cli/fuzzer.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "src/cli/still_going.h"
#include "src/verify/on_gpu.h"

namespace tw::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t enough_failures = 8;
// A problem of --problems is drawn again where it is refused.
constexpr int most_refusals = 100;

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
    const StillGoing still_going([this](double seconds) {
      const std::lock_guard lock(mutex_);
      if (request_.problems > 0) {
        return fmt::format("{} of {} problems are clean, {} failures", clean_, request_.problems,
                           failures_.size());
      }
      return fmt::format("{} problems are clean, {} failures, about {:.0f} s left", clean_,
                         failures_.size(), std::max(0.0, 60.0 * request_.minutes - seconds));
    });
    std::vector<std::thread> threads;
    // The GPU takes one problem after the other.
    const unsigned workers = on_gpu_ ? 1 : std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& thread : threads) thread.join();
    if (on_gpu_) std::filesystem::remove(request_.running());
  }

  std::uint64_t clean() const { return clean_; }
  std::uint64_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }
  const std::set<std::string>& failures() const { return failures_; }
  const std::set<std::string>& tried() const { return tried_; }

 private:
  void work(unsigned worker) {
    if (request_.problems > 0) return work_by_number();
    std::mt19937_64 random(seed_ + worker);
    while (Clock::now() < end_ && !stop_) {
      take(makers_[random() % makers_.size()](random));
    }
  }

  // Each problem has random numbers of its own: how many threads there are changes none.
  void work_by_number() {
    for (std::uint64_t number; !stop_ && (number = next_++) < request_.problems;) {
      std::seed_seq words{seed_, seed_ >> 32, number};
      std::mt19937_64 random(words);
      const CaseMaker& maker = makers_[number % makers_.size()];
      for (int tries = 0; tries < most_refusals && !take(maker(random)); ++tries) {
      }
    }
  }

  // Whether it ran.
  bool take(const AnyCase& one) {
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
    return outcome.status.is_good();
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
    if (request_.corpus.empty()) return;
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
  std::atomic<std::uint64_t> next_ = 0;
  std::uint64_t clean_ = 0;
  std::uint64_t refused_ = 0;
  std::string first_refusal_;
  std::set<std::string> failures_;
  std::set<std::string> tried_;
};

}  // namespace

void FuzzRequest::add_options(CLI::App& command) {
  CLI::Option* const how_long = command.add_option("--minutes", minutes, "how long")
                                    ->check(CLI::Range(0.001, 100000.0))
                                    ->capture_default_str();
  command.add_option("--problems", problems, "how many run instead, in turns of all the instances")
      ->check(CLI::Range(1, 1000000))
      ->excludes(how_long);
  command.add_option("--seed", seed, "0: another one each time");
  command.add_option("--on", on, "gpu or virtual; empty: virtual");
  command.add_option("--arch", arch, "only instances of this target");
  command.add_option("--instance", instance, "only this one");
  command.add_option("--corpus", corpus, "failures are appended to this file")
      ->capture_default_str();
  command.add_flag("--json", json, "print the counts as JSON last");
}

Result<bool> FuzzRequest::place() const {
  if (!on.empty() && on != "gpu" && on != "virtual") {
    return {Status::refused(fmt::format("--on is '{}', but must be gpu or virtual.", on)),
            std::nullopt};
  }
  if (on == "gpu") {
    if (Status status = gpu_name_for(arch).status; !status.is_good()) return {status, std::nullopt};
  }
  return {Status::good(), on == "gpu"};
}

void fuzz_cases(const FuzzRequest& request, bool on_gpu, std::vector<CaseMaker> makers,
                Verdict& verdict) {
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
  Fuzzer fuzzer(request, on_gpu, std::move(makers), seed);
  const auto begin = Clock::now();
  fuzzer.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print(
      "fuzz on {}, seed {}, {:.0f} s, {} of {} instances: {} problems are clean, {} were "
      "refused, {} failures\n",
      on_gpu ? *gpu_name_for(request.arch).value : "the virtual GPU", seed, seconds,
      fuzzer.tried().size(), count, fuzzer.clean(), fuzzer.refused(), fuzzer.failures().size());
  if (fuzzer.refused() > 0) fmt::print("the first refusal: {}\n", fuzzer.first_refusal());
  if (request.json) {
    fmt::print("{}\n", nlohmann::json({{"seed", seed},
                                       {"seconds", seconds},
                                       {"clean", fuzzer.clean()},
                                       {"refused", fuzzer.refused()},
                                       {"failures", fuzzer.failures()}})
                           .dump());
  }
  const std::uint64_t asked = std::max<std::uint64_t>(request.problems, 1);
  if (request.problems > 0 && fuzzer.failures().empty() && fuzzer.clean() < asked) {
    fmt::print("{} of {} problems were refused {} times, each drawn anew\n", asked - fuzzer.clean(),
               asked, most_refusals);
  }
  verdict.status = fuzzer.failures().empty() && fuzzer.clean() >= asked ? 0 : 1;
}

}  // namespace tw::cli
