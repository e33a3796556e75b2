// Runs what the command line says, and writes what came of it.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

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
      : request_(request), launch_(text_of(request.file), request.words(), request.named_arrays()) {
    for (const std::string& words : request.expectations) {
      expected_.push_back(read_expectation(words));
      check(expected_.back(), launch_.array(expected_.back().array));
    }
    for (const std::string& words : request.saves) {
      const std::size_t equals = words.find('=');
      if (equals == std::string::npos) {
        throw Refusal(fmt::format("--save is '{}', but must be ARRAY=FILE.npy.", words));
      }
      saved_.push_back({&launch_.array(words.substr(0, equals)), words.substr(equals + 1)});
    }
  }

  int run() {
    const Result<vgpu::Options> resolved = request_.schedule.resolve();
    if (!resolved.status.is_good()) throw Refusal(resolved.status.sentence());
    unsigned clean = 0, done = 0, status = 0;
    {
      const cli::StillGoing still_going(
          [&](double) { return fmt::format("{} of {} schedules", done, request_.schedules); });
      for (; done < request_.schedules; ++done) {
        vgpu::Options options = *resolved.value;
        options.check = !request_.unchecked;
        options.relaxed = request_.relaxed;
        if (request_.schedules > 1) {
          options.landing = cli::landings[done % std::size(cli::landings)].second;
          options.seed += done / std::size(cli::landings);
        }
        const unsigned one = run_once(options, status == 0);
        if (one == 0) ++clean;
        if (status == 0) status = one;
      }
    }
    fmt::print("{}: {} of {} schedules are clean{}\n", launch_.title(), clean, request_.schedules,
               expected_.empty() ? "" : " and right");
    for (const auto& [array, file] : saved_) save(file, npy_text(*array));
    write_timeline(*resolved.value);
    return static_cast<int>(status);
  }

 private:
  // The exit status; where `speaks`, the findings are printed.
  unsigned run_once(const vgpu::Options& options, bool speaks) {
    const vgpu::Report report = launch_.run(options);
    std::string wrong;
    for (const Expectation& one : expected_) {
      if (report.verdict() == vgpu::Report::Clean && wrong.empty()) {
        wrong = difference(one, launch_.array(one.array));
      }
    }
    if (speaks) {
      for (const vgpu::Finding& finding : report.findings) {
        fmt::print("{}: {}\n", finding.name, finding.text);
      }
      for (const std::string& reason : report.incomplete) fmt::print("incomplete: {}\n", reason);
      if (!wrong.empty()) fmt::print("wrong: {}\n", wrong);
      if (report.verdict() != vgpu::Report::Clean || !wrong.empty()) {
        fmt::print("replay: the same with --schedules 1 --sms {} --landing {} --schedule-seed {}\n",
                   options.sm_count, name_of(options.landing), options.seed);
      }
    }
    if (!wrong.empty() || report.verdict() == vgpu::Report::Found) return 1;
    return report.verdict() == vgpu::Report::Incomplete ? 2 : 0;
  }

  void write_timeline(vgpu::Options options) {
    if (request_.output.empty() && request_.html.empty() && request_.svg.empty()) return;
    options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
    std::vector<cli::RecordedRun> runs = {{launch_.title(), "the virtual GPU", true, {}}};
    {
      const vgpu::Recording recording(runs[0].timeline);
      launch_.run(options);
    }
    if (!request_.output.empty()) {
      save(request_.output, cli::perfetto(runs[0], request_.ctas).dump() + "\n");
    }
    if (!request_.html.empty()) save(request_.html, cli::html_page(runs, request_.ctas));
    if (!request_.svg.empty()) save(request_.svg, cli::svg_picture(runs, request_.ctas));
    fmt::print("{}", cli::summary(runs[0]));
  }

  const PtxRequest& request_;
  vgpu::ptx::DescribedLaunch launch_;
  std::vector<Expectation> expected_;
  struct Saved {
    const vgpu::ptx::Array* array;
    std::string file;
  };
  std::vector<Saved> saved_;
};

}  // namespace

int run(const PtxRequest& request) { return Trial(request).run(); }

}  // namespace tw::ptx_tool
