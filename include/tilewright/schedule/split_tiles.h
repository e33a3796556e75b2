// From a counter to a part of a tile's sum: the maps of split-K and stream-K.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/threads.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Where part `part` of a sum begins: k_tiles * part / parts, by numbers that fit 31 bits.
TW_DEVICE int part_begin(int k_tiles, int part, const Divisor& parts) {
  const auto [each, rest] = parts.divide(static_cast<unsigned>(k_tiles));
  return static_cast<int>(each) * part + parts.by.of(static_cast<int>(rest) * part);
}

// Every sum in `splits` parts of about the same length. Parts are counted before the one that
// finishes: whoever waits for them, waits for work that was taken earlier. The last part has a slot
// where other parts finish shares, too, or the whole tile.
template <ClusterShape cluster, class Order, bool has_last_slot = false>
class SplitTiles : TilePlace<cluster, Order> {
  using Base = TilePlace<cluster, Order>;

 public:
  using Base::Base;
  using typename Base::Params;
  TW_DEVICE bool has(int index) const { return index < this->tiles() * this->params_.splits; }
  TW_DEVICE WorkTile tile(int index) const {
    const int tiles = this->tiles(), splits = this->params_.splits;
    const int part = this->params_.in_all.of(index);
    const int of = index - part * tiles;
    WorkTile tile = this->whole(of);
    tile.k_begin = part_begin(this->params_.k_tiles, part, this->params_.parts);
    tile.k_end = part_begin(this->params_.k_tiles, part + 1, this->params_.parts);
    tile.part = part;
    tile.parts = splits;
    tile.slot = (of * static_cast<int>(cluster.size()) + static_cast<int>(this->rank_)) *
                (has_last_slot ? splits : splits - 1);
    return tile;
  }
};

// Every sum in as many parts as the cluster has grids along k: its last one finishes.
template <ClusterShape cluster, class Order>
class ClusterSplitTiles : TilePlace<cluster, Order> {
  using Base = TilePlace<cluster, Order>;

 public:
  using Base::Base;
  using typename Base::Params;
  TW_DEVICE bool has(int index) const { return index < this->tiles(); }
  TW_DEVICE WorkTile tile(int index) const {
    constexpr ClusterShape shape = cluster;
    WorkTile tile = this->whole(index);
    // The rank, from an index that the compiler knows to be the same in all threads: whether a tile
    // is finished must not look like divergence, or ptxas serialises wgmma.
    tile.part = static_cast<int>(shape.part(isa::cta_index() % shape.size()));
    tile.parts = static_cast<int>(shape.k);
    constexpr Divisor parts(shape.k);
    tile.k_begin = part_begin(this->params_.k_tiles, tile.part, parts);
    tile.k_end = part_begin(this->params_.k_tiles, tile.part + 1, parts);
    return tile;
  }
};

// Stream-K: all k-tiles of all tiles in one line, cut into as many equal pieces as there are
// clusters. A cluster takes its piece from the end: what it begins comes first, so that whoever
// finishes a tile finds the other parts done.
template <ClusterShape cluster, class Order>
class StreamTiles : TilePlace<cluster, Order> {
  using Base = TilePlace<cluster, Order>;

 public:
  using Base::Base;
  using typename Base::Params;

  TW_DEVICE bool has(int index) const {
    const Piece piece = piece_of(index % clusters());
    if (this->params_.k_tiles == 0) return index < this->tiles();
    if (piece.begin == piece.end) return false;
    const int first = tile_of(piece.begin), last = tile_of(piece.end - 1);
    return index / clusters() <= last - first;
  }
  TW_DEVICE WorkTile tile(int index) const {
    const int k_tiles = this->params_.k_tiles;
    if (k_tiles == 0) return this->whole(index);
    const int worker = index % clusters();
    const Piece piece = piece_of(worker);
    const int of = tile_of(piece.end - 1) - index / clusters();
    WorkTile tile = this->whole(of);
    const std::int64_t start = std::int64_t{of} * k_tiles;
    tile.k_begin = piece.begin > start ? static_cast<int>(piece.begin - start) : 0;
    tile.k_end = piece.end < start + k_tiles ? static_cast<int>(piece.end - start) : k_tiles;
    const int first_worker = worker_of(start);
    tile.part = worker - first_worker;
    tile.parts = worker_of(start + k_tiles - 1) - first_worker + 1;
    // A worker leaves at most one tile unfinished: one slot each.
    tile.slot = first_worker * static_cast<int>(cluster.size()) + static_cast<int>(this->rank_);
    tile.slot_stride = static_cast<int>(cluster.size());
    return tile;
  }

 private:
  struct Piece {
    std::int64_t begin;
    std::int64_t end;
  };
  TW_DEVICE static int clusters() { return static_cast<int>(isa::cta_count() / cluster.size()); }
  TW_DEVICE std::int64_t units() const {
    return std::int64_t{this->tiles()} * this->params_.k_tiles;
  }
  TW_DEVICE Piece piece_of(int worker) const {
    return {units() * worker / clusters(), units() * (worker + 1) / clusters()};
  }
  // The worker whose piece holds a unit: the largest w with units * w / clusters <= unit.
  TW_DEVICE int worker_of(std::int64_t unit) const {
    return static_cast<int>(((unit + 1) * clusters() - 1) / units());
  }
  TW_DEVICE int tile_of(std::int64_t unit) const {
    return static_cast<int>(unit / this->params_.k_tiles);
  }
};

}  // namespace tw
