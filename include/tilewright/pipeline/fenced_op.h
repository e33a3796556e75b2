// A TileOp of the async proxy that reads what threads wrote, where these do not fence for it.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

// All readers fence, once they have waited for a stage. A fence of the threads that load would also
// wait for their copies of later stages.
template <class TargetOp>
struct FencedOp : TargetOp {
  using TargetOp::TargetOp;

  template <class Sum, class Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    isa::fence_proxy_async();
    TargetOp::multiply(sum, stage);
  }
};

}  // namespace tw
