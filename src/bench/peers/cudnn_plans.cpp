#include "src/bench/peers/cudnn_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace tw::bench::cudnn {

namespace {

constexpr std::int64_t most_workspace_bytes = std::int64_t{4} << 30;

// What tells two configurations apart: the engine and its knobs.
std::string name_of(const Functions& functions, const Descriptor& config) {
  Descriptor engine(functions, Kind::Engine);
  void* raw = engine.raw();
  config.get(Attribute::ConfigEngine, Type::Descriptor, 1, &raw);
  std::int64_t index = -1;
  engine.get(Attribute::EngineIndex, Type::Int64, 1, &index);
  std::string name = fmt::format("cudnn:{}", index);
  std::vector<Descriptor> knobs;
  std::vector<void*> raws;
  for (int i = 0; i < knob_types; ++i) {
    raws.push_back(knobs.emplace_back(functions, Kind::KnobChoice).raw());
  }
  const std::int64_t count =
      config.get(Attribute::ConfigKnobChoices, Type::Descriptor, knob_types, raws.data());
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, knob_types); ++i) {
    int type = -1;
    std::int64_t value = -1;
    knobs[i].get(Attribute::KnobType, Type::KnobType, 1, &type);
    knobs[i].get(Attribute::KnobValue, Type::Int64, 1, &value);
    name += fmt::format("{}{}={}", i == 0 ? "/" : ",", type, value);
  }
  return name;
}

std::vector<Descriptor> configs_of(const Target& target, const Descriptor& graph, Heuristic mode) {
  const Functions& functions = *target.functions;
  Descriptor heuristic(functions, Kind::Heuristic);
  heuristic.set(Attribute::HeuristicGraph, graph)
      .set(Attribute::HeuristicMode, Type::HeuristicMode, mode);
  if (target.properties) heuristic.set(Attribute::HeuristicProperties, *target.properties);
  heuristic.finalize();
  const std::int64_t room =
      heuristic.get(Attribute::HeuristicResults, Type::Descriptor, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<void*> raw;
  for (std::int64_t i = 0; i < room; ++i) {
    raw.push_back(configs.emplace_back(functions, Kind::EngineConfig).raw());
  }
  const std::int64_t count =
      heuristic.get(Attribute::HeuristicResults, Type::Descriptor, room, raw.data());
  configs.erase(configs.begin() + std::min(count, room), configs.end());
  return configs;
}

}  // namespace

std::string Target::last_error() const {
  char text[512] = {};
  functions->last_error(text, sizeof text);
  return text;
}

std::vector<Plan> plans_of(const Target& target, const Descriptor& graph, int most,
                           double seconds) {
  std::vector<Plan> plans;
  std::set<std::string> seen;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           seconds;
  };
  for (const Heuristic mode : {Heuristic::A, Heuristic::B, Heuristic::Fallback}) {
    for (const Descriptor& config : configs_of(target, graph, mode)) {
      if (static_cast<int>(plans.size()) == most || (!plans.empty() && is_late())) return plans;
      const std::string name = name_of(*target.functions, config);
      if (!seen.insert(name).second) continue;
      Descriptor plan(*target.functions, Kind::Plan);
      if (target.handle != nullptr) plan.set(Attribute::PlanHandle, Type::Handle, target.handle);
      if (target.properties) plan.set(Attribute::PlanProperties, *target.properties);
      plan.set(Attribute::PlanConfig, config).finalize();
      std::int64_t bytes = 0;
      plan.get(Attribute::PlanWorkspace, Type::Int64, 1, &bytes);
      if (plan.is_good() && bytes <= most_workspace_bytes) plans.push_back({name, plan, bytes});
    }
  }
  return plans;
}

}  // namespace tw::bench::cudnn
