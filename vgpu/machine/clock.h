// Vector clocks. A slot stands for a GPU thread, or for an agent that works on its own: the copies
// that signal one mbarrier, the tensor core for one warpgroup, the TMA stores of one thread.
//
// A clock says, for each slot, up to which epoch its accesses happened before; for threads it also
// says up to which epoch their generic writes are visible to the async proxy. Clocks are shared and
// never change once shared: threads that leave a barrier together hold the same one.
//
// Slots are a cluster's own. What a clock knows of other clusters, it heard through counters in
// global memory, and keeps a clock for each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tw::vgpu {

using Slot = std::uint16_t;
using Epoch = std::uint32_t;
constexpr Slot no_slot = 0xFFFF;

struct Clock;
class ClockPool;

// Counted by hand: a run is single-threaded, and atomic counts would cost more than the clocks.
class ClockRef {
 public:
  ClockRef() = default;
  explicit ClockRef(Clock* clock);
  ClockRef(const ClockRef& other) : ClockRef(other.clock_) {}
  ClockRef(ClockRef&& other) noexcept : clock_(std::exchange(other.clock_, nullptr)) {}
  ClockRef& operator=(ClockRef other) noexcept {
    std::swap(clock_, other.clock_);
    return *this;
  }
  ~ClockRef();
  const Clock* get() const { return clock_; }
  Clock* edit() const { return clock_; }  // only while nobody else holds it
  const Clock* operator->() const { return clock_; }
  explicit operator bool() const { return clock_ != nullptr; }
  bool operator==(const ClockRef& other) const { return clock_ == other.clock_; }

 private:
  Clock* clock_ = nullptr;
};

// What is known of another cluster; this clock knows of no further one.
struct OtherCluster {
  unsigned cluster;
  ClockRef clock;
};

struct Clock {
  ClockPool* pool = nullptr;
  unsigned references = 0;
  std::vector<Epoch> happened;       // per slot; slots beyond the end: 0
  std::vector<Epoch> visible;        // per thread, to the async proxy
  std::vector<OtherCluster> others;  // by cluster, ascending

  bool covers(Slot slot, Epoch epoch) const {
    return slot < happened.size() && happened[slot] >= epoch;
  }
  bool shows(Slot slot, Epoch epoch) const {
    return slot < visible.size() && visible[slot] >= epoch;
  }
  void raise(Slot slot, Epoch epoch) {
    if (slot >= happened.size()) happened.resize(slot + 1u, 0);
    if (happened[slot] < epoch) happened[slot] = epoch;
  }
  void raise_visible(Slot slot, Epoch epoch) {
    if (slot >= visible.size()) visible.resize(slot + 1u, 0);
    if (visible[slot] < epoch) visible[slot] = epoch;
  }
  // What is known of another cluster; null: nothing.
  const Clock* other(unsigned cluster) const;
  // Raises what is known of that cluster to the clock; true if any entry rose.
  bool raise_other(unsigned cluster, const ClockRef& clock);
  // Raises every entry to the other's; true if any entry rose.
  bool join(const Clock& clock);
  // Nothing in the other clock would be news.
  bool includes(const Clock& clock) const;
};

class ClockPool {
 public:
  Clock* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Clock>());
      all_.back()->pool = this;
      return all_.back().get();
    }
    Clock* clock = free_.back();
    free_.pop_back();
    clock->happened.clear();
    clock->visible.clear();
    return clock;
  }
  void give_back(Clock* clock) {
    clock->others.clear();
    free_.push_back(clock);
  }

 private:
  std::vector<std::unique_ptr<Clock>> all_;
  std::vector<Clock*> free_;
};

inline ClockRef::ClockRef(Clock* clock) : clock_(clock) {
  if (clock_ != nullptr) ++clock_->references;
}
inline ClockRef::~ClockRef() {
  if (clock_ != nullptr && --clock_->references == 0) clock_->pool->give_back(clock_);
}

// What one thread knows: a shared clock, and its own entry, which nobody else can know better.
struct ThreadView {
  ClockRef known;
  Slot self = no_slot;
  Epoch epoch = 1;    // what the thread's next access is stamped with
  Epoch visible = 0;  // own generic writes up to this epoch are visible to the async proxy
};

// Gathers what the threads that arrive at a barrier release.
class ReleaseClock {
 public:
  void add(ClockPool& pool, ThreadView& view);
  // Adds only what agents have done, of all that the thread knows: see mbarrier.cpp.
  void add_agents(ClockPool& pool, const ThreadView& view, Slot first_agent);
  void raise(ClockPool& pool, Slot slot, Epoch epoch);
  ClockRef finish();

 private:
  Clock& gathered(ClockPool& pool);

  ClockRef gathered_;
  ClockRef joined_[2];  // the latest clocks joined: most threads bring the same one
  unsigned next_ = 0;
};

// Joins shared clocks; remembers results, because threads acquire in crowds.
class ClockJoiner {
 public:
  ClockRef join(ClockPool& pool, const ClockRef& left, const ClockRef& right);

 private:
  struct Entry {
    ClockRef left, right, result;
  };
  static constexpr std::size_t entries = 64;
  Entry memory_[entries];
};

// What all of several threads know, for an instruction that they execute together.
class CommonView {
 public:
  void clear() { seen_.clear(); }
  void add(const ThreadView& view);
  ClockRef get(ClockPool& pool) const;

 private:
  struct Seen {
    ClockRef known;
    Slot only;      // the one thread that brought this clock: it knows itself better
    Epoch visible;  // that thread's own writes up to here are visible to the async proxy
  };
  std::vector<Seen> seen_;
};

}  // namespace tw::vgpu
