// Timelines of programs with several rings: every ring of a role has a track of its own.
#pragma once

#include "tilewright/pipeline/event_trace.h"

namespace tw {

// It is made on the track of the role's first ring, or on the role's only track if it has no ring.
template <unsigned rings>
class RingTraces : public EventTrace {
 public:
  TW_DEVICE RingTraces(const Params& buffer, unsigned role, bool speaks)
      : RingTraces(buffer, role, speaks, 0) {}
  // The track of a ring.
  TW_DEVICE RingTraces ring(unsigned index) const { return {buffer_, role_, speaks_, index}; }

 private:
  TW_DEVICE RingTraces(const Params& buffer, unsigned role, bool speaks, unsigned ring)
      : EventTrace(buffer, role * rings + ring, speaks),
        buffer_(buffer),
        role_(role),
        speaks_(speaks) {}

  TraceBuffer buffer_;
  unsigned role_;
  bool speaks_;
};

// Tracks of a role.
template <class Trace>
constexpr unsigned tracks_of_role = 1;
template <unsigned rings>
constexpr unsigned tracks_of_role<RingTraces<rings>> = rings;

}  // namespace tw
