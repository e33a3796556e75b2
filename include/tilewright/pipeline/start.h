// The first moment of a kernel: barriers come to life before anyone, here or in the cluster, uses
// them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/barrier.h"

namespace tw {

// `init` is called by one thread and initialises every barrier of the kernel.
template <class Init>
TW_DEVICE void start_together(unsigned thread, const Init& init) {
  if (thread == 0) {
    init();
    isa::fence_mbarrier_init();
  }
  // The cluster barrier covers the CTA: peers may signal our barriers as soon as they run.
  isa::cluster_arrive();
  isa::cluster_wait();
}

}  // namespace tw
