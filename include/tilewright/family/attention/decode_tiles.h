// Tiles of attention with few queries: rows of all heads that share keys, and a part of the keys.
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/io/divisor.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// All tiles of a head of keys have equally many heads; or the last of them has what is left.
struct EvenHeads {};
struct UnevenHeads {
  int sharing;         // heads that share keys
  int groups_of_keys;  // the groups of these
};

// Parts of a tile are counted behind those of all others; or they are the CTAs of a cluster, a
// power of two, and all of them finish, the last ones perhaps without keys.
inline constexpr unsigned cluster_parts = 8;  // at most
struct PartsApart {};
struct PartsInCluster {
  unsigned parts_log;
  Quotient of_chunks;
  Quotient of_groups;
  Quotient of_groups_of_keys;
};

// A map for schedules that only count upwards: a part that waits for others comes behind them. A
// WorkTile's batch is the first of its heads, its n a sequence, its k-tiles blocks of `tile_keys`
// keys. Parts begin at multiples of `part_blocks` blocks, whatever else is computed.
template <unsigned tile_rows, unsigned tile_keys, bool uneven = false, bool in_cluster = false>
class DecodeTiles {
 public:
  struct Params : std::conditional_t<uneven, UnevenHeads, EvenHeads>,
                  std::conditional_t<in_cluster, PartsInCluster, PartsApart> {
    Sequences sequences;
    SharedRows shared;
    int groups;  // groups of heads in each sequence
    int chunks;  // chunks of queries in each sequence
    int parts;   // at most
    int part_blocks;
  };
  TW_DEVICE explicit DecodeTiles(const Params& params) : params_(params) {}

  TW_DEVICE bool has(int index) const { return index < slots() * params_.parts; }
  TW_DEVICE WorkTile tile(int index) const {
    const auto [slot, part, of_groups, sequence] = place(index);
    const SequenceRows rows = params_.sequences.rows(sequence);
    const int room = params_.shared.room;
    const int row = rows.query_begin + (slot - of_groups * params_.chunks) * room;
    const int end = row + room < rows.query_end ? row + room : rows.query_end;
    const bool causal = params_.sequences.causal != 0;
    const int seen = rows.keys_seen(end - 1, causal);
    const int blocks = seen <= 0 ? 0 : (seen - 1) / static_cast<int>(tile_keys) + 1;
    const int first =
        params_.sequences.unseen(rows.keys_seen(row, causal)) / static_cast<int>(tile_keys);
    const int step = params_.part_blocks;
    const int first_part = blocks == 0 ? 0 : first / step;
    const int parts = blocks == 0 ? 1 : (blocks - 1) / step + 1;
    // Where a tile begins, as AttentionTiles has it.
    const int behind = (row + static_cast<int>(tile_rows) - 1) / static_cast<int>(tile_rows);
    WorkTile tile = {behind, sequence, 0, rows.query_end, row, 0, 0, 0};
    tile.batch = first_head(of_groups - sequence * params_.groups);
    tile.slot = slot;
    if constexpr (in_cluster) {
      tile.part = part;
      tile.parts = params_.parts;
      const int end = (part + 1) * step < blocks ? (part + 1) * step : blocks;
      tile.k_begin = part * step > first ? part * step : first;
      tile.k_end = end > tile.k_begin ? end : tile.k_begin;
      return tile;
    }
    if (part < first_part || part >= parts) {
      tile.parts = 2;  // nothing, and does not finish
      return tile;
    }
    tile.part = part - first_part;
    tile.parts = parts - first_part;
    tile.k_begin = part * step > first ? part * step : first;
    tile.k_end = (part + 1) * step < blocks ? (part + 1) * step : blocks;
    return tile;
  }

 private:
  struct Place {
    int slot;
    int part;
    int of_groups;
    int sequence;
  };
  TW_DEVICE Place place(int index) const {
    if constexpr (in_cluster) {
      const int slot = index >> params_.parts_log;
      const int of_groups = params_.of_chunks.of(slot);
      return {slot, index - (slot << params_.parts_log), of_groups,
              params_.of_groups.of(of_groups)};
    } else {
      const int part = index / slots();
      const int slot = index - part * slots();
      const int of_groups = slot / params_.chunks;
      return {slot, part, of_groups, of_groups / params_.groups};
    }
  }
  // A group is one of a sequence's.
  TW_DEVICE int first_head(int group) const {
    if constexpr (uneven) {
      int key_head = 0;
      if constexpr (in_cluster) {
        key_head = params_.of_groups_of_keys.of(group);
      } else {
        key_head = group / params_.groups_of_keys;
      }
      return key_head * params_.sharing +
             (group - key_head * params_.groups_of_keys) * params_.shared.heads;
    } else {
      return group * params_.shared.heads;
    }
  }
  TW_DEVICE int slots() const { return params_.sequences.count * params_.groups * params_.chunks; }
  const Params& params_;
};

}  // namespace tw
