// TileIO of attention by threads: rows of several heads, keys and values in pages of any size, and
// elements of 8 bits, which become 16 on the way.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"
#include "tilewright/number/code_format.h"

namespace tw {

// 16 bytes go to shared memory through registers.
struct ThroughRegisters {
  static constexpr bool fetches = true;
};

// All threads of `warps` warps copy the tiles that DecodeTiles tells, or AttentionTiles, where one
// head has all rows. Rows that no sequence or head has are zero, and are not read. Elements are
// `type` in memory: that of the tiles, or e4m3, of which bf16 has every number. `Copy` says how 16
// bytes travel that nobody converts.
template <HeadTile query_tile, HeadTile key_tile, HeadTile value_tile, unsigned warps,
          ElementType type, class Copy, unsigned lanes = 32>
class DecodeCopies {
  static constexpr unsigned threads = warps * lanes;
  static constexpr bool converts = type != query_tile.type;
  static constexpr bool fetches = converts || Copy::fetches;
  using Bytes = Vector<std::uint32_t, converts ? 2 : 4>;
  static_assert(!converts || (type == ElementType::E4m3 && query_tile.type == ElementType::Bf16),
                "Of the conversions to what is multiplied there is that of e4m3 to bf16.");
  using Element = std::conditional_t<converts, std::uint8_t, std::uint16_t>;

 public:
  // (token,head,column), or (slot,page and head,column).
  using Heads = HeadView<Element>;
  struct Params {
    Heads queries;
    Heads keys;
    Heads values;
    Sequences sequences;
    int query_heads_per_key_head;
    int heads;  // heads of queries
    SharedRows shared;
    // (sequence,page): which page of the cache has the sequence's; null: rows lie behind each
    // other.
    const std::int32_t* pages;
    int pages_pitch;
    int page_rows;
    int num_pages;      // in the cache
    int heads_of_page;  // that lie one behind the other; 0: they lie side by side
  };
  static constexpr bool elected = false;
  static constexpr bool values_apart = false;
  static constexpr Completion completion =
      fetches ? Completion::WarpsArrive : Completion::CopiesArrive;
  static constexpr unsigned arrivals = fetches ? warps : threads;
  static constexpr bool clears_tail = true;
  static constexpr bool takes_any_page = true;

  TW_DEVICE DecodeCopies(const Params& params, unsigned thread)
      : params_(params), thread_(thread) {}

  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    rows_ = params_.sequences.rows(tile.n);
    sequence_ = tile.n;
    last_block_ = (tile.k_begin + tile.k_end - 1) * static_cast<int>(key_tile.rows);
    key_head_ = tile.batch / params_.query_heads_per_key_head;
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void queries(const Stage& stage, const WorkTile& tile) const {
    const int first = tile.first_row(query_tile.rows);
    const Heads& heads = params_.queries;
    copy<query_tile>(stage, heads, [&](int in_tile) -> const Element* {
      const int head = in_tile / params_.shared.room;
      const int row = first + in_tile - head * params_.shared.room;
      if (head >= params_.shared.heads || row >= rows_.query_end) return nullptr;
      return heads.data + (tile.batch + head) * heads.head_stride + row * heads.token_stride;
    });
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
  TW_DEVICE void load(const Stage& stage, const Heads& heads, int k) const {
    const int first = last_block_ - k * static_cast<int>(tile.rows);
    copy<tile>(stage, heads, [&](int in_tile) { return row_of_key(heads, first + in_tile); });
  }

  // Null where there is none. Pages that the cache does not have are none.
  TW_DEVICE const Element* row_of_key(const Heads& heads, int key) const {
    if (key >= rows_.keys()) return nullptr;
    if (params_.pages == nullptr) {
      return heads.data + key_head_ * heads.head_stride +
             (rows_.key_begin + key) * heads.token_stride;
    }
    const int of_sequence = key / params_.page_rows;
    const int slot = key - of_sequence * params_.page_rows;
    const int page = load_element<Space::Global>(
        params_.pages + std::int64_t{sequence_} * params_.pages_pitch + of_sequence);
    if (static_cast<unsigned>(page) >= static_cast<unsigned>(params_.num_pages)) return nullptr;
    if (params_.heads_of_page == 0) {
      const std::int64_t row = std::int64_t{page} * params_.page_rows + slot;
      return heads.data + key_head_ * heads.head_stride + row * heads.token_stride;
    }
    const std::int64_t matrix = std::int64_t{page} * params_.heads_of_page + key_head_;
    return heads.data + matrix * heads.head_stride + slot * heads.token_stride;
  }

  // Rows that `row_at` tells of each row of the tile.
  template <HeadTile tile, class Stage, class RowAt>
  TW_DEVICE void copy(const Stage& stage, const Heads& heads, const RowAt& row_at) const {
    constexpr unsigned line = HeadTile::span_columns / 8;  // chunks of a row in a span
    static_assert(tile.rows * line % threads == 0, "Every thread copies as many chunks.");
    const auto chunks = stage.tensors().rows.template chunks<16>();
    const unsigned chunk = thread_ % line;
    constexpr unsigned rows = tile.rows * line / threads;  // that a thread copies
    [[maybe_unused]] Bytes fetched[rows][tile.spans()];
    TW_UNROLL
    for (unsigned i = 0; i < rows; ++i) {
      const unsigned in_tile = i * (threads / line) + thread_ / line;
      const Element* const row = row_at(static_cast<int>(in_tile));
      TW_UNROLL
      for (unsigned span = 0; span < tile.spans(); ++span) {
        const auto column = static_cast<int>(span * HeadTile::span_columns + chunk * 8);
        const bool inside = row != nullptr && column < heads.columns;
        if constexpr (fetches) {
          fetched[i][span] = Bytes{};
          if (inside) {
            fetched[i][span] =
                load_element<Space::Global>(reinterpret_cast<const Bytes*>(row + column));
          }
        } else {
          Copy::chunk(chunks.address(in_tile, chunk, span), inside ? row + column : heads.data,
                      inside);
        }
      }
    }
    if constexpr (fetches) {
      TW_UNROLL
      for (unsigned i = 0; i < rows; ++i) {
        TW_UNROLL
        for (unsigned span = 0; span < tile.spans(); ++span) {
          store(chunks.address(i * (threads / line) + thread_ / line, chunk, span),
                fetched[i][span]);
        }
      }
    }
  }

  static TW_DEVICE void store(SharedAddress to, const Bytes& bytes) {
    std::uint32_t words[4];
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      if constexpr (converts) {
        constexpr CodeFormat code = CodeFormat::of(type);
        const auto pair = static_cast<std::uint16_t>(bytes.get(i / 2) >> i % 2 * 16);
        words[i] = isa::cvt_bf16x2(code.value(pair & 0xffu), code.value(pair >> 8));
      } else {
        words[i] = bytes.get(i);
      }
    }
    isa::store_shared_16(to, words);
  }

  const Params& params_;
  unsigned thread_;
  SequenceRows rows_ = {};
  int sequence_ = 0;
  int last_block_ = 0;  // the key at which k-tile 0 begins: they count from the last to the first
  int key_head_ = 0;
};

}  // namespace tw
