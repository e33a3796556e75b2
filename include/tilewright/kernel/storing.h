// What follows a sum: the reduction of its parts, then the epilogue.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/schedule/work_tile.h"

namespace tw::kernel {

template <class Parts, bool active>
class Storing {
  using Epilogue = typename Parts::Epilogue;
  using Reduction = typename Parts::Reduction;
  using Trace = typename Parts::Trace;

 public:
  template <class Params>
  TW_DEVICE Storing(const Params& params, typename Epilogue::Buffers* buffers, unsigned group,
                    unsigned thread, Trace trace)
      // Barrier 0 is the CTA's; each group has one of its own.
      : epilogue_(params.epilogue, buffers[group], 1 + group, thread, trace),
        reduction_(params.reduction, group, thread),
        group_(group) {}

  template <class Sum>
  TW_DEVICE void store(const Sum& sum, const WorkTile& tile) {
    if constexpr (Reduction::in_parts) {
      if (!tile.finishes()) return reduction_.deposit(sum, tile);
    }
    epilogue_.store(reduction_.collect(sum, tile), Parts::place(tile, group_));
  }
  TW_DEVICE void drain() { epilogue_.drain(); }

 private:
  Epilogue epilogue_;
  [[no_unique_address]] Reduction reduction_;
  unsigned group_;
};

// The sums go to another role.
template <class Parts>
class Storing<Parts, false> {
 public:
  template <class... Arguments>
  TW_DEVICE explicit Storing(const Arguments&...) {}
  template <class Sum>
  TW_DEVICE void store(const Sum&, const WorkTile&) {}
  TW_DEVICE void drain() {}
};

}  // namespace tw::kernel
