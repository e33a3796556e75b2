// TileIO of attention with few queries, by TMA: rows of several heads, and keys and values that may
// lie in pages.
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/access.h"

namespace tw {

// The division by heads that share keys, where the launch foresees it.
struct ForeseenHeads {
  Quotient of_query_heads;
};
struct DividedHeads {};

// Loads what AttentionLoader does, for tiles that DecodeTiles tells. Keys and values are read once;
// unless the L2 cache `keeps` them, they leave it first.
template <HeadTile query_tile, HeadTile key_tile, HeadTile value_tile, bool keeps,
          class SequencesType = Sequences, bool foresees = false>
class DecodeLoader {
  static constexpr isa::CacheHint hint =
      keeps ? isa::CacheHint::EvictNormal : isa::CacheHint::EvictFirst;
  // Boxes of a block whose pages are known at once. Boxes have 8 rows or more.
  static constexpr unsigned boxes_at_once = 8;
  static_assert(key_tile.rows == value_tile.rows);
  struct Pages {
    int of_box[boxes_at_once];
  };

 public:
  // Maps of rank 3, innermost dimension first: queries (column, token, head), box of 64 columns by
  // the rows of one head or more; keys and values alike, box of `box_rows`, which are of one page.
  // Where heads of a page lie one behind the other, (column, slot, page and head).
  struct Params : std::conditional_t<foresees, ForeseenHeads, DividedHeads> {
    TensorMap queries;
    TensorMap keys;
    TensorMap values;
    // The same with boxes of `last_rows`: of a block that ends behind the last key no more is read
    // than there is.
    static constexpr int last_rows = 32;
    TensorMap last_keys;
    TensorMap last_values;
    SequencesType sequences;
    int query_heads_per_key_head;
    int heads;  // heads of queries
    SharedRows shared;
    int heads_of_box;  // a copy of queries brings so many, each with its room
    int box_rows;
    // (sequence,page): which page of the cache has the sequence's; null: rows lie behind each
    // other.
    const std::int32_t* pages;
    int pages_pitch;
    int page_rows;
    int blocks_of_page;  // 1 where pages are smaller than a block
    int heads_of_page;   // that lie one behind the other; 0: they lie side by side
  };
  static constexpr int last_rows = Params::last_rows;
  static_assert(key_tile.rows % last_rows == 0);
  static constexpr bool elected = true;
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 1;
  static constexpr bool clears_tail = false;
  static constexpr bool takes_any_page = false;
  // Two roles load, each with a loader of its own: one queries and keys, the other values.
  static constexpr bool values_apart = true;

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
    if constexpr (foresees) {
      key_head_ = params_.of_query_heads.of(tile.batch);
    } else {
      key_head_ = tile.batch / params_.query_heads_per_key_head;
    }
    if (params_.pages != nullptr) next_ = pages_of(tile.k_begin, 0);
  }
  // Rows of heads that are none are zeros: a head behind the last.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void queries(const Stage& stage, const WorkTile& tile) const {
    const int row = tile.first_row(query_tile.rows);
    for (int i = 0; i * params_.shared.room < static_cast<int>(query_tile.rows);
         i += params_.heads_of_box) {
      const int head = i < params_.shared.heads ? tile.batch + i : params_.heads;
      copy<query_tile>(stage, params_.queries, i * params_.shared.room, row, head,
                       isa::CacheHint::EvictNormal);
    }
  }
  // Where keys come in slices of their columns, one after the other, which are `sliced`.
  template <unsigned slice = 0, bool sliced = false, StageToFill Stage>
  TW_DEVICE void keys(const Stage& stage, int k) {
    load<key_tile, slice, sliced>(stage, params_.keys, params_.last_keys, k);
  }
  template <StageToFill Stage>
  TW_DEVICE void values(const Stage& stage, int k) {
    load<value_tile>(stage, params_.values, params_.last_values, k);
  }

 private:
  // A block begins with a page, or lies in one.
  struct Block {
    int first_key;
    int page;  // counted in the sequence
    int slot;
  };
  TW_DEVICE Block block(int k) const {
    const int first = last_block_ - k * static_cast<int>(key_tile.rows);
    if (params_.blocks_of_page == 1) return {first, first / params_.page_rows, 0};
    const int index = first / static_cast<int>(key_tile.rows);
    const int page = index / params_.blocks_of_page;
    return {first, page, (index - page * params_.blocks_of_page) * static_cast<int>(key_tile.rows)};
  }

  // Reads the pages of the boxes from `first_box` on. Boxes outside of the keys have none.
  TW_DEVICE Pages pages_of(int k, unsigned first_box) const {
    const Block at = block(k);
    Pages pages;
    TW_UNROLL
    for (unsigned i = 0; i < boxes_at_once; ++i) {
      const int box = static_cast<int>(first_box + i);
      const int in_tile = box * params_.box_rows;
      const int key = at.first_key + in_tile;
      const bool is_there =
          in_tile < static_cast<int>(key_tile.rows) && key >= 0 && key < rows_.keys();
      pages.of_box[i] = is_there ? page_of(at.page + box) : 0;
    }
    return pages;
  }

  // The pages of a block are asked for while the block before is copied, so that nothing waits for
  // them.
  template <HeadTile tile, unsigned slice = 0, bool sliced = false, class Stage>
  TW_DEVICE void load(const Stage& stage, const TensorMap& map, const TensorMap& last, int k) {
    if (params_.pages == nullptr) {
      const int first = last_block_ - k * static_cast<int>(tile.rows);
      if (first + static_cast<int>(tile.rows) <= rows_.keys()) {
        copy<tile, slice>(stage, map, 0, rows_.key_begin + first, key_head_, hint);
        return;
      }
      // Rows before the first are zeros, which memory does not bring.
      TW_ROLL
      for (int in_tile = 0; in_tile < static_cast<int>(tile.rows); in_tile += last_rows) {
        const bool is_there = first + in_tile < rows_.keys();
        copy<tile, slice>(stage, last, in_tile,
                          is_there ? rows_.key_begin + first + in_tile : -last_rows, key_head_,
                          hint);
      }
      return;
    }
    const Block at = block(k);
    Pages pages = slice == 0 ? next_ : of_block_;
    if constexpr (slice == 0) {
      if constexpr (sliced) of_block_ = pages;
      next_ = pages_of(k + 1, 0);
    }
    TW_ROLL
    for (unsigned first_box = 0; first_box < tile.rows / 8; first_box += boxes_at_once) {
      if (first_box > 0) pages = pages_of(k, first_box);
      TW_UNROLL
      for (unsigned i = 0; i < boxes_at_once; ++i) {
        const int in_tile = static_cast<int>(first_box + i) * params_.box_rows;
        if (in_tile >= static_cast<int>(tile.rows)) return;
        // Keys behind the last have no page: rows before the first are zeros.
        const bool is_there = at.first_key + in_tile < rows_.keys();
        const int row = is_there ? at.slot : -params_.box_rows;
        if (params_.heads_of_page == 0) {
          const int page_row = is_there ? pages.of_box[i] * params_.page_rows : 0;
          copy<tile, slice>(stage, map, in_tile, page_row + row, key_head_, hint);
        } else {
          copy<tile, slice>(stage, map, in_tile, row,
                            pages.of_box[i] * params_.heads_of_page + key_head_, hint);
        }
      }
    }
  }

  TW_DEVICE int page_of(int of_sequence) const {
    return load_element<Space::Global>(params_.pages +
                                       std::int64_t{sequence_} * params_.pages_pitch + of_sequence);
  }

  // Fills the rows from `in_tile` on, a multiple of 8.
  template <HeadTile tile, unsigned slice = 0, class Stage>
  static TW_DEVICE void copy(const Stage& stage, const TensorMap& map, int in_tile, int row,
                             int head, isa::CacheHint hint_of) {
    const auto whole_tile = stage.tensors().rows;
    TW_UNROLL
    for (unsigned span = 0; span < tile.spans(); ++span) {
      const int at[3] = {static_cast<int>(slice * tile.columns + span * tile.columns_of_span()),
                         row, head};
      const auto part =
          whole_tile.slice(whole, whole, span).template from<8>(static_cast<unsigned>(in_tile));
      isa::cp_async_bulk_tensor_load(part.address(), &map, stage.full(), at, hint_of);
    }
  }

  const Params& params_;
  SequenceRows rows_ = {};
  int sequence_ = 0;
  int last_block_ = 0;  // the key at which k-tile 0 begins: they count from the last to the first
  int key_head_ = 0;
  Pages of_block_ = {};
  Pages next_ = {};
};

}  // namespace tw
