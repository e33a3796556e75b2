// How two groups of waves hand stages to each other by s_barrier alone, one barrier apart: in every
// phase between two barriers one group reads while the other multiplies.
//
// A tile of k is four halves: B's first, A's first, B's second, A's second, half 4 u + h of tile u.
// It takes four steps, of which step i reads half i + 1 and multiplies what was read; half 0 is
// read before them. Of step i, the first group reads in phase 2 i and multiplies in phase 2 i + 1,
// the second group one phase later. All waves load their share of every half, into `stages` stages.
// From that the waits follow:
//
//   - Half i is read to its end in phase 2 i - 1, by the second group. The half that takes its
//     place, i + 4 stages, is loaded in step i, from phase 2 i on: so reads must be over when a
//     wave comes to the barrier behind them (lgkmcnt 0).
//   - Half i + 2 is read from phase 2 i + 2 on. The barrier before is the one behind the second
//     group's reads of step i: there each wave has waited for its loads of that half, and those of
//     the halves i + 3 to i + 4 stages may be on their way. That is one less than two for each
//     stage, of A and of B alike.
//
// Behind the last tile of k loads go on, of nothing: then the counts are the same in every step,
// and no wait is for more than it must.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"

namespace tw {

// A wave's share of a half of A is `a_loads` loads, of B `b_loads`.
template <unsigned stages, unsigned a_loads, unsigned b_loads>
class WaveSteps {
  static_assert(stages >= 1, "A half is loaded where another one was read.");

 public:
  // Loads that need not have landed when the next half is about to be read.
  static constexpr unsigned in_flight = (2 * stages - 1) * (a_loads + b_loads);
  static_assert(in_flight < isa::any_vmcnt, "vmcnt cannot count so many loads.");

  TW_DEVICE explicit WaveSteps(unsigned group) : group_(group) {}

  // The thread and a kernel's arguments, for what comes behind the steps: nothing of it is computed
  // or read before them, for registers are few there.
  static TW_DEVICE unsigned afterwards(unsigned thread) { return isa::opaque(thread); }
  template <class Params>
  static TW_DEVICE const Params& afterwards(const Params& params) {
    return isa::read_again(params);
  }

  // All waves have issued the loads of all stages, and waited for the first two halves. The
  // barrier: all waves arrive; all wait, and read the first half.
  TW_DEVICE void begin() const { isa::s_barrier(); }
  // The barrier: all waves have read the first half. At the second, the other group arrives behind
  // its first reads.
  TW_DEVICE void part() const {
    end_reads();
    if (group_ != 0) isa::s_barrier();
  }
  // The wave's loads of the half after the next have landed; those behind it are on their way.
  TW_DEVICE void wait_for_next() const { isa::s_waitcnt<in_flight, isa::any_lgkmcnt>(); }
  // The wave has the fragments of a step. All waves arrive: the other group behind its products;
  // what was read may be overwritten, what was waited for may be read.
  TW_DEVICE void end_reads() const {
    isa::s_waitcnt<isa::any_vmcnt, 0>();
    isa::s_barrier();
  }
  // Who multiplies issues before who reads.
  TW_DEVICE void begin_products() const { isa::s_setprio<1>(); }
  // The products of a step are issued. All waves arrive: the other group behind its reads.
  TW_DEVICE void end_products() const {
    isa::s_setprio<0>();
    isa::s_barrier();
  }
  // The groups are together again: the barrier at which the second ends its last products. Then no
  // load is on its way.
  TW_DEVICE void end() const {
    if (group_ == 0) isa::s_barrier();
    drain();
  }
  // No load of the wave is on its way.
  static TW_DEVICE void drain() { isa::s_waitcnt<0, isa::any_lgkmcnt>(); }
  // Whoever comes next may write wherever it likes. The barrier: all waves arrive, none of whose
  // loads is on its way; all wait.
  TW_DEVICE void meet() const {
    drain();
    isa::s_barrier();
  }

 private:
  unsigned group_;
};

}  // namespace tw
