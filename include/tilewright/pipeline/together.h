// What several threads write into shared memory before it is read on behalf of any of them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/threads.h"

namespace tw {

// All threads of a CTA call it; threads read what they write.
template <class Write>
TW_DEVICE void write_together(unsigned threads, const Write& write) {
  write();
  isa::barrier_sync(0, threads);
}

// `threads` threads that have the named barrier for themselves call it, and read what they write.
template <class Write>
TW_DEVICE void write_for_threads(unsigned barrier, unsigned threads, const Write& write) {
  write();
  isa::barrier_sync(barrier, threads);
}

// `threads` threads that have the named barrier for themselves call it; the tensor core reads what
// they write: each makes its writes visible to it, then all meet.
template <class Write>
TW_DEVICE void write_for_products(unsigned barrier, unsigned threads, const Write& write) {
  write_for_threads(barrier, threads, [&] {
    write();
    isa::fence_proxy_async();
  });
}

// What the threads of a CTA write before they start together, and the tensor core reads. The
// cluster's barrier orders no writes, so that in a cluster they meet for it.
template <bool in_cluster, class Write>
TW_DEVICE void prepare_operands([[maybe_unused]] unsigned threads, const Write& write) {
  write();
  isa::fence_proxy_async();
  if constexpr (in_cluster) isa::barrier_sync(0, threads);
}

}  // namespace tw
