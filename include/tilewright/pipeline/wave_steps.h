// How two groups of waves hand stages to each other by s_barrier alone, one barrier apart: in every
// phase between two barriers one group reads while the other multiplies.
//
// A k-tile has `steps` steps. Of step i, counted over all k-tiles, the first group reads in phase
// 2 i and multiplies in phase 2 i + 1, the second group one phase later. All waves load their share
// of every stage. From that the waits follow:
//
//   - Tile u - 1 is read to its end in phase 2 u steps - 1, by the second group. Loads into its
//     stage are issued where tile u is begun, in phases 2 u steps and 2 u steps + 1: so that reads
//     must be over when a wave comes to the barrier behind them (lgkmcnt 0).
//   - Tile u + 1 is read from phase 2 (u + 1) steps on. The barrier before is the one behind the
//     second group's last reads of tile u: there each wave has waited for its loads of tile u + 1,
//     and those of the stages - 2 tiles behind that may be on their way.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"

namespace tw {

// `loads` of a wave fill its share of a stage.
template <unsigned stages, unsigned loads>
class WaveSteps {
  static_assert(stages >= 2, "One stage is read while another is loaded.");

 public:
  // Tiles that are on their way, or landed and not begun, while one is read.
  static constexpr unsigned ahead = stages - 1;
  // Loads that need not have landed when the next tile is about to be read.
  static constexpr unsigned in_flight = (stages - 2) * loads;
  static_assert(in_flight <= isa::any_vmcnt, "vmcnt cannot count so many loads.");

  TW_DEVICE explicit WaveSteps(unsigned group) : group_(group) {}

  // The thread and a kernel's arguments, for what comes behind the steps: nothing of it is computed
  // or read before them, for registers are few there.
  static TW_DEVICE unsigned afterwards(unsigned thread) { return isa::opaque(thread); }
  template <class Params>
  static TW_DEVICE const Params& afterwards(const Params& params) {
    return isa::read_again(params);
  }

  // All waves have issued their loads of the first `ahead` tiles, of which some may not exist.
  // The barrier: all waves arrive, their loads of the first tile landed; all wait. At the second,
  // the other group arrives behind its first reads.
  TW_DEVICE void begin(bool all_issued) const {
    wait_for_next(all_issued);
    isa::s_barrier();
    if (group_ != 0) isa::s_barrier();
  }
  // The wave's loads of the next tile have landed; those behind it are on their way, if there are
  // as many as may be.
  TW_DEVICE void wait_for_next([[maybe_unused]] bool all_issued) const {
    isa::s_waitcnt<in_flight, isa::any_lgkmcnt>();
    if constexpr (in_flight > 0) {
      if (!all_issued) isa::s_waitcnt<0, isa::any_lgkmcnt>();
    }
  }
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
  // The groups are together again: the barrier at which the second ends its last products.
  TW_DEVICE void end() const {
    if (group_ == 0) isa::s_barrier();
  }

 private:
  unsigned group_;
};

}  // namespace tw
