// The state of an mbarrier, beside the eight bytes of shared memory that stand for it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "tilewright/isa/model.h"
#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

struct Cta;
struct Thread;

// Who arrived in a phase, by role: for reports.
struct ArrivalTally {
  struct Entry {
    const char* role = nullptr;
    unsigned count = 0;
  };
  std::array<Entry, 4> entries;
  unsigned used = 0;

  void add(const char* role) {
    for (unsigned i = 0; i < used; ++i) {
      if (entries[i].role == role) {
        ++entries[i].count;
        return;
      }
    }
    if (used < entries.size()) entries[used++] = {role, 1};
  }
};

// Who completed a phase, and with which k-tile it was busy.
struct LastArrival {
  const Thread* thread = nullptr;  // null: copies did
  std::uint64_t step = 0;
  std::uint64_t time = 0;  // picoseconds
};

struct Mbarrier {
  Cta* cta = nullptr;
  std::uint32_t offset = 0;  // in the CTA's shared memory
  const char* name = nullptr;
  int stage = -1;

  bool initialised = false;
  unsigned arrivals = 0;    // expected in each phase
  unsigned pending = 0;     // still to come in this phase
  std::int64_t bytes = 0;   // expected minus arrived; negative while bytes come first
  std::uint64_t phase = 0;  // completed phases
  std::uint64_t expected_bytes = 0, arrived_bytes = 0;  // in this phase, for reports
  std::uint64_t copies_in_flight = 0;
  std::uint64_t observed_phase = 0;  // phases that some thread has waited for
  bool counts_bytes = false;         // some phase was completed by copies
  ArrivalTally tally, last_tally;
  WaitList waiters;
  std::uint64_t time = 0;                    // latest arrival of this phase
  std::uint64_t completed_time = 0;          // when the last phase completed
  LastArrival newest_arrival, last_arrival;  // this phase's so far, and the last phase's

  // Happens-before.
  ReleaseClock arriving;
  ClockRef done;                     // what the last completed phase released
  ReleaseClock arriving_in_cluster;  // with cluster scope, for who acquires with it
  ClockRef done_in_cluster;
  ClockRef arriving_fenced;  // what the fences of relaxed arrivals came behind
  ClockRef done_fenced;
  Slot copies = no_slot;   // the agent of the copies that signal this barrier
  Epoch copies_epoch = 1;  // stamps copies issued in this phase; unlike `phase` it never starts
                           // again
  Slot init_slot = no_slot;
  Epoch init_epoch = 0;
  Epoch fence_epoch = 0;  // 0: the init was not published by a fence
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t published = never;  // the phase of the cluster barrier that carried the init
  std::uint64_t copied_phases = 0;  // phases up to the last one in which cp.async copies arrived
  std::uint64_t remote_phases = 0;  // phases up to the last one with an arrival from a peer CTA
  std::uint64_t remote_cluster_phase = 0;  // the cluster barrier's phase at that arrival

  const char* copying_role = nullptr;  // the role of the thread that issued the last copy

  // Who keeps this barrier going, as far as we have seen.
  const char* signalling_role() const {
    if (copying_role != nullptr) return copying_role;
    const ArrivalTally& seen = tally.used != 0 ? tally : last_tally;
    return seen.used != 0 ? seen.entries[0].role : nullptr;
  }
  bool busy() const { return pending != arrivals || bytes != 0; }
};

// Barriers of one CTA by offset. Entries never move: waits and copies point at them.
class MbarrierTable {
 public:
  void reset(std::size_t shared_bytes) {
    by_offset_.assign(shared_bytes / 8 + 1, 0);
    barriers_.clear();
  }
  Mbarrier* find(std::uint32_t offset) {
    const std::uint16_t index = by_offset_[offset / 8];
    return index == 0 ? nullptr : &barriers_[index - 1];
  }
  Mbarrier& find_or_create(Cta& cta, std::uint32_t offset) {
    if (Mbarrier* known = find(offset)) return *known;
    Mbarrier& barrier = barriers_.emplace_back();
    barrier.cta = &cta;
    barrier.offset = offset;
    by_offset_[offset / 8] = static_cast<std::uint16_t>(barriers_.size());
    return barrier;
  }
  std::deque<Mbarrier>& all() { return barriers_; }

 private:
  std::vector<std::uint16_t> by_offset_;  // 1 + index into barriers_
  std::deque<Mbarrier> barriers_;
};

}  // namespace tw::vgpu
