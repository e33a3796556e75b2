// Tiles of attention: rows of queries of one head, and the blocks of keys that they see.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// A map for schedules that only count upwards. A WorkTile's batch is a head, its n a sequence, its
// rows are counted in all sequences, and its k-tiles are blocks of `tile_keys` keys, taken from the
// last to the first. Heads are
// taken in sections whose keys and values stay in the L2 together; within a section the last rows
// of all heads come first: causal, they see most keys, and what is short fills the gaps at the end.
template <unsigned tile_rows, unsigned tile_keys, class SequencesType = Sequences>
class AttentionTiles {
 public:
  struct Params {
    SequencesType sequences;
    // Heads of queries. A section is a number of heads: where lengths stand on the device, those of
    // one sequence.
    int heads;
    int section;
  };
  TW_DEVICE explicit AttentionTiles(const Params& params) : params_(params) { read(); }

  TW_DEVICE bool has(int index) const {
    while (first_head_ < all_heads() && index - first_index_ >= width() * row_tiles_) {
      first_index_ += width() * row_tiles_;
      first_head_ += params_.section;
      read();
    }
    return first_head_ < all_heads();
  }
  TW_DEVICE WorkTile tile(int index) const {
    has(index);  // finds the section
    const int from_last = (index - first_index_) / width();
    const int in_section = index - first_index_ - from_last * width();
    const int head_of_all = first_head_ + in_section;
    const int sequence = head_of_all / params_.heads;
    const SequenceRows rows = params_.sequences.rows(sequence);
    const int row = rows.query_begin + (row_tiles_ - 1 - from_last) * static_cast<int>(tile_rows);
    // Sequences begin anywhere: each tile reaches back from the next multiple to where it begins.
    const int behind = (row + static_cast<int>(tile_rows) - 1) / static_cast<int>(tile_rows);
    if constexpr (has_ranges<SequencesType>) {
      const KeyRange any = params_.sequences.ranges(rows, row, static_cast<int>(tile_rows)).any;
      const int end = (any.end + static_cast<int>(tile_keys) - 1) / static_cast<int>(tile_keys);
      return {behind, sequence, head_of_all - sequence * params_.heads,
              rows.query_end, row, 0,
              end == 0 ? 0 : any.first / static_cast<int>(tile_keys), end};
    }
    const int end = row + static_cast<int>(tile_rows);
    const int last = (end < rows.query_end ? end : rows.query_end) - 1;
    const int seen = rows.keys_seen(last, params_.sequences.causal != 0);
    const int blocks = seen <= 0 ? 0 : (seen - 1) / static_cast<int>(tile_keys) + 1;
    // The first row sees the first of them.
    const int unseen = params_.sequences.unseen(rows.keys_seen(row, params_.sequences.causal != 0));
    const int first = blocks == 0 ? 0 : unseen / static_cast<int>(tile_keys);
    return {behind, sequence, head_of_all - sequence * params_.heads, rows.query_end, row, 0,
            first,  blocks};
  }

 private:
  TW_DEVICE int all_heads() const { return params_.sequences.count * params_.heads; }
  // Heads in the section.
  TW_DEVICE int width() const {
    const int left = all_heads() - first_head_;
    return left < params_.section ? left : params_.section;
  }
  // All sequences of a section are equally long.
  TW_DEVICE void read() const {
    if (first_head_ >= all_heads()) return;
    const int queries = params_.sequences.rows(first_head_ / params_.heads).queries();
    row_tiles_ = (queries + static_cast<int>(tile_rows) - 1) / static_cast<int>(tile_rows);
  }

  const Params& params_;
  // The section of the last index.
  mutable int first_head_ = 0;
  mutable int first_index_ = 0;
  mutable int row_tiles_ = 0;
};

}  // namespace tw
