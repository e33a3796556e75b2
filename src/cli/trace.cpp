// ./tw trace: a timeline of the warp roles for Perfetto, from the GPU or from the virtual one.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/checkout.h"
#include "src/cli/command.h"
#include "src/cli/matmul_request.h"
#include "src/matmul/gpu.h"
#include "src/matmul/virtual.h"

namespace tw::cli {

namespace {

struct TraceRequest {
  MatmulRequest matmul;
  std::string on;
  std::string output = in_checkout("out/trace.json");
  unsigned capacity = 4096;
  unsigned ctas = 16;
};

// More CTAs than a grid has: it is as large as the device.
constexpr unsigned max_ctas = 256;

std::string track_name(unsigned track, unsigned groups) {
  if (track == 0) return "load";
  if (track <= groups) return fmt::format("multiply {}", track - 1);
  return fmt::format("store {}", track - 1 - groups);
}

// Waits are slices of the role; a slot in use is an asynchronous slice, because slots overlap.
nlohmann::json perfetto(const std::vector<TraceEvent>& events,
                        const std::vector<std::uint32_t>& counts, unsigned capacity,
                        unsigned tracks, unsigned groups, std::uint64_t& lost) {
  nlohmann::json list = nlohmann::json::array();
  std::uint64_t origin = ~std::uint64_t{0};
  for (std::size_t track = 0; track < counts.size(); ++track) {
    if (counts[track] > 0) origin = std::min(origin, events[track * capacity].waits);
  }
  lost = 0;
  for (std::size_t track = 0; track < counts.size(); ++track) {
    if (counts[track] == 0) continue;
    const auto cta = track / tracks, role = track % tracks;
    const std::string name = track_name(static_cast<unsigned>(role), groups);
    const nlohmann::json where = {{"pid", cta}, {"tid", role}};
    const auto add = [&](const char* phase, const std::string& title, std::uint64_t at) {
      nlohmann::json event = where;
      event["ph"] = phase;
      event["name"] = title;
      event["cat"] = name;
      event["ts"] = static_cast<double>(at - origin) / 1000.0;
      list.push_back(event);
      return &list.back();
    };
    nlohmann::json label = where;
    label.update({{"ph", "M"}, {"name", "thread_name"}, {"args", {{"name", name}}}});
    list.push_back(label);
    const std::uint32_t kept = std::min(counts[track], capacity);
    lost += counts[track] - kept;
    for (std::uint32_t i = 0; i < kept; ++i) {
      const TraceEvent& event = events[track * capacity + i];
      const std::string slot = fmt::format("slot {}", event.slot);
      const std::string id = fmt::format("{}.{}.{}", cta, role, event.slot);
      (*add("X", "wait for " + slot, event.waits))["dur"] =
          static_cast<double>(event.goes - event.waits) / 1000.0;
      (*add("b", slot, event.goes))["id"] = id;
      (*add("e", slot, event.releases))["id"] = id;
    }
  }
  return {{"traceEvents", list}, {"displayTimeUnit", "ns"}};
}

void trace(const TraceRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::On);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, seed, instance] = *resolved.value;
  const Result<bool> place = runs_on_gpu(request.on, *instance);
  if (!place.status.is_good()) return verdict.refuse(place.status.sentence());
  const bool on_gpu = *place.value;

  std::vector<TraceEvent> events(std::size_t{max_ctas} * instance->tracks * request.capacity);
  std::vector<std::uint32_t> counts(max_ctas * instance->tracks);
  if (on_gpu) {
    MatmulData data = make_matmul_data(shape, fill, seed);
    const Status status =
        trace_on_gpu(*instance, order, data, shape, events, counts, request.capacity);
    if (!status.is_good()) return verdict.refuse(status.sentence());
    const Comparison comparison = compare(data, reference_on_gpu(data, shape));
    if (!comparison.good()) {
      fmt::print(stderr, "{}", comparison.complaint());
      verdict.status = 1;
    }
  } else {
    const VerifiedProblem problem(shape, fill, seed);
    vgpu::Options options;
    options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
    const TraceBuffer buffer = {events.data(), counts.data(), request.capacity};
    const VirtualRun run = run_virtually(*instance, order, problem, buffer, options);
    if (!run.status.is_good()) return verdict.refuse(run.status.sentence());
    if (!run.clean()) {
      fmt::print(stderr, "{}", run.complaint());
      verdict.status = 1;
    }
  }
  counts.resize(std::size_t{request.ctas} * instance->tracks);
  std::uint64_t lost = 0;
  const nlohmann::json timeline = perfetto(events, counts, request.capacity, instance->tracks,
                                           instance->config.multiply_groups, lost);
  const std::filesystem::path path(request.output);
  std::error_code ignored;  // a folder that cannot be made shows when the file is written
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path);
  file << timeline.dump() << "\n";
  file.close();
  if (!file) return verdict.refuse(fmt::format("The file '{}' cannot be written.", request.output));
  fmt::print(
      "{} events from {} in {}; {} acquires did not fit (--capacity {}); open it at "
      "ui.perfetto.dev\n",
      timeline["traceEvents"].size(), on_gpu ? gpu_name() : "the virtual GPU", request.output, lost,
      request.capacity);
}

}  // namespace

void add_trace(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<TraceRequest>();
  CLI::App* command = app.add_subcommand("trace", "a timeline of the warp roles for Perfetto");
  request->matmul.add_options(*command);
  add_on_option(*command, request->on);
  command->add_option("-o,--output", request->output, "the file to write")->capture_default_str();
  command->add_option("--ctas", request->ctas, "CTAs to write, the first of the grid")
      ->check(CLI::Range(1u, max_ctas))
      ->capture_default_str();
  command->add_option("--capacity", request->capacity, "acquires kept per role and CTA")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
  command->callback([request, &verdict] { trace(*request, verdict); });
}

}  // namespace tw::cli
