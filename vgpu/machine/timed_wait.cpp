#include "vgpu/machine/timed_wait.h"

#include <algorithm>
#include <utility>

namespace tw::vgpu {

namespace {

thread_local Timeline* recorded = nullptr;

// The track of a role; its first thread that waits speaks for it. Null: another one does.
Timeline::Track* track_of(Timeline& timeline, const Thread& thread, bool may_begin) {
  if (thread.role == nullptr) return nullptr;
  for (Timeline::Track& track : timeline.tracks) {
    if (track.cta != thread.cta->index || track.role != thread.role) continue;
    return track.thread == thread.index ? &track : nullptr;
  }
  if (!may_begin) return nullptr;
  timeline.tracks.push_back(
      {thread.cta->index, thread.role, thread.index, thread.time, thread.time, {}});
  return &timeline.tracks.back();
}

}  // namespace

Timeline* recorded_timeline() { return recorded; }

Recording::Recording(Timeline& timeline) : outer_(std::exchange(recorded, &timeline)) {}
Recording::~Recording() { recorded = outer_; }

void TimedWait::write() const {
  const Thread& thread = machine_.current();
  Timeline::Track* const track = track_of(*machine_.timeline, thread, true);
  if (track == nullptr) return;
  track->begin = std::min(track->begin, begin_);
  track->end = std::max(track->end, thread.time);
  track->waits.push_back({on_, stage_, begin_, thread.time});
}

void record_end(Timeline& timeline, const Thread& thread) {
  Timeline::Track* const track = track_of(timeline, thread, false);
  if (track != nullptr) track->end = std::max(track->end, thread.time);
}

void record_phase(Timeline& timeline, const Mbarrier& barrier) {
  if (barrier.name == nullptr) return;
  timeline.phases.push_back({barrier.cta->index, barrier.name, barrier.stage, barrier.time,
                             barrier.arrivals, barrier.expected_bytes});
}

}  // namespace tw::vgpu
