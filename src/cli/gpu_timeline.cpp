#include "src/cli/gpu_timeline.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tw::cli {

namespace {

constexpr std::uint64_t picoseconds_per_nanosecond = 1000;

// What a track of a CTA is, as kernel/warp_specialized.h and kernel/streaming.h number them.
struct TrackFacts {
  std::string role;
  std::string ring;  // its name, or what stands for a ring
  std::string waits_on;
  bool reads_stages = false;
};

class Tracks {
 public:
  Tracks(unsigned count, const Structure& structure) : structure_(structure) {
    const auto played = [&](Role role) {
      unsigned groups = 0;
      for (const Structure::Played& one : structure.roles) {
        if (one.role == role) groups = one.groups;
      }
      return groups;
    };
    groups_ = played(Role::Multiply);
    const unsigned stores = played(Role::Epilogue) > 0 ? played(Role::Epilogue) : groups_;
    scales_ = 1 + groups_ + stores;
    sources_ = scales_ + (played(Role::LoadScales) > 0 ? 1 : 0);
    schedule_ = sources_ + (played(Role::Source) > 0 ? stores : 0);
    rings_ = count / (schedule_ + (played(Role::Schedule) > 0 ? 1 : 0));
    for (const Structure::Flow& flow : structure.flows) {
      for (const Part& part : flow.parts) {
        if (part.loaded_by.role == Role::LoadScales) scales_ring_ = flow.name;
      }
    }
  }
  // Each role has a track for every ring of a program.
  TrackFacts of(unsigned track) const {
    if (groups_ == 0) return {"stream", "tile", "", true};
    const unsigned role = track / rings_;
    const std::string ring = structure_.flows.entries[track % rings_].name;
    if (role == 0) return {"load", ring, ring + ".empty"};
    if (role <= groups_) {
      return {"multiply " + std::to_string(role - 1), ring, ring + ".full", true};
    }
    if (role < scales_) {
      return {"store " + std::to_string(role - 1 - groups_), ring, "output buffer"};
    }
    if (role < sources_) return {Role::LoadScales.name, scales_ring_, scales_ring_ + ".empty"};
    if (role < schedule_) return {Role::Source.name, "source", "source.empty"};
    return {Role::Schedule.name, "work", "work.began"};
  }

 private:
  const Structure& structure_;
  unsigned groups_ = 0;
  unsigned scales_ = 0, sources_ = 0, schedule_ = 0;  // their first tracks, in roles
  unsigned rings_ = 1;
  std::string scales_ring_;  // that of the operands, or one of its own
};

// That of the CTA's role, which may have waited for another ring before.
vgpu::Timeline::Track& track_of(vgpu::Timeline& timeline, unsigned cta, const std::string& role,
                                unsigned index) {
  for (vgpu::Timeline::Track& track : timeline.tracks) {
    if (track.cta == cta && track.role == role) return track;
  }
  timeline.tracks.push_back({cta, role, index, ~std::uint64_t{0}, 0, {}});
  return timeline.tracks.back();
}

}  // namespace

vgpu::Timeline timeline_of(const GpuTrace& trace, const Structure& structure) {
  vgpu::Timeline timeline;
  const Tracks tracks(trace.tracks, structure);
  std::uint64_t origin = ~std::uint64_t{0};
  for (std::size_t track = 0; track < trace.counts.size(); ++track) {
    if (trace.counts[track] > 0) {
      origin = std::min(origin, trace.events[track * trace.capacity].waits);
    }
  }
  const auto time = [&](std::uint64_t nanoseconds) {
    return (std::max(nanoseconds, origin) - origin) * picoseconds_per_nanosecond;
  };
  // By CTA, ring and stage, when somebody reads it: beginning and end.
  std::map<std::tuple<unsigned, std::string, int>,
           std::vector<std::pair<std::uint64_t, std::uint64_t>>>
      reads;
  for (std::size_t index = 0; index < trace.counts.size(); ++index) {
    const std::uint32_t kept = std::min(trace.counts[index], trace.capacity);
    if (kept == 0) continue;
    const auto cta = static_cast<unsigned>(index / trace.tracks);
    const auto number = static_cast<unsigned>(index % trace.tracks);
    const TrackFacts facts = tracks.of(number);
    const TraceEvent* const events = trace.events.data() + index * trace.capacity;
    vgpu::Timeline::Track& track = track_of(timeline, cta, facts.role, number);
    track.begin = std::min(track.begin, time(events[0].waits));
    for (const TraceEvent* event = events; event < events + kept; ++event) {
      const auto slot = static_cast<int>(event->slot);
      if (!facts.waits_on.empty()) {
        track.waits.push_back({facts.waits_on, slot, time(event->waits), time(event->goes)});
      }
      const std::uint64_t end = time(std::max(event->goes, event->releases));
      track.end = std::max(track.end, end);
      if (facts.reads_stages) reads[{cta, facts.ring, slot}].push_back({time(event->goes), end});
    }
  }
  for (vgpu::Timeline::Track& track : timeline.tracks) {
    std::stable_sort(track.waits.begin(), track.waits.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }
  for (auto& [where, spans] : reads) {
    std::sort(spans.begin(), spans.end());
    const auto add = [&, key = where](std::uint64_t begin, std::uint64_t end) {
      const auto& [cta, ring, stage] = key;
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
