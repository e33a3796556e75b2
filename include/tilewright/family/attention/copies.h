// TileIO by threads: queries, keys and values of one head by cp.async, each into a ring of its own.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/cp_async.h"

namespace tw {

// 16 bytes go to shared memory by cp.async.
struct ByCpAsync {
  static constexpr bool fetches = false;
  static TW_DEVICE void chunk(SharedAddress to, const void* from, bool inside) {
    isa::cp_async<16>(to, from, inside ? 16 : 0);
  }
};

// AttentionLoader by all threads of `warps` warps. Rows behind a sequence's last are zero.
template <HeadTile query_tile, HeadTile key_tile, HeadTile value_tile, unsigned warps>
class AttentionCopies {
  static constexpr unsigned threads = warps * 32;

 public:
  using Heads = HeadView<>;  // (token,head,column)
  struct Params {
    Heads queries;
    Heads keys;
    Heads values;
    Sequences sequences;
    int query_heads_per_key_head;
  };
  static constexpr bool elected = false;
  static constexpr bool values_apart = false;
  static constexpr Completion completion = Completion::CopiesArrive;
  static constexpr unsigned arrivals = threads;
  static constexpr bool clears_tail = true;

  TW_DEVICE AttentionCopies(const Params& params, unsigned thread)
      : params_(params), thread_(thread) {}

  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    rows_ = params_.sequences.rows(tile.n);
    last_block_ =
        rows_.key_begin + (tile.k_begin + tile.k_end - 1) * static_cast<int>(key_tile.rows);
    key_head_ = tile.batch / params_.query_heads_per_key_head;
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void queries(const Stage& stage, const WorkTile& tile) const {
    copy<query_tile>(stage, params_.queries, tile.first_row(query_tile.rows), rows_.query_end,
                     tile.batch);
  }
  template <StageToFill Stage>
  TW_DEVICE void keys(const Stage& stage, int k) const {
    copy<key_tile>(stage, params_.keys, row_of(k), rows_.key_end, key_head_);
  }
  template <StageToFill Stage>
  TW_DEVICE void values(const Stage& stage, int k) const {
    copy<value_tile>(stage, params_.values, row_of(k), rows_.key_end, key_head_);
  }

 private:
  TW_DEVICE int row_of(int k) const { return last_block_ - k * static_cast<int>(key_tile.rows); }

  // Rows from `first` to `end` - 1, of which none is read that lies behind.
  template <HeadTile tile, class Stage>
  TW_DEVICE void copy(const Stage& stage, const Heads& heads, int first, int end, int head) const {
    constexpr unsigned line = HeadTile::span_columns / 8;  // chunks of a row in a span
    static_assert(tile.rows * line % threads == 0, "Every thread copies as many chunks.");
    const auto chunks = stage.tensors().rows.template chunks<16>();
    const std::uint16_t* const begin = heads.data + head * heads.head_stride;
    const unsigned chunk = thread_ % line;
    TW_UNROLL
    for (unsigned span = 0; span < tile.spans(); ++span) {
      TW_UNROLL
      for (unsigned i = 0; i < tile.rows * line / threads; ++i) {
        const unsigned in_tile = i * (threads / line) + thread_ / line;
        const int row = first + static_cast<int>(in_tile);
        const bool inside = row < end && static_cast<int>(span * HeadTile::span_columns +
                                                          chunk * 8) < heads.columns;
        const std::uint16_t* const source =
            inside ? begin + row * heads.token_stride + span * HeadTile::span_columns + chunk * 8
                   : begin + first * heads.token_stride;
        isa::cp_async<16>(chunks.address(in_tile, chunk, span), source, inside ? 16 : 0);
      }
    }
  }

  const Params& params_;
  unsigned thread_;
  SequenceRows rows_ = {};
  int last_block_ = 0;  // where k-tile 0 begins: they count from the last block to the first
  int key_head_ = 0;
};

}  // namespace tw
