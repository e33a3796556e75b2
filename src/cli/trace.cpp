// ./tw trace: what the roles of a kernel wait for, from the virtual GPU or from the GPU.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/checkout.h"
#include "src/cli/command.h"
#include "src/cli/family_of.h"
#include "src/cli/matmul_request.h"
#include "src/cli/trace_request.h"
#include "src/matmul/gpu.h"
#include "src/matmul/virtual.h"
#include "src/run/matmul.h"
#include "src/run/on_gpu.h"

namespace tw::cli {

namespace {

struct MatmulTraceRequest : TraceRequest {
  MatmulRequest matmul;
  std::string on;
  unsigned capacity = 4096;
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

// Of any instance, as it is.
void trace_virtually(const MatmulTraceRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::Off);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, seed, instance] = *resolved.value;
  const VerifiedProblem problem(shape, fill, seed);
  vgpu::Options options;
  options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
  vgpu::Timeline timeline;
  VirtualRun run;
  {
    const vgpu::Recording recording(timeline);
    run = run_virtually(*instance, order, problem, TraceBuffer{}, options);
  }
  if (!run.status.is_good()) return verdict.refuse(run.status.sentence());
  if (!run.clean()) {
    fmt::print(stderr, "{}", run.complaint());
    verdict.status = 1;
  }
  request.write(timeline,
                fmt::format("matmul {} x {} x {}, {}", shape.m, shape.n, shape.k, instance->name),
                verdict);
}

// Of an instance that is compiled with tracing.
void trace_on_gpu(const MatmulTraceRequest& request, Verdict& verdict) {
  const Result<MatmulTask> resolved = request.matmul.resolve(Tracing::On);
  if (!resolved.status.is_good()) return verdict.refuse(resolved.status.sentence());
  const auto& [shape, order, fill, seed, instance] = *resolved.value;
  const unsigned tracks = product_facts(*instance).tracks;
  std::vector<TraceEvent> events(std::size_t{max_ctas} * tracks * request.capacity);
  std::vector<std::uint32_t> counts(max_ctas * tracks);
  if (const std::string why = why_not_on_gpu(*instance); !why.empty()) return verdict.refuse(why);
  MatmulData data = make_matmul_data(shape, fill, seed);
  const Status status =
      tw::trace_on_gpu(*instance, order, data, shape, events, counts, request.capacity);
  if (!status.is_good()) return verdict.refuse(status.sentence());
  const Comparison comparison = compare(data, reference_on_gpu(data, shape));
  if (!comparison.good()) {
    fmt::print(stderr, "{}", comparison.complaint());
    verdict.status = 1;
  }
  counts.resize(std::size_t{request.ctas} * tracks);
  std::uint64_t lost = 0;
  const nlohmann::json timeline = perfetto(events, counts, request.capacity, tracks,
                                           config_of(*instance).multiply_groups, lost);
  if (!write_file(request.output, timeline.dump() + "\n", verdict)) return;
  fmt::print(
      "{}: {} events from {} in {}; {} acquires did not fit (--capacity {}); open it at "
      "ui.perfetto.dev\n",
      instance->name, timeline["traceEvents"].size(), gpu_name(), request.output, lost,
      request.capacity);
}

}  // namespace

void add_trace(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<MatmulTraceRequest>();
  request->output = in_checkout("out/trace.json");
  CLI::App* command = app.add_subcommand("trace", "what the roles of a kernel wait for, and when");
  request->matmul.add_options(*command);
  request->add_options(*command);
  command
      ->add_option("--on", request->on,
                   "virtual, or gpu: of an instance that is compiled with tracing; empty: virtual")
      ->check(CLI::IsMember({"gpu", "virtual"}));
  command->add_option("--capacity", request->capacity, "acquires kept per role and CTA, on the GPU")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
  Families others = all_families();  // matmul also on the GPU, by the options above
  static std::vector<const Trial*> trials(others.trials.begin(), others.trials.end());
  std::erase(trials, &matmul_trial);
  others.trials = trials;
  add_trace_described(*command, others, request->output, verdict);
  command->callback([command, request, &verdict] {
    if (!command->get_subcommands().empty()) return;
    request->on == "gpu" ? trace_on_gpu(*request, verdict) : trace_virtually(*request, verdict);
  });
}

}  // namespace tw::cli
