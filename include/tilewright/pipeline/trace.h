// A timeline from the tokens: every acquire records when it began to wait, when it went on, and
// when the slot was released. NoTrace is empty and leaves no instruction behind.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"

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
  // Events of a track, and tracks that there is room for. A launcher that hands out work has a CTA
  // for every tile: those beyond the room record nothing.
  std::uint32_t capacity = 0, tracks = 0;
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

}  // namespace tw
