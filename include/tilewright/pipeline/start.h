// The first moment of a kernel: barriers come to life before anyone, here or in the cluster, uses them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/barrier.h"

namespace tw {

template <class Ring>
TW_DEVICE void start_together(typename Ring::Barriers& barriers, typename Ring::Tiles* tiles,
                              unsigned thread) {
  if (thread == 0) {
    Ring::init(barriers, tiles);
    isa::fence_mbarrier_init();
  }
  // The cluster barrier covers the CTA: peers may signal our barriers as soon as they run.
  isa::cluster_arrive();
  isa::cluster_wait();
}

}  // namespace tw
