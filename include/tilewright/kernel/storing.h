// What follows a sum: the reduction of its parts, then the epilogue.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/fragment.h"
#include "tilewright/schedule/contracts.h"

namespace tw::kernel {

// A group's part of a tile of m by n begins `step` rows behind that of the group before; where
// `column_groups` share the rows, each begins n / column_groups columns behind it.
template <unsigned m, unsigned n, unsigned step, unsigned column_groups = 1>
struct GroupPlaces {
  static constexpr unsigned group_step = step;
  static constexpr unsigned group_columns = n / column_groups;
  static TW_DEVICE TileOrigin place(const WorkTile& tile, unsigned group) {
    const unsigned rows = column_groups > 1 ? 0 : group * step;
    const unsigned columns = column_groups > 1 ? group * group_columns : 0;
    return {tile.batch, tile.first_row(m) + static_cast<int>(rows),
            tile.first_column(n) + static_cast<int>(columns), tile.m_end};
  }
};

template <class Kernel, bool active>
class Storing {
  using Epilogue = typename Kernel::Epilogue;
  using Reduction = typename Kernel::Reduction;
  using Sources = typename Kernel::Sources;
  using Trace = typename Kernel::Trace;

 public:
  template <class Params, class Storage>
  TW_DEVICE Storing(const Params& params, Storage& storage, unsigned group, unsigned thread,
                    Trace trace)
      // Barrier 0 is the CTA's; each group has one of its own.
      : epilogue_(params.epilogue, storage.output[group], 1 + group, thread, trace),
        sources_(params.sources, storage.sources[group], thread),
        reduction_(params.reduction, storage.reduction, group, thread),
        group_(group) {}

  // Before the sums of a tile are made.
  TW_DEVICE void prepare(const WorkTile& tile) const {
    if (finishes(tile)) epilogue_.prepare(Kernel::place(tile, group_), Kernel::group_columns);
  }
  // Before the first product of a sum.
  template <class Sum>
  TW_DEVICE void begin([[maybe_unused]] Sum& sum, [[maybe_unused]] const WorkTile& tile) {
    if constexpr (begins) epilogue_.begin(sum, Kernel::place(tile, group_), sources_);
  }
  template <class Sum>
  TW_DEVICE void store(const Sum& sum, const WorkTile& tile) {
    static_assert(reduces<Reduction, Sum>());
    if constexpr (begins) return epilogue_.store(sum, Kernel::place(tile, group_));
    if constexpr (in_shares) {
      reduction_.deposit(sum, tile);
      if (!finishes(tile)) return;
    } else if constexpr (Reduction::in_parts) {
      if (!tile.finishes()) return reduction_.deposit(sum, tile);
    }
    epilogue_.store(reduction_.collect(sum, tile), Kernel::place(tile, group_), sources_);
  }
  TW_DEVICE void drain() {
    epilogue_.drain();
    reduction_.drain();
  }

 private:
  // True where sums begin at what an epilogue would add behind them.
  static constexpr bool begins = Epilogue::begins;
  // Where parts finish shares, those leave their sums, too.
  static constexpr bool in_shares = Reduction::in_shares;
  TW_DEVICE bool finishes(const WorkTile& tile) const {
    if constexpr (in_shares) return reduction_.finishes(tile);
    return tile.finishes();
  }

  Epilogue epilogue_;
  typename Sources::Reader sources_;
  Reduction reduction_;
  unsigned group_;
};

// The sums go to another role.
template <class Kernel>
class Storing<Kernel, false> {
 public:
  template <class... Arguments>
  TW_DEVICE explicit Storing(const Arguments&...) {}
  TW_DEVICE void prepare(const WorkTile&) const {}
  template <class Sum>
  TW_DEVICE void begin(Sum&, const WorkTile&) {}
  template <class Sum>
  TW_DEVICE void store(const Sum&, const WorkTile&) {}
  TW_DEVICE void drain() {}
};

}  // namespace tw::kernel
