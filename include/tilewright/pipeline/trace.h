// A timeline from the tokens: every acquire records when it began to wait, when it went on, and
// when the slot was released. NoTrace is empty and leaves no instruction behind.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/layout/access.h"

namespace tw {

enum class TraceMoment : std::uint32_t { Waits, Goes, Releases };

struct TraceEvent {
  std::uint64_t nanoseconds;
  TraceMoment moment;
  std::uint32_t slot;
};

// A bounded record per track, which is one role of one CTA.
struct TraceBuffer {
  TraceEvent* events = nullptr;     // (capacity, track)
  std::uint32_t* counts = nullptr;  // (track): all events, also those that did not fit
  std::uint32_t capacity = 0;
};

struct NoTrace {
  struct Params {};
  // What a token keeps of its trace.
  struct Handle {
    TW_DEVICE void releases(unsigned) {}
  };
  TW_DEVICE Handle handle() { return {}; }
  TW_DEVICE NoTrace(const Params&, unsigned /*track*/, bool /*speaks*/) {}
  TW_DEVICE void waits(unsigned) {}
  TW_DEVICE void goes(unsigned) {}
  TW_DEVICE void releases(unsigned) {}
};

class EventTrace {
 public:
  using Params = TraceBuffer;
  struct Handle {
    EventTrace* trace = nullptr;
    TW_DEVICE void releases(unsigned slot) {
      if (trace != nullptr) trace->releases(slot);
    }
  };
  TW_DEVICE Handle handle() { return {this}; }
  // One thread of the role speaks for all.
  TW_DEVICE EventTrace(const Params& buffer, unsigned track, bool speaks)
      : buffer_(buffer), track_(track), speaks_(speaks) {}
  TW_DEVICE void waits(unsigned slot) { record(TraceMoment::Waits, slot); }
  TW_DEVICE void goes(unsigned slot) { record(TraceMoment::Goes, slot); }
  TW_DEVICE void releases(unsigned slot) { record(TraceMoment::Releases, slot); }

 private:
  TW_DEVICE void record(TraceMoment moment, unsigned slot) {
    if (!speaks_) return;
    if (count_ < buffer_.capacity) {
      store_element<Space::Global>(
          buffer_.events + std::uint64_t{track_} * buffer_.capacity + count_,
          TraceEvent{isa::global_timer(), moment, slot});
    }
    store_element<Space::Global>(buffer_.counts + track_, ++count_);
  }
  const Params& buffer_;
  unsigned track_;
  unsigned count_ = 0;
  bool speaks_;
};

}  // namespace tw
