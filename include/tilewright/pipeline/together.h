// What all threads of a CTA write into shared memory before any of them reads it.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

template <class Write>
TW_DEVICE void write_together(unsigned threads, const Write& write) {
  write();
  isa::barrier_sync(0, threads);
}

}  // namespace tw
