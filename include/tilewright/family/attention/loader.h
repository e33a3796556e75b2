// TileIO: queries, keys and values of one head by TMA, each into a ring of its own.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw {

// A tile's `batch` is the head of its queries, its `n` the sequence; blocks of its keys come from
// the last to the first, for the last is the one that masks cut.
template <HeadTile query_tile, HeadTile key_tile, HeadTile value_tile>
class AttentionLoader {
 public:
  // Maps of rank 3, innermost dimension first: (column, token, head), box of 128 bytes of columns
  // by the tile's rows.
  struct Params {
    TensorMap queries;
    TensorMap keys;
    TensorMap values;
    Sequences sequences;
    int query_heads_per_key_head;
  };
  static constexpr bool elected = true;  // one thread issues the copies
  static constexpr bool values_apart = false;
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 1;
  // A box may reach over a sequence's last row, into the next sequence: somebody must clear what it
  // brings from there.
  static constexpr bool clears_tail = false;

  TW_DEVICE AttentionLoader(const Params& params, unsigned /*thread*/) : params_(params) {
    isa::prefetch_tensormap(&params.queries);
    isa::prefetch_tensormap(&params.keys);
    isa::prefetch_tensormap(&params.values);
  }

  // The next copies are of this tile.
  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    const SequenceRows rows = params_.sequences.rows(tile.n);
    last_block_ =
        rows.key_begin + (tile.k_begin + tile.k_end - 1) * static_cast<int>(key_tile.rows);
    key_head_ = tile.batch / params_.query_heads_per_key_head;
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void queries(const Stage& stage, const WorkTile& tile) const {
    load<query_tile>(stage, params_.queries, tile.first_row(query_tile.rows), tile.batch);
  }
  template <StageToFill Stage>
  TW_DEVICE void keys(const Stage& stage, int k) const {
    load<key_tile>(stage, params_.keys, row_of(k), key_head_);
  }
  template <StageToFill Stage>
  TW_DEVICE void values(const Stage& stage, int k) const {
    load<value_tile>(stage, params_.values, row_of(k), key_head_);
  }

 private:
  TW_DEVICE int row_of(int k) const { return last_block_ - k * static_cast<int>(key_tile.rows); }

  // A tile whose first row is `row`.
  template <HeadTile tile, class Stage>
  static TW_DEVICE void load(const Stage& stage, const TensorMap& map, int row, int head) {
    TW_UNROLL
    for (unsigned span = 0; span < tile.spans(); ++span) {
      const int at[3] = {static_cast<int>(span * tile.columns_of_span()), row, head};
      const auto part = stage.tensors().rows.slice(whole, whole, span);
      isa::cp_async_bulk_tensor_load(part.address(), &map, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
  }

  const Params& params_;
  int last_block_ = 0;  // where k-tile 0 begins: they count from the last block to the first
  int key_head_ = 0;
};

}  // namespace tw
