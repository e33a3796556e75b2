// TileIO of attention with few queries, by TMA: rows of several heads, and keys and values that may
// lie in pages.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/head_tile.h"
#include "tilewright/io/sequences.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/access.h"

namespace tw {

// As AttentionLoader, of tiles that DecodeTiles tells.
template <HeadTile query_tile, HeadTile key_tile, HeadTile value_tile>
class DecodeLoader {
 public:
  // Maps of rank 3, innermost dimension first: queries (column, token, head), box of 64 columns by
  // the rows of a head; keys and values alike, box of `box_rows`, which are of one page. Where
  // heads of a page lie one behind the other, (column, slot, page and head).
  struct Params {
    TensorMap queries;
    TensorMap keys;
    TensorMap values;
    Sequences sequences;
    int query_heads_per_key_head;
    int heads;  // of queries
    SharedRows shared;
    int box_rows;
    // (sequence,page): which page of the cache has the sequence's; null: rows lie behind each
    // other.
    const std::int32_t* pages;
    int pages_pitch;
    int page_rows;
    int heads_of_page;  // that lie one behind the other; 0: they lie side by side
  };
  static constexpr bool elected = true;
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 1;
  static constexpr bool clears_tail = false;
  static constexpr bool takes_any_page = false;

  TW_DEVICE DecodeLoader(const Params& params, unsigned /*thread*/) : params_(params) {
    isa::prefetch_tensormap(&params.queries);
    isa::prefetch_tensormap(&params.keys);
    isa::prefetch_tensormap(&params.values);
  }

  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    rows_ = params_.sequences.rows(tile.n);
    sequence_ = tile.n;
    last_block_ = (tile.k_begin + tile.k_end - 1) * static_cast<int>(key_tile.rows);
    key_head_ = tile.batch / params_.query_heads_per_key_head;
  }
  // Rows of heads that are none are zeros: a head behind the last.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void queries(const Stage& stage, const WorkTile& tile) const {
    const int row = tile.first_row(query_tile.rows);
    for (int i = 0; i * params_.shared.room < static_cast<int>(query_tile.rows); ++i) {
      const int head = i < params_.shared.heads ? tile.batch + i : params_.heads;
      copy<query_tile>(stage, params_.queries, i * params_.shared.room, row, head);
    }
  }
  template <StageToFill Stage>
  TW_DEVICE void keys(const Stage& stage, int k) const {
    load<key_tile>(stage, params_.keys, k);
  }
  template <StageToFill Stage>
  TW_DEVICE void values(const Stage& stage, int k) const {
    load<value_tile>(stage, params_.values, k);
  }

 private:
  template <HeadTile tile, class Stage>
  TW_DEVICE void load(const Stage& stage, const TensorMap& map, int k) const {
    const int first = last_block_ - k * static_cast<int>(tile.rows);
    for (int in_tile = 0; in_tile < static_cast<int>(tile.rows); in_tile += params_.box_rows) {
      const int key = first + in_tile;
      if (params_.pages == nullptr) {
        copy<tile>(stage, map, in_tile, rows_.key_begin + key, key_head_);
        continue;
      }
      // Keys behind the last have no page: rows before the first are zeros.
      const bool is_there = key < rows_.keys();
      const int of_sequence = key / params_.page_rows;
      const int slot = key - of_sequence * params_.page_rows;
      const int page = is_there ? page_of(of_sequence) : 0;
      if (params_.heads_of_page == 0) {
        copy<tile>(stage, map, in_tile,
                   is_there ? page * params_.page_rows + slot : -params_.box_rows, key_head_);
      } else {
        copy<tile>(stage, map, in_tile, is_there ? slot : -params_.box_rows,
                   page * params_.heads_of_page + key_head_);
      }
    }
  }

  TW_DEVICE int page_of(int of_sequence) const {
    return load_element<Space::Global>(params_.pages +
                                       std::int64_t{sequence_} * params_.pages_pitch + of_sequence);
  }

  // To the rows from `in_tile` on, a multiple of 8.
  template <HeadTile tile, class Stage>
  static TW_DEVICE void copy(const Stage& stage, const TensorMap& map, int in_tile, int row,
                             int head) {
    const auto whole_tile = stage.tensors().rows;
    TW_UNROLL
    for (unsigned span = 0; span < tile.spans(); ++span) {
      const int at[3] = {static_cast<int>(span * HeadTile::span_columns), row, head};
      const auto part =
          whole_tile.slice(whole, whole, span).template from<8>(static_cast<unsigned>(in_tile));
      isa::cp_async_bulk_tensor_load(part.address(), &map, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
  }

  const Params& params_;
  SequenceRows rows_ = {};
  int sequence_ = 0;
  int last_block_ = 0;  // the key at which k-tile 0 begins: they count from the last to the first
  int key_head_ = 0;
};

}  // namespace tw
