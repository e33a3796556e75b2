// Threads of a CTA, or of a grid whose CTAs run at once, wait for each other.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/threads.h"

namespace tw {

// All threads of the CTA may read behind it what they wrote before it.
template <unsigned threads>
struct CtaMeeting {
  static TW_DEVICE void meet() { isa::barrier_sync(0, threads); }
};

// The same of all CTAs of a grid, once in a launch. All of them must run at once.
template <unsigned threads>
class GridMeeting {
 public:
  // counters[0]: arrives every CTA; publishes what it wrote; waited by every CTA.
  // counters[1]: arrives every CTA but the first, which has seen counters[0]; waited by the first.
  // Both are 0 before the launch, and again after it.
  static constexpr unsigned counters = 2;

  TW_DEVICE GridMeeting(std::uint32_t* counters, unsigned thread)
      : counters_(counters), thread_(thread) {}

  // All threads of every CTA call it.
  TW_DEVICE void meet() const {
    CtaMeeting<threads>::meet();
    if (thread_ == 0) {
      isa::global_add_release(counters_, 1);
      isa::global_wait_at_least(counters_, isa::cta_count());
      if (isa::cta_index() != 0) isa::global_add_release(counters_ + 1, 1);
    }
    CtaMeeting<threads>::meet();
  }
  // The first CTA leaves the counters as it found them.
  TW_DEVICE void leave() const {
    if (thread_ != 0 || isa::cta_index() != 0) return;
    isa::global_wait_at_least(counters_ + 1, isa::cta_count() - 1);
    isa::global_store_release(counters_, 0);
    isa::global_store_release(counters_ + 1, 0);
  }

 private:
  std::uint32_t* counters_;
  unsigned thread_;
};

}  // namespace tw
