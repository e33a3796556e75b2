// Waiting for a phase of an mbarrier.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/barrier.h"

namespace tw {

TW_DEVICE void wait_for_phase(SharedAddress barrier, unsigned parity) {
  while (!isa::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace tw
