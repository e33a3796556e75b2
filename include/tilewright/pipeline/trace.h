// A timeline from the tokens: every acquire records when it began to wait, when it went on, and
// when the slot was released. NoTrace is empty and leaves no instruction behind.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"

namespace tw {

// One acquire: when its role began to wait, when it went on, when it released. Nanoseconds; 0: not
// yet.
struct TraceEvent {
  std::uint64_t waits;
  std::uint64_t goes;
  std::uint64_t releases;
  std::uint64_t slot;
};

// A bounded record per track, which is one role of one CTA.
struct TraceBuffer {
  TraceEvent* events = nullptr;     // (capacity, track)
  std::uint32_t* counts = nullptr;  // (track): all acquires, also those that did not fit
  std::uint32_t capacity = 0;
};

struct NoTrace {
  static constexpr bool records = false;
  struct Params {};
  // What a token keeps of its trace.
  struct Handle {
    TW_DEVICE void releases() {}
  };
  TW_DEVICE Handle handle() const { return {}; }
  TW_DEVICE NoTrace(const Params&, unsigned /*track*/, bool /*speaks*/) {}
  TW_DEVICE NoTrace ring(unsigned) const { return *this; }
  TW_DEVICE void waits(unsigned) {}
  TW_DEVICE void goes() {}
  TW_DEVICE void releases() {}
};

// Holds values only, so that a token can keep a copy without pushing anything into local memory.
class EventTrace {
 public:
  static constexpr bool records = true;
  using Params = TraceBuffer;
  // What a token keeps: where its acquire is recorded. Null: another thread of the role speaks, or
  // the record is full.
  struct Handle {
    TraceEvent* event = nullptr;
    TW_DEVICE void releases() {
      if (event != nullptr) store_element<Space::Global>(&event->releases, isa::global_timer());
    }
  };

  TW_DEVICE EventTrace(const Params& buffer, unsigned track, bool speaks)
      : next_(buffer.events + std::uint64_t{track} * buffer.capacity),
        end_(next_ + buffer.capacity),
        count_(speaks ? buffer.counts + track : nullptr) {}

  TW_DEVICE Handle handle() const { return current_; }
  TW_DEVICE void waits(unsigned slot) {
    if (count_ == nullptr) return;
    store_element<Space::Global>(count_, ++acquires_);
    current_.event = next_ != end_ ? next_++ : nullptr;
    if (current_.event == nullptr) return;
    store_element<Space::Global>(&current_.event->slot, std::uint64_t{slot});
    store_element<Space::Global>(&current_.event->waits, isa::global_timer());
  }
  TW_DEVICE void goes() {
    if (current_.event == nullptr) return;
    store_element<Space::Global>(&current_.event->goes, isa::global_timer());
  }
  TW_DEVICE void releases() { current_.releases(); }

 private:
  Handle current_;
  TraceEvent* next_;
  TraceEvent* end_;
  std::uint32_t* count_;
  std::uint32_t acquires_ = 0;
};

}  // namespace tw
