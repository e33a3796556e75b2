#include "src/cli/trace_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/gpu_timeline.h"
#include "src/cli/product_request.h"
#include "src/cli/save.h"
#include "src/cli/still_going.h"
#include "src/verify/device.h"
#include "src/verify/on_gpu.h"
#include "src/verify/trace_room.h"
#include "src/verify/virtual.h"

namespace tw::cli {

namespace {

// The same problem for another instance of the family. Throws Refused.
Case with_instance(const Case& made, const std::string& name) {
  for (const Instance& one : made.trial->instances()) {
    if (one.name != name) continue;
    Case other = made;
    other.instance = &one;
    if (const Status status = serves(other); !status.is_good()) {
      refuse("--beside {}: {}", name, status.sentence());
    }
    return other;
  }
  refuse("--beside is '{}', but {} has no such instance, and a file ends with .json.", name,
         made.trial->description->name);
}

// The instance itself, or the same with tracing. Throws Refused.
const Instance& traced(const Case& made) {
  const Instance& asked = *made.instance;
  if (tracks_of(made) > 0) return asked;
  for (const Instance& one : made.trial->instances()) {
    if (one.name == std::string("traced_") + asked.name) return one;
  }
  refuse(
      "The instance {} is not compiled with tracing; ./tw trace {} --on gpu --instance {} "
      "compiles it so.",
      asked.name, made.trial->description->name, asked.name);
}

}  // namespace

void TraceRequest::add_options(CLI::App& command) {
  command.add_option(
      "-o,--output", output,
      "the file to write for Perfetto; without it, --html and --svg: out/trace.json");
  command.add_option("--html", html, "a page to write, for any browser");
  command.add_option("--svg", svg, "a picture to write");
  command.add_option(
      "--beside", beside,
      "another instance, or a file that ./tw trace wrote elsewhere, on the same page");
  command.add_option("--ctas", ctas, "CTAs to write, the first of the grid")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  command.add_option("--on", on, "virtual, or gpu: by a kernel that ./tw compiles with tracing")
      ->check(CLI::IsMember({"gpu", "virtual"}));
  command.add_option("--acquires", capacity, "acquires kept per role and CTA, on the GPU")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
}

std::optional<RecordedRun> TraceRequest::record(const Case& made, vgpu::Options options,
                                                Verdict& verdict) const {
  if (on == "gpu") return record_on_gpu(made, verdict);
  options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
  const Verified verified(made);
  RecordedRun recorded = {title_of(made), "the virtual GPU", true, {}};
  VirtualRun run;
  {
    const vgpu::Recording recording(recorded.timeline);
    run = run_virtually(verified, options);
  }
  if (!run.status.is_good()) {
    verdict.refuse(run.status.sentence());
    return std::nullopt;
  }
  if (!run.clean()) {
    fmt::print(stderr, "{}", run.complaint());
    verdict.status = 1;
  }
  return recorded;
}

std::optional<RecordedRun> TraceRequest::record_on_gpu(const Case& made, Verdict& verdict) const {
  Case on_it = made;
  on_it.instance = &traced(made);
  const Structure* const structure = structure_named(on_it.instance->name);
  if (structure == nullptr) {
    refuse("This program has {} without its structure.", on_it.instance->name);
  }
  GpuTrace trace;
  trace.capacity = capacity;
  const Verified verified(on_it, true);
  const Result<Comparison> ran = trace_on_gpu(verified, trace);
  if (!ran.status.is_good()) {
    verdict.refuse(ran.status.sentence());
    return std::nullopt;
  }
  if (!ran.value->good()) {
    fmt::print(stderr, "{}", ran.value->complaint());
    verdict.status = 1;
  }
  if (const std::uint64_t lost = trace.lost(); lost > 0) {
    fmt::print("{} acquires did not fit (--acquires {})\n", lost, capacity);
  }
  return RecordedRun{title_of(made), gpu_name(*made.instance), false,
                     timeline_of(trace, *structure)};
}

void TraceRequest::run(const Case& made, const vgpu::Options& options, Verdict& verdict) const {
  const StillGoing still_going("recording");
  std::vector<RecordedRun> runs;
  const auto add = [&](std::optional<RecordedRun> recorded) {
    if (recorded) runs.push_back(std::move(*recorded));
    return verdict.status != 2;
  };
  if (!add(record(made, options, verdict))) return;
  if (beside.ends_with(".json")) {
    Result<RecordedRun> read = read_run(beside);
    if (!read.status.is_good()) refuse("{}", read.status.sentence());
    runs.push_back(std::move(*read.value));
  } else if (!beside.empty()) {
    if (!add(record(with_instance(made, beside), options, verdict))) return;
  }
  write(runs, verdict);
}

bool write_file(const std::string& name, const std::string& text, Verdict& verdict) {
  const Status saved = save(name, text);
  if (!saved.is_good()) verdict.refuse(saved.sentence());
  return saved.is_good();
}

void TraceRequest::write(const std::vector<RecordedRun>& runs, Verdict& verdict) const {
  const nlohmann::json events = perfetto(runs.front(), ctas);
  const std::string& file = output.empty() && html.empty() && svg.empty() ? usual_output : output;
  if (!file.empty() && file == usual_output) {
    std::error_code ignored;  // a folder that cannot be made shows when the file is written
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  }
  if (!file.empty() && !write_file(file, events.dump() + "\n", verdict)) return;
  if (!html.empty() && !write_file(html, html_page(runs, ctas), verdict)) return;
  if (!svg.empty() && !write_file(svg, svg_picture(runs, ctas), verdict)) return;
  for (const RecordedRun& run : runs) {
    fmt::print("{} on {}\n{}", run.title, run.where, summary(run));
  }
  if (!file.empty()) {
    fmt::print("{} events in {}; open it at ui.perfetto.dev\n", events["traceEvents"].size(), file);
  }
  if (!svg.empty()) fmt::print("{} shows it\n", svg);
  if (!html.empty()) fmt::print("{} opens in any browser\n", html);
}

void add_trace_described(CLI::App& command, const Families& families, const std::string& output,
                         Verdict& verdict) {
  auto request = std::make_shared<TraceRequest>();
  request->usual_output = output;
  add_described(
      command, families,
      [request](const Case& made, const vgpu::Options& options, Verdict& said) {
        request->run(made, options, said);
      },
      verdict, [request](CLI::App& family) { request->add_options(family); });
}

}  // namespace tw::cli
