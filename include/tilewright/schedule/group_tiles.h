// Tiles of groups of rows, each of which meets a B of its own. How many rows a group has stands in
// global memory: the host need not know.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/layout/access.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// A map that counts upwards, and begins anew where it is asked for less. Tiles of one group follow
// each other; the batch of a WorkTile is its group, and its rows are counted in all groups. Where
// operands are swap_ab, what has rows is B, and a tile's columns are the group's rows: `tile_rows`
// of them.
template <ClusterShape cluster, class Order, int tile_rows, bool swap_ab = false>
class GroupTiles {
 public:
  struct Params {
    TileMapParams<Order> map;  // `batches` counts groups, `m` the rows of all
    // One number for each group. Without a capacity: the row behind its last, where the next group
    // begins. Otherwise how many of its `capacity` rows are there.
    const std::int32_t* rows;
    int capacity;
  };
  TW_DEVICE explicit GroupTiles(const Params& params) : params_(params), rank_(rank_in<cluster>()) {
    read();
  }

  TW_DEVICE bool has(int index) const {
    if (params_.capacity == 0 && lies_behind(index)) skip(index);
    while (lies_behind(index)) {
      pass();
      read();
    }
    return group_ < params_.map.batches;
  }
  // The same where somebody else hands out indices: in any order, and more than there are tiles.
  TW_DEVICE bool offers(int index) const {
    if (index < first_tile_) start_over();
    return has(index);
  }
  // Whole tiles of a cluster that groups have at most: what a launch can know. Each group that has
  // rows begins a tile of its own.
  static constexpr std::int64_t most_row_tiles(std::int64_t rows, std::int64_t groups,
                                               std::int64_t capacity) {
    if (capacity > 0) return groups * ((capacity + step - 1) / step);
    const std::int64_t begun = groups < rows ? groups : rows;
    return begun + (rows - begun) / step;
  }
  static constexpr bool counts_upwards = true;
  // So many tiles there are at least: those of all rows, if they were of one group.
  TW_DEVICE int certain() const {
    if (params_.capacity > 0 || params_.map.batches == 0) return 0;
    const int last = load_element<Space::Global>(params_.rows + params_.map.batches - 1);
    return row_tiles(0, nearest(last, 0, params_.map.m)) * other_tiles();
  }
  // `has` has found the group.
  TW_DEVICE WorkTile tile(int index) const {
    const TileMapParams<Order>& map = params_.map;
    const int tiles_m = swap_ab ? map.tiles_m : row_tiles();
    const int tiles_n = swap_ab ? row_tiles() : map.tiles_n;
    const TileAt at = Order::template at<false>(map.order, index - first_tile_, tiles_m, tiles_n);
    const int m = at.m * static_cast<int>(cluster.m) + static_cast<int>(cluster.row(rank_));
    const int n = at.n * static_cast<int>(cluster.n) + static_cast<int>(cluster.column(rank_));
    int row = begin_ + (swap_ab ? n : m) * tile_rows;
    // The last tile reaches back, but never before its group; TMA can then store it whole.
    const int last = swap_ab ? map.last_column : map.last_row;
    const bool reaches_back = last < map.m && end_ - begin_ >= tile_rows;
    if (reaches_back && row > end_ - tile_rows) row = end_ - tile_rows;
    // Groups begin anywhere: each tile reaches back from the next multiple to where it begins.
    const int behind = (row + tile_rows - 1) / tile_rows;
    if constexpr (swap_ab) {
      return {m, behind, group_, end_, map.last_row, row, 0, map.k_tiles};
    } else {
      return {behind, n, group_, end_, row, map.last_column, 0, map.k_tiles};
    }
  }

 private:
  // Rows of a cluster's tile.
  static constexpr int step = tile_rows * static_cast<int>(swap_ab ? cluster.n : cluster.m);

  TW_DEVICE void start_over() const {
    group_ = first_tile_ = begin_ = end_ = 0;
    read();
  }
  // Whether there is a group, and the tile is of another behind it.
  TW_DEVICE bool lies_behind(int index) const {
    return group_ < params_.map.batches && index - first_tile_ >= row_tiles() * other_tiles();
  }
  // Goes on by several groups at once while tile `index` lies behind them, groups lying one behind
  // the other: their numbers come in one latency, where one by one each would wait for its own. A
  // layer of few tokens has more experts than tiles.
  TW_DEVICE void skip(int index) const {
    constexpr int some = 8;
    while (group_ + some < params_.map.batches) {
      int given[some];
      TW_UNROLL
      for (int i = 0; i < some; ++i) {
        given[i] = load_element<Space::Global>(params_.rows + group_ + 1 + i);
      }
      int begin = begin_, end = end_, tiles = 0;
      TW_UNROLL
      for (int i = 0; i < some; ++i) {
        tiles += row_tiles(begin, end);
        begin = end;
        end = nearest(given[i], begin, params_.map.m);
      }
      const int first_tile = first_tile_ + tiles * other_tiles();
      if (index < first_tile) return;
      first_tile_ = first_tile;
      group_ += some;
      begin_ = begin;
      end_ = end;
    }
  }
  TW_DEVICE void pass() const {
    first_tile_ += row_tiles() * other_tiles();
    ++group_;
  }
  // Tiles along a group's rows, and along what all groups have alike.
  TW_DEVICE int row_tiles() const { return row_tiles(begin_, end_); }
  static TW_DEVICE int row_tiles(int begin, int end) { return (end - begin + step - 1) / step; }
  TW_DEVICE int other_tiles() const { return swap_ab ? params_.map.tiles_m : params_.map.tiles_n; }
  TW_DEVICE void read() const {
    if (group_ == params_.map.batches) return;
    take(load_element<Space::Global>(params_.rows + group_));
  }
  // Numbers that cannot be are taken as the nearest that can: nothing beside D is ever stored.
  static TW_DEVICE int nearest(int given, int least, int most) {
    return given < least ? least : given < most ? given : most;
  }
  TW_DEVICE void take(int given) const {
    const int capacity = params_.capacity;
    begin_ = capacity > 0 ? group_ * capacity : end_;
    const int least = capacity > 0 ? 0 : begin_, most = capacity > 0 ? capacity : params_.map.m;
    const int there = nearest(given, least, most);
    end_ = capacity > 0 ? begin_ + there : there;
  }

  const Params& params_;
  unsigned rank_;
  // Where the last index was: groups are read once, one after the other.
  mutable int group_ = 0;
  mutable int first_tile_ = 0;
  mutable int begin_ = 0;  // the group's rows
  mutable int end_ = 0;
};

}  // namespace tw
