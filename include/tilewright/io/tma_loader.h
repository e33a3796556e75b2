// TileIO: one k-tile of A and B by TMA, each CTA of a cluster loading its share and sending it to
// the CTAs that need the same rows.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/cluster.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw {

// One operand tile of `rows` by `tile_k` bf16, cut into `shares` boxes of rows, one per sharing
// CTA.
template <unsigned rows, unsigned tile_k, unsigned shares>
struct OperandBox {
  static_assert(rows % (8 * shares) == 0,
                "Each CTA's share of a multicast tile must be whole groups of eight rows.");
  static constexpr unsigned box_rows = rows / shares;
  static constexpr unsigned box_bytes = box_rows * tile_k * 2;

  // `share` is which of the boxes this CTA loads, `mask` who gets it.
  static TW_DEVICE void load(SharedAddress tile, const TensorMap* map, SharedAddress full, int row,
                             int k, unsigned share, unsigned mask) {
    const int at[2] = {k * static_cast<int>(tile_k), row + static_cast<int>(share * box_rows)};
    const SharedAddress box = tile + share * box_bytes;
    if constexpr (shares == 1) {
      isa::cp_async_bulk_tensor_load(box, map, full, at, isa::CacheHint::EvictNormal);
    } else {
      isa::cp_async_bulk_tensor_load_multicast(box, map, full, at, static_cast<std::uint16_t>(mask),
                                               isa::CacheHint::EvictNormal);
    }
  }
};

template <unsigned tile_m, unsigned tile_n, unsigned tile_k, ClusterShape cluster>
class TmaLoader {
 public:
  using BoxA = OperandBox<tile_m, tile_k, cluster.n>;
  using BoxB = OperandBox<tile_n, tile_k, cluster.m>;
  struct Params {
    TensorMap a;  // (k, m), inner dimension first
    TensorMap b;  // (k, n)
  };

  TW_DEVICE explicit TmaLoader(const Params& params) : params_(params), rank_(rank_in<cluster>()) {
    isa::prefetch_tensormap(&params.a);
    isa::prefetch_tensormap(&params.b);
  }

  template <class Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const SharedAddress a = stage.tiles();
    const SharedAddress b = a + tile_m * tile_k * 2;
    BoxA::load(a, &params_.a, stage.full(), tile.m * static_cast<int>(tile_m), k,
               cluster.column(rank_), cluster.row_mask(rank_));
    BoxB::load(b, &params_.b, stage.full(), tile.n * static_cast<int>(tile_n), k,
               cluster.row(rank_), cluster.column_mask(rank_));
  }

 private:
  const Params& params_;
  unsigned rank_;
};

}  // namespace tw
