// The trace that records.
#pragma once

#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/pipeline/trace.h"

namespace tw {

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
        count_(speaks && track < buffer.tracks ? buffer.counts + track : nullptr) {}

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
