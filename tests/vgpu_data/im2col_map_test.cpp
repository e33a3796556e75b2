#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "vgpu/data/tile_map.h"

namespace {

using namespace tw;
using namespace tw::vgpu;

// Elements of two bytes, 8 channels, (w, h, d) as the rank has them, n; every element tells itself.
struct Images {
  TileMap map;
  std::vector<std::uint16_t> storage;

  explicit Images(const std::vector<unsigned>& extents, unsigned channels_per_pixel,
                  unsigned pixels) {
    map.rank = static_cast<std::uint32_t>(extents.size());
    map.element_bytes = 2;
    map.box[0] = channels_per_pixel;
    map.im2col.pixels = pixels;
    std::uint64_t elements = 1;
    for (unsigned d = 0; d < map.rank; ++d) {
      if (d > 0) map.pitch_bytes[d - 1] = elements * 2;
      map.extents[d] = extents[d];
      elements *= extents[d];
    }
    storage.resize(elements + 8);
    const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    map.base = reinterpret_cast<void*>((address + 15) / 16 * 16);
    for (std::uint64_t i = 0; i < elements; ++i) {
      static_cast<std::uint16_t*>(map.base)[i] = static_cast<std::uint16_t>(1 + i % 65521);
    }
  }

  // 0 outside of the tensor.
  std::uint16_t at(const std::vector<std::int64_t>& coordinates) const {
    std::uint64_t offset = 0, pitch = 1;
    for (unsigned d = 0; d < map.rank; ++d) {
      const auto extent = static_cast<std::int64_t>(map.extents[d]);
      if (coordinates[d] < 0 || coordinates[d] >= extent) return 0;
      offset += static_cast<std::uint64_t>(coordinates[d]) * pitch;
      pitch *= map.extents[d];
    }
    return static_cast<const std::uint16_t*>(map.base)[offset];
  }
};

// What a copy leaves in shared memory, unswizzled.
std::vector<std::uint16_t> copied(const TileMap& map, const std::vector<int>& at,
                                  const std::vector<std::uint16_t>& offsets) {
  EXPECT_EQ(check(map).sentence(), "");
  const TileMap back = decode(encode(map));
  EXPECT_EQ(check_copy(back, at.data(), 0, CopyDirection::LoadIm2col).sentence(), "");
  EXPECT_EQ(check_offsets(back, offsets.data()).sentence(), "");
  std::vector<int> moved = at;
  for (unsigned i = 0; i < offsets.size(); ++i) moved[i + 1] += offsets[i];
  std::vector<std::uint16_t> result(box_bytes(map) / 2, 0xDEAD);
  std::uint32_t bytes = 0;
  for_each_run(at_offsets(back, offsets.data()), moved.data(), 0, [&](const Run& run) {
    bytes += run.bytes;
    auto* to = reinterpret_cast<std::byte*>(result.data()) + run.shared;
    if (run.global == nullptr) {
      std::memset(to, 0, run.bytes);
    } else {
      std::memcpy(to, run.global, run.bytes);
    }
  });
  EXPECT_EQ(bytes, box_bytes(map));
  return result;
}

// The definition: a list of all first pixels of the pixel box of every image in their order, of
// which a copy takes `pixels` from its own on.
std::vector<std::uint16_t> defined(const Images& images, const std::vector<int>& at,
                                   const std::vector<std::uint16_t>& offsets) {
  const TileMap& map = images.map;
  const unsigned spatial = map.rank - 2;
  std::vector<std::vector<std::int64_t>> all = {{}};
  for (unsigned i = 0; i < spatial; ++i) {
    std::vector<std::vector<std::int64_t>> longer;
    const auto last = static_cast<std::int64_t>(map.extents[i + 1]) - 1 + map.im2col.upper[i];
    for (std::int64_t x = map.im2col.lower[i]; x <= last; x += map.im2col.steps[i]) {
      for (std::vector<std::int64_t> pixel : all) {
        pixel.push_back(x);
        longer.push_back(pixel);
      }
    }
    all = longer;  // the innermost still runs fastest
  }
  std::size_t first = 0;
  const std::vector<std::int64_t> wanted(at.begin() + 1, at.end() - 1);
  while (all[first] != wanted) ++first;
  std::vector<std::uint16_t> result;
  for (std::uint32_t i = 0; i < map.im2col.pixels; ++i) {
    const std::size_t index = first + i;
    std::vector<std::int64_t> pixel = all[index % all.size()];
    for (unsigned j = 0; j < spatial; ++j) pixel[j] += offsets[j];
    pixel.insert(pixel.begin(), 0);
    pixel.push_back(at.back() + static_cast<std::int64_t>(index / all.size()));
    for (std::uint32_t c = 0; c < map.box[0]; ++c) {
      pixel[0] = at[0] + static_cast<std::int64_t>(c);
      result.push_back(images.at(pixel));
    }
  }
  return result;
}

TEST(Im2colMap, WalksWThenHThenImages) {
  // 3 by 2 pixels of the box: w from -1 to 1, h from 0 to 1.
  Images images({8, 4, 3, 2}, 8, 8);
  images.map.im2col.lower[0] = -1;
  images.map.im2col.upper[0] = -2;
  images.map.im2col.upper[1] = -1;
  const auto result = copied(images.map, {0, 1, 0, 0}, {2, 1});
  const std::int64_t walk[8][3] = {{1, 0, 0},  {-1, 1, 0}, {0, 1, 0}, {1, 1, 0},
                                   {-1, 0, 1}, {0, 0, 1},  {1, 0, 1}, {-1, 1, 1}};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(result[i * 8], images.at({0, walk[i][0] + 2, walk[i][1] + 1, walk[i][2]})) << i;
  }
}

// The first example of the PTX documentation: the pixel box is 9 wide, and the column begins at its
// last w.
TEST(Im2colMap, BeginsWhereTheCopySays) {
  Images images({64, 9, 14, 2}, 8, 64);
  for (int i = 0; i < 2; ++i) images.map.im2col.lower[i] = images.map.im2col.upper[i] = -1;
  const auto result = copied(images.map, {0, 7, 4, 0}, {0, 0});
  EXPECT_EQ(result[0], images.at({0, 7, 4, 0}));
  EXPECT_EQ(result[1 * 8], 0);  // w = -1
  EXPECT_EQ(result[2 * 8], images.at({0, 0, 5, 0}));
  EXPECT_EQ(result[9 * 8], images.at({0, 7, 5, 0}));
  EXPECT_EQ(result[10 * 8], 0);
  EXPECT_EQ(result[11 * 8], images.at({0, 0, 6, 0}));
}

TEST(Im2colMap, CopiesRandomColumnsAsDefined) {
  std::mt19937 random(20261115);
  const auto between = [&](int first, int last) {
    return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
  };
  for (int i = 0; i < 3000; ++i) {
    const auto rank = static_cast<unsigned>(between(3, 5));
    std::vector<unsigned> extents = {8u * static_cast<unsigned>(between(1, 3))};
    for (unsigned d = 1; d < rank; ++d) extents.push_back(static_cast<unsigned>(between(1, 7)));
    Images images(extents, 8u * static_cast<unsigned>(between(1, 4)),
                  static_cast<unsigned>(between(1, 70)));
    std::vector<int> at = {8 * between(0, 2)};
    std::vector<std::uint16_t> offsets;
    for (unsigned d = 1; d + 1 < rank; ++d) {
      const int extent = static_cast<int>(extents[d]);
      const int lower = between(-4, 2), last = between(lower, std::max(lower, extent + 3));
      const int step = between(1, 4);
      images.map.im2col.lower[d - 1] = lower;
      images.map.im2col.upper[d - 1] = last - (extent - 1);
      images.map.im2col.steps[d - 1] = static_cast<std::uint32_t>(step);
      at.push_back(lower + between(0, (last - lower) / step) * step);
      offsets.push_back(static_cast<std::uint16_t>(between(0, 6)));
    }
    at.push_back(between(0, static_cast<int>(extents[rank - 1])));
    ASSERT_EQ(copied(images.map, at, offsets), defined(images, at, offsets)) << "column " << i;
  }
}

TEST(Im2colMap, RefusesWhatTheDriverRefuses) {
  const Images images({64, 9, 14, 64}, 64, 128);
  const auto refusal = [&](const auto& change) {
    TileMap map = images.map;
    change(map);
    return check(map).sentence();
  };
  EXPECT_EQ(refusal([](TileMap&) {}), "");
  EXPECT_EQ(refusal([](TileMap& m) { m.rank = 2; }),
            "TileMap: im2col needs a rank of 3 to 5, not 2.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.pixels = 1025; }),
            "TileMap: a column of 1025 pixels has more than 1024.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.lower[1] = -129; }),
            "TileMap: corner -129 of dimension 2 is not in -128 to 127.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.upper[0] = 128; }),
            "TileMap: corner 128 of dimension 1 is not in -128 to 127.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.upper[0] = -9; }),
            "TileMap: the pixel box from 0 to -1 of dimension 1 is empty.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.steps[1] = 9; }),
            "TileMap: step 9 of dimension 2 is not in 1 to 8.");
  EXPECT_EQ(refusal([](TileMap& m) { m.im2col.steps[0] = 0; }),
            "TileMap: step 0 of dimension 1 is not in 1 to 8.");
}

TEST(Im2colMap, RefusesWhatPtxDoesNotDefine) {
  Images images({64, 9, 14, 64}, 64, 128);
  images.map.im2col.lower[0] = -1;
  images.map.im2col.upper[1] = -2;
  const auto refusal = [&](int w, int h) {
    const int at[4] = {0, w, h, 0};
    return check_copy(images.map, at, 0, CopyDirection::LoadIm2col).sentence();
  };
  EXPECT_EQ(refusal(-1, 11), "");
  EXPECT_EQ(refusal(8, 0), "");
  EXPECT_EQ(refusal(-2, 0),
            "TileMap: coordinate -2 of dimension 1 lies outside of the pixel box, -1 to 8.");
  EXPECT_EQ(refusal(0, 12),
            "TileMap: coordinate 12 of dimension 2 lies outside of the pixel box, 0 to 11.");
  const std::uint16_t offsets[2] = {255, 256};
  EXPECT_EQ(check_offsets(images.map, offsets).sentence(),
            "TileMap: offset 256 of dimension 2 has more than 8 bits.");
}

}  // namespace
