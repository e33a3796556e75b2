// The first moment of a kernel: barriers come to life before anyone, here or in the cluster, uses
// them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/barrier.h"

namespace tw {

// `init` is called by one thread and initialises every signal of the kernel.
template <bool in_cluster, class Init>
TW_DEVICE void start_together(unsigned thread, [[maybe_unused]] unsigned threads,
                              const Init& init) {
  if (thread == 0) {
    init();
    isa::fence_mbarrier_init();
  }
  if constexpr (in_cluster) {
    // The cluster barrier covers the CTA: peers may signal our barriers as soon as they run.
    isa::cluster_arrive();
    isa::cluster_wait();
  } else {
    isa::barrier_sync(0, threads);
  }
}

}  // namespace tw
