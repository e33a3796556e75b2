// Runs what the command line says, and writes what came of it.
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/cli/save.h"
#include "src/cli/still_going.h"
#include "src/cli/timeline.h"
#include "src/ptx_tool/request.h"

namespace tw::ptx_tool {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file && text.empty()) throw Refusal(fmt::format("The file '{}' cannot be read.", path));
  return text;
}

void save(const std::string& path, const std::string& text) {
  const Status status = cli::save(path, text);
  if (!status.is_good()) throw Refusal(status.sentence());
}

class Trial {
 public:
  explicit Trial(const PtxRequest& request)
      : request_(request), text_(text_of(request.file)), launch_(make_launch()) {
    for (const std::string& words : request.expectations) {
      expected_.push_back(read_expectation(words));
      check(expected_.back(), launch_->array(expected_.back().array));
    }
    for (const std::string& words : request.saves) {
      const std::size_t equals = words.find('=');
      if (equals == std::string::npos) {
        throw Refusal(fmt::format("--save is '{}', but must be ARRAY=FILE.npy.", words));
      }
      saved_.push_back({words.substr(0, equals), words.substr(equals + 1)});
      (void)launch_->array(saved_.back().array);
    }
  }

  int run() {
    const Result<vgpu::Options> resolved = request_.schedule.resolve();
    if (!resolved.status.is_good()) throw Refusal(resolved.status.sentence());
    outcomes_.resize(request_.schedules);
    {
      const cli::StillGoing still_going([&](double) {
        return fmt::format("{} of {} schedules", done_.load(), request_.schedules);
      });
      run_all(*resolved.value);
    }
    unsigned clean = 0, status = 0;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.status == 0) ++clean;
      if (status == 0) fmt::print("{}", outcome.said);
      if (status == 0) status = outcome.status;
    }
    fmt::print("{}: {} of {} schedules are clean{}\n", launch_->title(), clean, request_.schedules,
               expected_.empty() ? "" : " and right");
    for (const auto& [array, file] : saved_) save(file, npy_text(last_->array(array)));
    write_timeline(*resolved.value);
    return static_cast<int>(status);
  }

 private:
  using Launch = vgpu::ptx::DescribedLaunch;
  std::unique_ptr<Launch> make_launch() const {
    return std::make_unique<Launch>(text_, request_.words(), request_.named_arrays());
  }

  // Schedules are independent: each core runs its own, with arrays of its own.
  void run_all(const vgpu::Options& first) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::min(cores, request_.schedules); ++i) {
      others_.push_back(make_launch());
    }
    for (const auto& other : others_) {
      threads.emplace_back([&, launch = other.get()] { work(*launch, first); });
    }
    work(*launch_, first);
    for (std::thread& thread : threads) thread.join();
    if (failed_ != nullptr) std::rethrow_exception(failed_);
  }
  void work(Launch& launch, const vgpu::Options& first) {
    try {
      for (unsigned i = next_++; i < request_.schedules; i = next_++, ++done_) {
        vgpu::Options options = first;
        options.check = !request_.unchecked;
        options.relaxed = request_.relaxed;
        if (request_.schedules > 1) {
          options.landing = cli::landings[i % std::size(cli::landings)].second;
          options.seed += i / std::size(cli::landings);
        }
        outcomes_[i] = run_once(launch, options, i == 0);
        if (i + 1 == request_.schedules) last_ = &launch;
      }
    } catch (...) {
      const std::lock_guard lock(failing_);
      failed_ = std::current_exception();
    }
  }

  struct Outcome {
    unsigned status = 0;  // the exit status
    std::string said;
  };
  // What a kernel prints, one schedule shows.
  Outcome run_once(Launch& launch, const vgpu::Options& options, bool shows_printed) const {
    const vgpu::Report report = launch.run(options);
    std::string wrong, said;
    for (const Expectation& one : expected_) {
      if (report.verdict() == vgpu::Report::Clean && wrong.empty()) {
        wrong = difference(one, launch.array(one.array));
      }
    }
    for (const std::string& line : launch.printed()) {
      if (shows_printed) said += line + "\n";
    }
    for (const vgpu::Finding& finding : report.findings) {
      said += fmt::format("{}: {}\n", finding.name, finding.text);
    }
    for (const std::string& reason : report.incomplete) {
      said += fmt::format("incomplete: {}\n", reason);
    }
    if (!wrong.empty()) said += fmt::format("wrong: {}\n", wrong);
    if (report.verdict() != vgpu::Report::Clean || !wrong.empty()) {
      said += fmt::format(
          "replay: the same with --schedules 1 --sms {} --landing {} --schedule-seed {}\n",
          options.sm_count, name_of(options.landing), options.seed);
    }
    const bool is_bad = !wrong.empty() || report.verdict() == vgpu::Report::Found;
    return {is_bad ? 1u : report.verdict() == vgpu::Report::Incomplete ? 2u : 0u, said};
  }

  void write_timeline(vgpu::Options options) {
    if (request_.output.empty() && request_.html.empty() && request_.svg.empty()) return;
    options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
    std::vector<cli::RecordedRun> runs = {{launch_->title(), "the virtual GPU", true, {}}};
    {
      const vgpu::Recording recording(runs[0].timeline);
      launch_->run(options);
    }
    if (!request_.output.empty()) {
      save(request_.output, cli::perfetto(runs[0], request_.ctas).dump() + "\n");
    }
    if (!request_.html.empty()) save(request_.html, cli::html_page(runs, request_.ctas));
    if (!request_.svg.empty()) save(request_.svg, cli::svg_picture(runs, request_.ctas));
    fmt::print("{}", cli::summary(runs[0]));
  }

  const PtxRequest& request_;
  const std::string text_;
  const std::unique_ptr<Launch> launch_;
  std::vector<std::unique_ptr<Launch>> others_;
  std::vector<Expectation> expected_;
  std::vector<Outcome> outcomes_;  // one for each schedule
  std::atomic<unsigned> next_ = 0, done_ = 0;
  std::mutex failing_;
  std::exception_ptr failed_;
  const Launch* last_ = nullptr;  // who ran the last schedule: its arrays are saved
  struct Saved {
    std::string array, file;
  };
  std::vector<Saved> saved_;
};

}  // namespace

int run(const PtxRequest& request) { return Trial(request).run(); }

}  // namespace tw::ptx_tool
