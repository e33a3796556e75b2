// Work tiles: what one is, where the counter puts it, and the static schedule, which counts.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/tiling.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

namespace kernel {
class Key;
}

// Counts begin .. end - 1.
struct CountRange {
  int first;
  int last;
  struct Iterator {
    int value;
    TW_DEVICE int operator*() const { return value; }
    TW_DEVICE Iterator& operator++() {
      ++value;
      return *this;
    }
    TW_DEVICE bool operator!=(Iterator other) const { return value != other.value; }
  };
  TW_DEVICE Iterator begin() const { return {first}; }
  TW_DEVICE Iterator end() const { return {last}; }
};

struct PieceRange;

// One output tile, or a part of its sum, and the k-tiles that make it.
struct WorkTile {
  int m;  // tile row and column of this CTA
  int n;
  int batch;
  int m_end;        // rows of the output from here on are not this tile's to store
  int last_row;     // no tile begins below it,
  int last_column;  // nor to the right of this
  int k_begin;      // in k-tiles, of which one fills a stage
  int k_end;
  // The sum is made of `parts` parts, of which this is one; the last part finishes. Parts that do
  // not finish lie in the workspace, part p at slot + p * slot_stride.
  int part = 0;
  int parts = 1;
  int slot = 0;
  int slot_stride = 1;
  bool weights_are_constant = false;  // no grid that may still run writes them

  // Where tiles of `rows` rows begin. One at the edge may reach back over the one before it, which
  // it computes and stores alike: TMA reads rows faster than it fills in missing ones.
  TW_DEVICE int first_row(unsigned rows) const { return first(m, rows, last_row); }
  TW_DEVICE int first_column(unsigned columns) const { return first(n, columns, last_column); }
  // A function of the tile alone: every role agrees whether an epilogue follows.
  TW_DEVICE bool finishes() const { return part + 1 == parts; }
  TW_DEVICE int num_k_tiles() const { return k_end - k_begin; }
  // Only skeletons hold a Key: role loops exist once.
  TW_DEVICE CountRange k_tiles(const kernel::Key&) const { return {k_begin, k_end}; }
  // The tile once, or where sums are promoted, in pieces of `every` k-tiles.
  TW_DEVICE PieceRange sums(const kernel::Key&, int every) const;

 private:
  static TW_DEVICE int first(int index, unsigned extent, int last) {
    const int own = index * static_cast<int>(extent);
    return own < last ? own : last;
  }
};

struct PieceRange {
  WorkTile tile;
  int every;  // 0: the tile is one piece
  struct End {};
  struct Iterator {
    const PieceRange* range;
    int k_begin;
    bool first;
    TW_DEVICE WorkTile operator*() const {
      WorkTile piece = range->tile;
      piece.k_begin = k_begin;
      if (range->every != 0 && piece.k_end - k_begin > range->every) {
        piece.k_end = k_begin + range->every;
      }
      return piece;
    }
    TW_DEVICE Iterator& operator++() {
      k_begin = range->every != 0 ? k_begin + range->every : range->tile.k_end;
      first = false;
      return *this;
    }
    // A tile without k-tiles is still one piece: the sum of nothing.
    TW_DEVICE bool operator!=(End) const {
      return first || (range->every != 0 && k_begin < range->tile.k_end);
    }
  };
  TW_DEVICE Iterator begin() const { return {this, tile.k_begin, true}; }
  TW_DEVICE End end() const { return {}; }
};

TW_DEVICE PieceRange WorkTile::sums(const kernel::Key&, int every) const { return {*this, every}; }

// AlongM sweeps m fastest within a group of lines.
enum class Raster : std::uint16_t { AlongM, AlongN };

struct TileAt {
  int m;
  int n;
};

// An order says where tile `index` lies: neighbours in time should be neighbours in the L2. Here
// `group` lines of tiles side by side, so that a wave reads few rows of A and few columns of B.
struct BandedOrder {
  struct Params {
    std::uint16_t group;
    Raster raster;
    Quotient band;  // tiles of a band
    Quotient width;
    Quotient last_width;  // the band at the edge has it, where the group does not divide

    constexpr void foresee(int tiles_m, int tiles_n) {
      const int fast = raster == Raster::AlongM ? tiles_m : tiles_n;
      const int slow = raster == Raster::AlongM ? tiles_n : tiles_m;
      band = Quotient(static_cast<unsigned>(group * slow));
      width = Quotient(static_cast<unsigned>(group));
      if (fast % group != 0) last_width = Quotient(static_cast<unsigned>(fast % group));
    }
  };
  // `foreseen`: the tiles are counted as the launch counted them.
  template <bool foreseen = isa::foresees_divisions>
  static TW_DEVICE TileAt at(const Params& params, int index, int tiles_m, int tiles_n) {
    const bool along_m = params.raster == Raster::AlongM;
    const int fast = along_m ? tiles_m : tiles_n;
    const int slow = along_m ? tiles_n : tiles_m;
    const int band_size = params.group * slow;
    const int band = foreseen ? params.band.of(index) : index / band_size;
    const int first = band * params.group;
    const int in_band = index - band * band_size;
    const bool is_last = fast - first < params.group;
    const int width = is_last ? fast - first : params.group;
    const int slow_index =
        foreseen ? (is_last ? params.last_width : params.width).of(in_band) : in_band / width;
    const int fast_index = first + in_band - slow_index * width;
    return along_m ? TileAt{fast_index, slow_index} : TileAt{slow_index, fast_index};
  }
};

// A map says what work `index` is: which output tile, and which part of its sum. Counts are in
// tiles of a whole cluster; each of its CTAs takes its place there. A kernel's parameters begin
// with them, and they with the 64 bytes that the first copy of a whole tile waits for: one line of
// the constant bank, which no launch finds in the cache.
template <class Order>
struct TileMapParams {
  int tiles_m;
  int tiles_n;
  int batches;
  int k_tiles;
  int last_row;  // where a tile may begin
  int last_column;
  unsigned weights_are_constant = 0;  // the loader may begin with them
  typename Order::Params order;
  Quotient in_batch;  // tiles of a batch
  int m;              // rows of the output
  int splits;         // parts of each sum; 1 where sums are whole
  Quotient in_all;    // tiles of all batches
  Divisor parts;

  // The divisions of a launch, once its counts are set: those of a first tile stand between the
  // start of a kernel and its first copy.
  constexpr void foresee() {
    order.foresee(tiles_m, tiles_n);
    in_batch = Quotient(static_cast<unsigned>(tiles_m * tiles_n));
    in_all = Quotient(static_cast<unsigned>(tiles_m * tiles_n * batches));
    parts = Divisor(static_cast<unsigned>(splits));
  }
};

template <ClusterShape cluster, class Order>
class TilePlace {
 public:
  using Params = TileMapParams<Order>;
  TW_DEVICE explicit TilePlace(const Params& params) : params_(params), rank_(rank_in<cluster>()) {}

 protected:
  // Tile `index` of all batches; the parts of its sum are left to the caller.
  TW_DEVICE WorkTile whole(int index) const {
    const int in_batch = params_.tiles_m * params_.tiles_n;
    const int batch = isa::foresees_divisions ? params_.in_batch.of(index) : index / in_batch;
    const TileAt at =
        Order::at(params_.order, index - batch * in_batch, params_.tiles_m, params_.tiles_n);
    return {.m = at.m * static_cast<int>(cluster.m) + static_cast<int>(cluster.row(rank_)),
            .n = at.n * static_cast<int>(cluster.n) + static_cast<int>(cluster.column(rank_)),
            .batch = batch,
            .m_end = params_.m,
            .last_row = params_.last_row,
            .last_column = params_.last_column,
            .k_begin = 0,
            .k_end = params_.k_tiles,
            .weights_are_constant = params_.weights_are_constant != 0};
  }
  TW_DEVICE int tiles() const { return params_.tiles_m * params_.tiles_n * params_.batches; }

  const Params& params_;
  unsigned rank_;
};

// Every tile whole. Maps that cut sums: schedule/split_tiles.h.
template <ClusterShape cluster, class Order>
class WholeTiles : TilePlace<cluster, Order> {
  using Base = TilePlace<cluster, Order>;

 public:
  using Base::Base;
  using typename Base::Params;
  TW_DEVICE bool has(int index) const { return index < this->tiles(); }
  TW_DEVICE WorkTile tile(int index) const { return this->whole(index); }
  // So many works there are, at least.
  TW_DEVICE int certain() const { return this->tiles(); }
};

// The static persistent schedule: cluster c takes work c, c + clusters, c + 2 clusters, ...
template <ClusterShape cluster, class Map>
struct StaticPersistent {
  static constexpr bool one_wave = true;        // the grid is what fits the device at once
  static constexpr bool draws_tickets = false;  // from a counter in a workspace
  static constexpr bool knows_first = !requires(const Map& map) { map.offers(0); };
  using Params = typename Map::Params;
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}

  // Each role counts for itself.
  template <Release>
  class Reader {
   public:
    TW_DEVICE Reader(const Params& params, Storage&, unsigned /*thread*/) : map_(params) {}

    struct Iterator {
      const Map* map;
      int index;
      TW_DEVICE WorkTile operator*() const { return map->tile(index); }
      TW_DEVICE Iterator& operator++() {
        index += static_cast<int>(isa::cta_count() / cluster.size());
        return *this;
      }
      struct End {};
      TW_DEVICE bool operator!=(End) const { return map->has(index); }
    };
    struct Range {
      const Map* map;
      TW_DEVICE Iterator begin() const {
        return {map, static_cast<int>(isa::cta_index() / cluster.size())};
      }
      TW_DEVICE typename Iterator::End end() const { return {}; }
    };

    // Only skeletons hold a Key.
    TW_DEVICE Range tiles(const kernel::Key&) { return {&map_}; }
    TW_DEVICE void begin() {}
    TW_DEVICE void look_ahead() {}

   private:
    Map map_;
  };
};

}  // namespace tw
