#include "src/cli/gpu_timeline.h"

#include <algorithm>
#include <map>

namespace tw::cli {

namespace {

constexpr std::uint64_t picoseconds_per_nanosecond = 1000;

// What a track of a CTA is, as kernel/warp_specialized.h numbers them.
struct TrackFacts {
  std::string role;
  std::string waits_on;
  bool reads_stages = false;
};

TrackFacts facts_of(unsigned track, unsigned groups, const std::string& ring) {
  if (track == 0) return {"load", ring + ".empty"};
  if (track <= groups) return {"multiply " + std::to_string(track - 1), ring + ".full", true};
  return {"store " + std::to_string(track - 1 - groups), "output buffer"};
}

}  // namespace

vgpu::Timeline timeline_of(const GpuTrace& trace, const Structure& structure) {
  vgpu::Timeline timeline;
  const std::string ring = structure.flows.count > 0 ? structure.flows.entries[0].name : "ring";
  unsigned groups = 1;
  for (const Structure::Played& played : structure.roles) {
    if (played.role == Role::Multiply) groups = played.groups;
  }
  std::uint64_t origin = ~std::uint64_t{0};
  for (std::size_t track = 0; track < trace.counts.size(); ++track) {
    if (trace.counts[track] > 0) {
      origin = std::min(origin, trace.events[track * trace.capacity].waits);
    }
  }
  const auto time = [&](std::uint64_t nanoseconds) {
    return (std::max(nanoseconds, origin) - origin) * picoseconds_per_nanosecond;
  };
  // By CTA and stage, when somebody reads it: beginning and end.
  std::map<std::pair<unsigned, int>, std::vector<std::pair<std::uint64_t, std::uint64_t>>> reads;
  for (std::size_t index = 0; index < trace.counts.size(); ++index) {
    const std::uint32_t kept = std::min(trace.counts[index], trace.capacity);
    if (kept == 0) continue;
    const auto cta = static_cast<unsigned>(index / trace.tracks);
    const TrackFacts facts = facts_of(static_cast<unsigned>(index % trace.tracks), groups, ring);
    const TraceEvent* const events = trace.events.data() + index * trace.capacity;
    vgpu::Timeline::Track track = {
        cta, facts.role, static_cast<unsigned>(index % trace.tracks), time(events[0].waits), 0, {}};
    for (const TraceEvent* event = events; event < events + kept; ++event) {
      const auto slot = static_cast<int>(event->slot);
      track.waits.push_back({facts.waits_on, slot, time(event->waits), time(event->goes)});
      const std::uint64_t end = time(std::max(event->goes, event->releases));
      track.end = std::max(track.end, end);
      if (facts.reads_stages) reads[{cta, slot}].push_back({time(event->goes), end});
    }
    timeline.tracks.push_back(std::move(track));
  }
  for (auto& [where, spans] : reads) {
    std::sort(spans.begin(), spans.end());
    const auto add = [&, stage = where.second, cta = where.first](std::uint64_t begin,
                                                                  std::uint64_t end) {
      timeline.phases.push_back({cta, ring + ".full", stage, begin, 0, 0});
      timeline.phases.push_back({cta, ring + ".empty", stage, end, 0, 0});
    };
    auto [begin, end] = spans.front();
    for (const auto& [next, last] : spans) {
      if (next > end) {
        add(begin, end);
        begin = next;
      }
      end = std::max(end, last);
    }
    add(begin, end);
  }
  return timeline;
}

}  // namespace tw::cli
