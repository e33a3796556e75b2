// Orders and maps of work on the host: every tile is somebody's once, and every k-tile of its sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "tilewright/arch/sm90.h"
#include "tilewright/family/matmul/kernel.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/schedule/group_tiles.h"
#include "tilewright/schedule/hilbert_order.h"
#include "tilewright/schedule/split_tiles.h"
#include "tilewright/schedule/xcd_order.h"

namespace tw {
namespace {

constexpr ClusterShape alone = {1, 1};

BandedOrder::Params bands(int group, Raster raster) {
  BandedOrder::Params order{};
  order.group = static_cast<std::uint16_t>(group);
  order.raster = raster;
  return order;
}

TileMapParams<BandedOrder> map_of(int tiles_m, int tiles_n, int batches, int k_tiles, int splits) {
  TileMapParams<BandedOrder> map{};
  map.tiles_m = tiles_m;
  map.tiles_n = tiles_n;
  map.batches = batches;
  map.k_tiles = k_tiles;
  map.m = map.last_row = map.last_column = 1 << 20;
  map.splits = splits;
  map.order = bands(2, Raster::AlongN);
  return map;
}

// The first copy of a whole tile waits for one line of the constant bank: a kernel's parameters
// begin with their schedule's, and these with the 64 bytes of a map that it needs.
struct Alone {
  static constexpr MatmulConfig config = {.tiling = {.m = 128, .n = 256}};
};
struct InPairs {
  static constexpr MatmulConfig config = {.tiling = {.m = 128, .n = 256, .cluster = {2, 1}},
                                          .scheduling = Scheduling::Dynamic};
};
template <class Named>
using ParamsOf = typename kernel::WarpSpecialized<Matmul<Sm90, Named>>::Params;

TEST(Params, HaveTheFirstTileInTheirFirstLine) {
  EXPECT_EQ(offsetof(TileMapParams<BandedOrder>, m), 64u);
  EXPECT_EQ(offsetof(ParamsOf<Alone>, schedule), 0u);
  EXPECT_EQ(offsetof(ParamsOf<InPairs>, schedule), 0u);
  EXPECT_EQ(offsetof(decltype(ParamsOf<InPairs>::schedule), map), 0u);
}

TEST(Orders, BandsReachEveryTileOnce) {
  for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
    for (int group = 1; group <= 9; ++group) {
      for (const auto& [m, n] : {std::pair{1, 1}, {1, 13}, {13, 1}, {7, 12}, {16, 8}, {5, 5}}) {
        BandedOrder::Params order = bands(group, raster);
        order.foresee(m, n);
        std::vector<int> reached(m * n);
        for (int index = 0; index < m * n; ++index) {
          const TileAt at = BandedOrder::at<true>(order, index, m, n);
          const TileAt divided = BandedOrder::at<false>(order, index, m, n);
          ASSERT_EQ(at.m, divided.m);
          ASSERT_EQ(at.n, divided.n);
          ASSERT_TRUE(at.m >= 0 && at.m < m && at.n >= 0 && at.n < n) << index;
          ++reached[at.m * n + at.n];
        }
        EXPECT_EQ(std::count(reached.begin(), reached.end(), 1), m * n) << group;
      }
    }
  }
}

TEST(Orders, TheCurveReachesEveryTileOnceAndMovesByOne) {
  for (int m = 1; m <= 20; ++m) {
    for (int n = 1; n <= 20; ++n) {
      std::vector<int> reached(m * n);
      TileAt before = {0, 0};
      for (int index = 0; index < m * n; ++index) {
        const TileAt at = HilbertOrder::at({}, index, m, n);
        ASSERT_TRUE(at.m >= 0 && at.m < m && at.n >= 0 && at.n < n);
        ++reached[at.m * n + at.n];
        // Odd sides cost a diagonal step.
        ASSERT_LE(std::max(std::abs(at.m - before.m), std::abs(at.n - before.n)), 1);
        before = at;
      }
      ASSERT_EQ(std::count(reached.begin(), reached.end(), 1), m * n) << m << " by " << n;
    }
  }
}

TEST(Orders, DiesGetEachWorkOnce) {
  for (int count = 1; count <= 300; ++count) {
    std::vector<int> dealt(count);
    for (int index = 0; index < count; ++index) ++dealt[dealt_to_dies<8, 4>(index, count)];
    ASSERT_EQ(std::count(dealt.begin(), dealt.end(), 1), count);
  }
  // Workgroups of one die, which are eight apart, have neighbours.
  EXPECT_EQ((dealt_to_dies<8, 4>(8, 64)), (dealt_to_dies<8, 4>(0, 64)) + 1);
}

TEST(Parts, CoverEveryKTile) {
  for (int k_tiles = 0; k_tiles <= 70; ++k_tiles) {
    for (int parts = 1; parts <= 64; ++parts) {
      const Divisor divisor(static_cast<unsigned>(parts));
      for (int part = 0; part <= parts; ++part) {
        ASSERT_EQ(part_begin(k_tiles, part, divisor), k_tiles * part / parts);
      }
    }
  }
}

TEST(Parts, OfAllTilesHaveSlotsOfTheirOwn) {
  TileMapParams<BandedOrder> map = map_of(3, 5, 2, 17, 4);
  map.foresee();
  const SplitTiles<alone, BandedOrder> tiles(map);
  std::vector<int> covered(3 * 5 * 2 * 17), slots(3 * 5 * 2 * 3);
  int index = 0;
  for (; tiles.has(index); ++index) {
    const WorkTile tile = tiles.tile(index);
    for (int k = tile.k_begin; k < tile.k_end; ++k) {
      ++covered[((tile.batch * 3 + tile.m) * 5 + tile.n) * 17 + k];
    }
    if (!tile.finishes()) ++slots.at(tile.slot + tile.part * tile.slot_stride);
  }
  EXPECT_EQ(index, 3 * 5 * 2 * 4);
  EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), std::ssize(covered));
  EXPECT_EQ(std::count(slots.begin(), slots.end(), 1), std::ssize(slots));
}

// Rows up to the last end are covered once, others never.
void expect_rows(const std::vector<int>& covered, int tiles_n,
                 const std::vector<std::int32_t>& ends, int rows) {
  int end = 0;
  for (const std::int32_t given : ends) end = std::clamp<int>(given, end, rows);
  for (int row = 0; row < rows; ++row) {
    for (int n = 0; n < tiles_n; ++n) ASSERT_EQ(covered[row * tiles_n + n], row < end) << row;
  }
}

// Groups of many sizes, among them more empty ones than are passed at once, and numbers that cannot
// be, whichever tiles a worker asks for.
TEST(Groups, CoverTheirRowsAndNoOthers) {
  constexpr int tile_rows = 16, tiles_n = 3;
  const std::vector<std::vector<std::int32_t>> cases = {
      {5, 5, 25, 28},
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40},
      {16, 32, 33},
      {64},
      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
      {10, 4, 1000, -3, 64}};
  for (const std::vector<std::int32_t>& ends : cases) {
    constexpr int rows = 64;
    TileMapParams<BandedOrder> map = map_of(0, tiles_n, static_cast<int>(ends.size()), 1, 1);
    map.m = map.last_row = rows;
    const GroupTiles<alone, BandedOrder, tile_rows>::Params params = {map, ends.data(), 0};
    const auto covers = [&](const auto& tiles_of, int workers) {
      std::vector<int> covered(rows * tiles_n);
      for (int worker = 0; worker < workers; ++worker) {
        const auto tiles = tiles_of();
        for (int index = worker; tiles.has(index); index += workers) {
          const WorkTile tile = tiles.tile(index);
          const int first = tile.first_row(tile_rows);
          const int last = std::min(first + tile_rows, tile.m_end);
          ASSERT_TRUE(tile.n >= 0 && tile.n < tiles_n) << "index " << index << " of " << workers;
          for (int row = first; row < last; ++row) ++covered.at(row * tiles_n + tile.n);
        }
      }
      expect_rows(covered, tiles_n, ends, rows);
    };
    using Tiles = GroupTiles<alone, BandedOrder, tile_rows>;
    for (const int workers : {1, 4, 5, 6, 23, 24, 25, 60}) {
      covers([&] { return Tiles(params); }, workers);
      // Dies get neighbours of tiles that are surely there; each worker still counts upwards.
      const auto many = static_cast<unsigned>(workers);
      covers([&] { return DealtToDies<Tiles, 2, 2>(params, many); }, workers);
      covers([&] { return DealtToDies<Tiles, 4, 1>(params, many); }, workers);
    }
  }
}

// Handed out in any order, and more than there are: a launch knows no better than most_row_tiles.
TEST(Groups, AreFoundInAnyOrder) {
  constexpr int tile_rows = 16, tiles_n = 3, rows = 64;
  using Tiles = GroupTiles<alone, BandedOrder, tile_rows>;
  const std::vector<std::vector<std::int32_t>> cases = {
      {5, 5, 25, 28}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40}, {64}, {0, 0}, {10, 4, 1000, -3, 64}};
  for (const std::vector<std::int32_t>& ends : cases) {
    TileMapParams<BandedOrder> map = map_of(0, tiles_n, static_cast<int>(ends.size()), 1, 1);
    map.m = map.last_row = rows;
    const Tiles::Params params = {map, ends.data(), 0};
    const int offered =
        tiles_n * static_cast<int>(Tiles::most_row_tiles(rows, std::ssize(ends), 0));
    ASSERT_FALSE(Tiles(params).has(offered));
    std::vector<int> covered(rows * tiles_n);
    const Tiles tiles(params);
    // 7919 is a prime beyond all counts: every index once.
    for (int i = 0, index = 0; i < offered; ++i, index = (index + 7919) % offered) {
      if (!tiles.offers(index)) {
        ASSERT_FALSE(Tiles(params).has(index)) << index;
        continue;
      }
      const WorkTile tile = tiles.tile(index);
      const int first = tile.first_row(tile_rows);
      const int last = std::min(first + tile_rows, tile.m_end);
      for (int row = first; row < last; ++row) ++covered.at(row * tiles_n + tile.n);
    }
    expect_rows(covered, tiles_n, ends, rows);
  }
}

// Every group that has a row begins a tile: one row each, or all but one row in one group.
TEST(Groups, HaveAtMostSoManyTiles) {
  using Tiles = GroupTiles<alone, BandedOrder, 16>;
  EXPECT_EQ(Tiles::most_row_tiles(3, 8, 0), 3);
  EXPECT_EQ(Tiles::most_row_tiles(8, 8, 0), 8);
  EXPECT_EQ(Tiles::most_row_tiles(17, 2, 0), 2);
  EXPECT_EQ(Tiles::most_row_tiles(18, 2, 0), 3);
  EXPECT_EQ(Tiles::most_row_tiles(34, 2, 0), 4);
  EXPECT_EQ(Tiles::most_row_tiles(70, 2, 35), 6);
}

}  // namespace
}  // namespace tw
