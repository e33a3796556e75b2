#include "src/cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace tw::cli {

namespace {

using Track = vgpu::Timeline::Track;

constexpr double picoseconds_per_microsecond = 1e6;

std::uint64_t picoseconds(double microseconds) {
  return static_cast<std::uint64_t>(microseconds * picoseconds_per_microsecond + 0.5);
}

std::string words(const vgpu::Timeline::Wait& wait) {
  return wait.stage < 0 ? wait.on : fmt::format("{} {}", wait.on, wait.stage);
}

}  // namespace

std::vector<FullStage> full_stages(const vgpu::Timeline& timeline) {
  std::vector<FullStage> all;
  std::map<std::tuple<unsigned, std::string, int>, std::uint64_t> since;
  for (const vgpu::Timeline::Phase& phase : timeline.phases) {
    const std::size_t dot = phase.barrier.rfind('.');
    if (dot == std::string::npos) continue;
    const std::tuple key(phase.cta, phase.barrier.substr(0, dot), phase.stage);
    const std::string_view what = std::string_view(phase.barrier).substr(dot + 1);
    if (what == "full") {
      since[key] = phase.time;
    } else if (const auto found = since.find(key); what == "empty" && found != since.end()) {
      const auto& [cta, ring, stage] = key;
      all.push_back({cta, ring, stage, found->second, std::max(found->second, phase.time)});
      since.erase(found);
    }
  }
  return all;
}

std::vector<RoleUse> uses_of(const vgpu::Timeline& timeline) {
  struct Sum {
    std::string role;
    double whole = 0, for_products = 0;
    std::map<std::string, double> waits;
  };
  std::vector<Sum> sums;
  for (const Track& track : timeline.tracks) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const Sum& one) { return one.role == track.role; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), Sum{track.role, 0, 0, {}});
    sum->whole += static_cast<double>(track.end - track.begin);
    for (const vgpu::Timeline::Wait& wait : track.waits) {
      const auto time = static_cast<double>(wait.end - wait.begin);
      sum->waits[wait.on] += time;
      if (wait.on == "wgmma") sum->for_products += time;
    }
  }
  double longest = 0;
  for (const Sum& sum : sums) longest = std::max(longest, sum.whole);
  std::vector<RoleUse> uses;
  for (const Sum& sum : sums) {
    if (sum.whole == 0) continue;
    RoleUse use = {sum.role, sum.whole / longest, 0, -sum.for_products / sum.whole, {}};
    for (const auto& [on, time] : sum.waits) {
      use.causes.push_back({on, time / sum.whole});
      use.waits += time / sum.whole;
    }
    use.for_others += use.waits;
    std::stable_sort(use.causes.begin(), use.causes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    uses.push_back(std::move(use));
  }
  return uses;
}

std::vector<Occupancy> occupancies_of(const vgpu::Timeline& timeline) {
  std::map<unsigned, std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const Track& track : timeline.tracks) {
    const auto known = spans.insert({track.cta, {track.begin, track.end}}).first;
    known->second.first = std::min(known->second.first, track.begin);
    known->second.second = std::max(known->second.second, track.end);
  }
  double whole = 0;
  for (const auto& [cta, span] : spans) whole += static_cast<double>(span.second - span.first);
  std::vector<Occupancy> all;
  for (const FullStage& full : full_stages(timeline)) {
    auto one = std::find_if(all.begin(), all.end(),
                            [&](const Occupancy& other) { return other.ring == full.ring; });
    if (one == all.end()) one = all.insert(all.end(), Occupancy{full.ring, 0, 0});
    one->stages = std::max(one->stages, static_cast<unsigned>(full.stage) + 1);
    if (whole > 0) one->mean += static_cast<double>(full.end - full.begin) / whole;
  }
  return all;
}

std::string bottleneck(const RecordedRun& run) {
  std::vector<RoleUse> uses = uses_of(run.timeline);
  std::erase_if(uses, [](const RoleUse& use) { return use.lasts < 0.5; });
  const auto least = std::min_element(
      uses.begin(), uses.end(),
      [](const RoleUse& a, const RoleUse& b) { return a.for_others < b.for_others; });
  if (least == uses.end()) return "No role waited for anything.";
  return fmt::format("The {} role waits least for others ({:.0f} % of its time): {}{}.",
                     least->role, 100 * least->for_others,
                     run.is_model ? "in the model of time " : "",
                     least->for_others < 0.25 ? "it sets the pace"
                                              : "nobody sets the pace, but what is on its way");
}

std::string summary(const RecordedRun& run) {
  std::string text;
  for (const RoleUse& use : uses_of(run.timeline)) {
    std::string most;
    for (const auto& [on, share] : use.causes) {
      if (share >= 0.01)
        most += fmt::format("{}{} {:.0f} %", most.empty() ? ": " : ", ", on, 100 * share);
    }
    text +=
        fmt::format("  {:<12} waits {:>3.0f} % of its time{}\n", use.role, 100 * use.waits, most);
  }
  for (const Occupancy& one : occupancies_of(run.timeline)) {
    text += fmt::format("  {:<12} {:.1f} of {} stages in use are full in the mean\n", one.ring,
                        one.mean, one.stages);
  }
  return text + bottleneck(run) + "\n";
}

nlohmann::json perfetto(const RecordedRun& run, unsigned ctas) {
  nlohmann::json list = nlohmann::json::array(), tracks = nlohmann::json::array();
  std::map<std::pair<unsigned, std::string>, int> threads;
  const auto thread_of = [&](unsigned cta, const std::string& name) {
    const auto [known, is_new] = threads.insert({{cta, name}, static_cast<int>(threads.size())});
    if (is_new) {
      list.push_back({{"pid", cta},
                      {"ph", "M"},
                      {"name", "process_name"},
                      {"args", {{"name", fmt::format("CTA {}", cta)}}}});
      list.push_back({{"pid", cta},
                      {"tid", known->second},
                      {"ph", "M"},
                      {"name", "thread_name"},
                      {"args", {{"name", name}}}});
    }
    return known->second;
  };
  const auto add = [&](unsigned cta, const std::string& thread, const std::string& name,
                       std::uint64_t begin, std::uint64_t end, nlohmann::json facts) {
    const int id = thread_of(cta, thread);
    list.push_back({{"pid", cta},
                    {"tid", id},
                    {"ph", "X"},
                    {"name", name},
                    {"ts", static_cast<double>(begin) / picoseconds_per_microsecond},
                    {"dur", static_cast<double>(end - begin) / picoseconds_per_microsecond},
                    {"args", std::move(facts)}});
  };
  for (const Track& track : run.timeline.tracks) {
    if (track.cta >= ctas) continue;
    tracks.push_back({{"cta", track.cta},
                      {"tid", thread_of(track.cta, track.role)},
                      {"role", track.role},
                      {"thread", track.thread},
                      {"begin", static_cast<double>(track.begin) / picoseconds_per_microsecond},
                      {"end", static_cast<double>(track.end) / picoseconds_per_microsecond}});
    for (const vgpu::Timeline::Wait& wait : track.waits) {
      add(track.cta, track.role, "wait for " + words(wait), wait.begin, wait.end,
          {{"on", wait.on}, {"stage", wait.stage}});
    }
  }
  for (const FullStage& full : full_stages(run.timeline)) {
    if (full.cta >= ctas) continue;
    add(full.cta, fmt::format("{} stage {}", full.ring, full.stage), "full", full.begin, full.end,
        {{"ring", full.ring}, {"stage", full.stage}});
  }
  return {{"traceEvents", list},
          {"displayTimeUnit", "ns"},
          {"otherData",
           {{"title", run.title},
            {"where", run.where},
            {"is_model", run.is_model},
            {"tracks", tracks}}}};
}

Result<RecordedRun> read_run(const std::string& path) {
  const auto refused = [&](const char* why) -> Result<RecordedRun> {
    return {Status::refused(fmt::format("The file '{}' {}.", path, why)), std::nullopt};
  };
  std::ifstream file(path);
  if (!file) return refused("cannot be read");
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    const nlohmann::json& about = json.at("otherData");
    RecordedRun run = {about.at("title"), about.at("where"), about.at("is_model"), {}};
    std::map<std::pair<unsigned, int>, std::size_t> known;
    for (const nlohmann::json& track : about.at("tracks")) {
      known[{track.at("cta"), track.at("tid")}] = run.timeline.tracks.size();
      run.timeline.tracks.push_back({track.at("cta"),
                                     track.at("role"),
                                     track.at("thread"),
                                     picoseconds(track.at("begin")),
                                     picoseconds(track.at("end")),
                                     {}});
    }
    for (const nlohmann::json& event : json.at("traceEvents")) {
      if (event.at("ph") != "X") continue;
      const double begin = event.at("ts"), length = event.at("dur");
      const nlohmann::json& facts = event.at("args");
      if (facts.contains("on")) {
        run.timeline.tracks.at(known.at({event.at("pid"), event.at("tid")}))
            .waits.push_back({facts.at("on"), facts.at("stage"), picoseconds(begin),
                              picoseconds(begin + length)});
      } else {
        const std::string ring = facts.at("ring");
        run.timeline.phases.push_back(
            {event.at("pid"), ring + ".full", facts.at("stage"), picoseconds(begin), 0, 0});
        run.timeline.phases.push_back({event.at("pid"), ring + ".empty", facts.at("stage"),
                                       picoseconds(begin + length), 0, 0});
      }
    }
    return {Status::good(), std::move(run)};
  } catch (const nlohmann::json::exception&) {
    return refused("is no timeline of ./tw trace");
  } catch (const std::out_of_range&) {
    return refused("is no timeline of ./tw trace");
  }
}

}  // namespace tw::cli
