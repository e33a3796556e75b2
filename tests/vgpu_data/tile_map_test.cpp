#include "vgpu/data/tile_map.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace tw;
using namespace tw::vgpu;

constexpr MapSwizzle all_swizzles[] = {MapSwizzle::None, MapSwizzle::Bytes32, MapSwizzle::Bytes64,
                                       MapSwizzle::Bytes128};

struct Tensor {
  TileMap map;
  std::vector<std::uint64_t> storage;
};

// A tensor with gaps between its rows, each of its bytes different from its neighbours.
Tensor make_tensor(unsigned rank, unsigned element_bytes, const std::vector<unsigned>& extents,
                   const std::vector<unsigned>& box, MapSwizzle swizzle) {
  Tensor tensor;
  tensor.map.rank = rank;
  tensor.map.element_bytes = element_bytes;
  tensor.map.swizzle = swizzle;
  std::uint64_t pitch = (extents[0] * element_bytes + 15) / 16 * 16 + 16;
  for (unsigned d = 0; d < rank; ++d) {
    tensor.map.extents[d] = extents[d];
    tensor.map.box[d] = box[d];
    if (d > 0) tensor.map.pitch_bytes[d - 1] = pitch;
    if (d > 0) pitch *= extents[d];
  }
  tensor.storage.resize(pitch / 8 + 2);
  for (std::size_t i = 0; i < tensor.storage.size(); ++i) {
    tensor.storage[i] = 0x0101010101010101u * (i % 199 + 1) + 0x0706050403020100u;
  }
  auto address = reinterpret_cast<std::uintptr_t>(tensor.storage.data());
  tensor.map.base = reinterpret_cast<void*>((address + 15) / 16 * 16);
  return tensor;
}

// The oracle knows nothing of rows or runs: every byte of every element finds its own way.
struct Place {
  SharedAddress shared;
  const std::byte* global;
};
std::vector<Place> places(const TileMap& map, const int* at, SharedAddress shared_base) {
  const unsigned span = 16u << static_cast<unsigned>(map.swizzle);
  const bool is_swizzled = map.swizzle != MapSwizzle::None;
  std::vector<Place> result;
  std::uint64_t elements = 1;
  for (unsigned d = 0; d < map.rank; ++d) elements *= map.box[d];
  for (std::uint64_t e = 0; e < elements; ++e) {
    bool inside = true;
    std::int64_t offset = 0;
    std::uint64_t rest = e;
    for (unsigned d = 0; d < map.rank; ++d) {
      const std::int64_t x = at[d] + static_cast<std::int64_t>(rest % map.box[d]);
      rest /= map.box[d];
      inside = inside && x >= 0 && x < static_cast<std::int64_t>(map.extents[d]);
      offset += x * static_cast<std::int64_t>(d == 0 ? map.element_bytes : map.pitch_bytes[d - 1]);
    }
    for (unsigned byte = 0; byte < map.element_bytes; ++byte) {
      const std::uint64_t x_bytes = e % map.box[0] * map.element_bytes + byte;
      const std::uint64_t row = e / map.box[0];
      std::uint64_t address =
          shared_base + row * (is_swizzled ? span : map.box[0] * map.element_bytes) + x_bytes;
      if (is_swizzled) {
        const std::uint64_t chunk = address / 16 % (span / 16);
        const std::uint64_t moved = chunk ^ (address / 128 % (span / 16));
        address = address - chunk * 16 + moved * 16;
      }
      result.push_back(
          {static_cast<SharedAddress>(address),
           inside ? static_cast<const std::byte*>(map.base) + offset + byte : nullptr});
    }
  }
  return result;
}

// Empty, or what is wrong with the runs.
std::string difference(const TileMap& map, const int* at, SharedAddress shared_base) {
  const auto wanted = places(map, at, shared_base);
  const bool is_swizzled = map.swizzle != MapSwizzle::None;
  std::string wrong;
  std::size_t seen = 0;
  Run last = {0, nullptr, 0};
  for_each_run(map, at, shared_base, [&](const auto& run) {
    if (run.bytes == 0) wrong = "an empty run";
    if (is_swizzled && run.bytes > 16) wrong = "a swizzled run of more than 16 bytes";
    const bool joins = last.bytes != 0 && run.shared == last.shared + last.bytes &&
                       (last.global ? run.global == last.global + last.bytes : !run.global);
    if (!is_swizzled && joins) wrong = "two runs that should be one";
    last = run;
    for (unsigned i = 0; i < run.bytes && wrong.empty(); ++i, ++seen) {
      if (seen >= wanted.size()) {
        wrong = "more bytes than the box has";
      } else if (run.shared + i != wanted[seen].shared ||
                 (run.global ? run.global + i : nullptr) != wanted[seen].global) {
        wrong = "byte " + std::to_string(seen) + " of the box is misplaced";
      } else if (run.shared + i - shared_base >= shared_box_bytes(map)) {
        wrong = "shared_box_bytes is too small";
      }
    }
  });
  if (wrong.empty() && seen != wanted.size()) wrong = "fewer bytes than the box has";
  if (wrong.empty() && seen != box_bytes(map)) wrong = "box_bytes is wrong";
  return wrong;
}

TEST(TileMap, CopiesEveryRankSwizzleAndEdge) {
  // Per dimension: inside, partly and wholly before the tensor, partly and wholly beyond it.
  for (unsigned rank = 1; rank <= 5; ++rank) {
    for (MapSwizzle swizzle : all_swizzles) {
      const unsigned row = swizzle_span(swizzle) / 2;
      const std::vector<unsigned> extents = {3 * row, 4, 3, 4, 3}, box = {row, 2, 2, 1, 2};
      const Tensor tensor = make_tensor(rank, 2, extents, box, swizzle);
      unsigned combinations = 1;
      for (unsigned d = 0; d < rank; ++d) combinations *= 5;
      for (unsigned combination = 0; combination < combinations; ++combination) {
        int at[5];
        unsigned rest = combination;
        for (unsigned d = 0; d < rank; ++d, rest /= 5) {
          const int side = static_cast<int>(box[d]), end = static_cast<int>(extents[d]);
          const int choices[] = {1, -(side + 1) / 2, -side - 3, end - side / 2, end + 5};
          at[d] = choices[rest % 5];
        }
        ASSERT_EQ(difference(tensor.map, at, 0x400), "")
            << "rank " << rank << ", span " << swizzle_span(swizzle) << ", case " << combination;
      }
    }
  }
}

TEST(TileMap, CopiesRandomBoxes) {
  std::mt19937 random(20261115);
  const auto up_to = [&](unsigned last) { return static_cast<unsigned>(random() % (last + 1)); };
  for (int i = 0; i < 4000; ++i) {
    const unsigned rank = 1 + up_to(4), element_bytes = 1u << up_to(3);
    const MapSwizzle swizzle = all_swizzles[up_to(3)];
    const unsigned chunks = swizzle == MapSwizzle::None ? 9 : swizzle_span(swizzle) / 16;
    std::vector<unsigned> extents, box;
    int at[5];
    for (unsigned d = 0; d < rank; ++d) {
      extents.push_back(1 + up_to(d == 0 ? 100 : 6));
      box.push_back(d == 0 ? (1 + up_to(chunks - 1)) * 16 / element_bytes : 1 + up_to(3));
      at[d] = static_cast<int>(up_to(extents[d] + box[d] + 4)) - static_cast<int>(box[d] + 2);
    }
    const Tensor tensor = make_tensor(rank, element_bytes, extents, box, swizzle);
    ASSERT_TRUE(check(tensor.map).is_good()) << check(tensor.map).sentence();
    ASSERT_EQ(difference(tensor.map, at, 128 * up_to(20)), "") << "box " << i;
  }
}

TEST(TileMap, JoinsWholeRowsInBothMemories) {
  Tensor tensor = make_tensor(3, 2, {64, 16, 8}, {64, 16, 4}, MapSwizzle::None);
  tensor.map.pitch_bytes[0] = 128;
  tensor.map.pitch_bytes[1] = 128 * 16;
  const int at[3] = {0, 0, 1};
  std::vector<tw::vgpu::Run> runs;
  for_each_run(tensor.map, at, 0, [&](const auto& run) { runs.push_back(run); });
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].bytes, 128u * 16 * 4);
  EXPECT_EQ(runs[0].global, static_cast<std::byte*>(tensor.map.base) + 128 * 16);
}

TEST(TileMap, FarCoordinatesDoNotOverflow) {
  Tensor tensor = make_tensor(2, 2, {64, 8}, {64, 2}, MapSwizzle::Bytes128);
  tensor.map.extents[1] = std::uint64_t{1} << 32;
  tensor.map.pitch_bytes[0] = (std::uint64_t{1} << 40) - 16;
  for (int x : {INT32_MIN, INT32_MAX}) {
    for (int y : {INT32_MIN, INT32_MAX - 8}) {
      const int at[2] = {x / 8 * 8, y};
      for_each_run(tensor.map, at, 0, [](const auto& run) { EXPECT_EQ(run.global, nullptr); });
    }
  }
}

TEST(TileMap, ShortSwizzledRowsOccupyWholeSpans) {
  const TileMap narrow = make_tensor(3, 2, {64, 8, 8}, {24, 3, 2}, MapSwizzle::Bytes128).map;
  EXPECT_EQ(box_bytes(narrow), 48u * 6);
  EXPECT_EQ(shared_box_bytes(narrow), 128u * 6);
  const TileMap packed = make_tensor(3, 2, {64, 8, 8}, {24, 3, 2}, MapSwizzle::None).map;
  EXPECT_EQ(shared_box_bytes(packed), 48u * 6);
}

TEST(TileMap, StoresWriteWholeChunks) {
  const Tensor tensor = make_tensor(2, 2, {70, 4}, {16, 2}, MapSwizzle::None);
  const int at[2] = {64, 0};
  unsigned loaded = 0, stored = 0;
  for_each_run(tensor.map, at, 0, [&](const auto& run) { loaded += run.global ? run.bytes : 0; });
  for_each_run(as_stored(tensor.map), at, 0,
               [&](const auto& run) { stored += run.global ? run.bytes : 0; });
  EXPECT_EQ(loaded, 2u * 12);
  EXPECT_EQ(stored, 2u * 16);
}

// 16 elements of 4 or 6 bits lie side by side in global memory, and begin 16 bytes of shared
// memory.
TEST(TileMap, UnpacksElementsOfFourAndSixBits) {
  alignas(32) static std::byte memory[8 * 1024];
  for (const unsigned bits : {4u, 6u}) {
    for (const MapSwizzle swizzle : {MapSwizzle::None, MapSwizzle::Bytes128}) {
      TileMap map;
      map.base = memory;
      map.element_bytes = 1;
      map.packed_bits = bits;
      map.rank = 2;
      map.extents[0] = 256;
      map.extents[1] = 5;
      map.pitch_bytes[0] = 32 * bits + 32;
      map.box[0] = 128;
      map.box[1] = 8;
      map.swizzle = swizzle;
      const TileMap back = decode(encode(map));
      EXPECT_EQ(back.packed_bits, bits);
      EXPECT_EQ(box_bytes(back), 8 * 16 * bits);
      EXPECT_EQ(shared_box_bytes(back), 8u * 128);
      for (const int first : {0, 128, 256}) {
        const int at[2] = {first, 2};
        EXPECT_TRUE(check_copy(back, at, 2048, CopyDirection::Load).is_good());
        unsigned run_index = 0;
        for_each_run(back, at, 2048, [&](const auto& run) {
          const unsigned row = run_index / 8, sixteen = run_index++ % 8;
          const unsigned moved = swizzle == MapSwizzle::None ? sixteen : sixteen ^ row;
          EXPECT_EQ(run.shared, 2048 + row * 128 + moved * 16);
          EXPECT_EQ(run.bytes, 2 * bits);
          const bool inside = row + 2 < 5 && first < 256;
          EXPECT_EQ(run.global, inside ? memory + (row + 2) * map.pitch_bytes[0] +
                                             static_cast<unsigned>(first) / 16 * 2 * bits +
                                             sixteen * 2 * bits
                                       : nullptr);
        });
        EXPECT_EQ(run_index, 64u);
      }
      const int between[2] = {64, 0}, zero[2] = {0, 0};
      EXPECT_FALSE(check_copy(back, between, 2048, CopyDirection::Load).is_good());
      EXPECT_FALSE(check_copy(back, zero, 2048, CopyDirection::Store).is_good());
      const auto refused = [&](auto change) {
        TileMap bad = map;
        change(bad);
        return !check(bad).is_good();
      };
      EXPECT_TRUE(refused([](TileMap& bad) { bad.packed_bits = 5; }));
      EXPECT_TRUE(refused([](TileMap& bad) { bad.extents[0] = 192; }));
      EXPECT_TRUE(refused([](TileMap& bad) { bad.box[0] = 64; }));
      EXPECT_TRUE(refused([](TileMap& bad) { bad.pitch_bytes[0] += 16; }));
      EXPECT_TRUE(refused([](TileMap& bad) { bad.base = memory + 16; }));
      EXPECT_TRUE(refused([](TileMap& bad) { bad.swizzle = MapSwizzle::Bytes64; }));
    }
  }
}

TEST(TileMap, SurvivesPacking) {
  TileMap map = make_tensor(5, 8, {7, 6, 5, 4, 3}, {4, 2, 3, 1, 2}, MapSwizzle::Bytes32).map;
  map.extents[0] = std::uint64_t{1} << 32;
  map.pitch_bytes[3] = (std::uint64_t{1} << 40) - 16;
  map.box[4] = 256;
  const TileMap back = decode(encode(map));
  EXPECT_EQ(back.base, map.base);
  EXPECT_EQ(back.element_bytes, map.element_bytes);
  EXPECT_EQ(back.rank, map.rank);
  EXPECT_EQ(back.swizzle, map.swizzle);
  for (int d = 0; d < 5; ++d) EXPECT_EQ(back.extents[d], map.extents[d]) << d;
  for (int d = 0; d < 5; ++d) EXPECT_EQ(back.box[d], map.box[d]) << d;
  for (int d = 0; d < 4; ++d) EXPECT_EQ(back.pitch_bytes[d], map.pitch_bytes[d]) << d;

  const Tensor line = make_tensor(1, 2, {100}, {64}, MapSwizzle::Bytes128);
  EXPECT_EQ(decode(encode(line.map)).extents[0], 100u);
  EXPECT_THROW(decode(TensorMap{}), Refusal);
}

TEST(TileMap, RefusesWhatTheDriverRefuses) {
  const Tensor tensor = make_tensor(2, 2, {64, 64}, {64, 8}, MapSwizzle::Bytes128);
  const auto refusal = [&](auto change) {
    TileMap map = tensor.map;
    change(map);
    const Status status = check(map);
    EXPECT_EQ(attempt([&] { return encode(map); }).status.sentence(), status.sentence());
    return status.sentence();
  };
  EXPECT_EQ(refusal([](TileMap&) {}), "");
  EXPECT_EQ(refusal([](TileMap& m) { m.rank = 0; }), "TileMap: rank 0 is not in 1 to 5.");
  EXPECT_EQ(refusal([](TileMap& m) { m.rank = 6; }), "TileMap: rank 6 is not in 1 to 5.");
  EXPECT_EQ(refusal([](TileMap& m) { m.element_bytes = 3; }),
            "TileMap: elements of 3 bytes are not 1, 2, 4 or 8 bytes wide.");
  EXPECT_EQ(refusal([](TileMap& m) { m.base = nullptr; }), "TileMap: the base address is null.");
  EXPECT_EQ(refusal([](TileMap& m) { m.base = reinterpret_cast<void*>(0x1008); }),
            "TileMap: the base address 0x1008 must be a multiple of 16.");
  EXPECT_EQ(refusal([](TileMap& m) { m.extents[1] = 0; }),
            "TileMap: extent 0 of dimension 1 is not in 1 to 2^32.");
  EXPECT_EQ(refusal([](TileMap& m) { m.extents[0] = (std::uint64_t{1} << 32) + 1; }),
            "TileMap: extent 4294967297 of dimension 0 is not in 1 to 2^32.");
  EXPECT_EQ(refusal([](TileMap& m) { m.box[1] = 257; }),
            "TileMap: box side 257 of dimension 1 is not in 1 to 256.");
  EXPECT_EQ(refusal([](TileMap& m) { m.box[1] = 0; }),
            "TileMap: box side 0 of dimension 1 is not in 1 to 256.");
  EXPECT_EQ(refusal([](TileMap& m) { m.pitch_bytes[0] = 136; }),
            "TileMap: pitch 136 of dimension 1 must be a multiple of 16 bytes.");
  EXPECT_EQ(refusal([](TileMap& m) { m.pitch_bytes[0] = std::uint64_t{1} << 40; }),
            "TileMap: pitch 1099511627776 of dimension 1 must be less than 2^40 bytes.");
  EXPECT_EQ(refusal([](TileMap& m) { m.box[0] = 12; }),
            "TileMap: a box row of 12 x 2 = 24 bytes must be a multiple of 16.");
  EXPECT_EQ(refusal([](TileMap& m) { m.box[0] = 72; }),
            "TileMap: a box row of 72 x 2 = 144 bytes must not exceed the swizzle span of 128.");
  EXPECT_EQ(refusal([](TileMap& m) {
              m.swizzle = MapSwizzle::None;
              m.box[0] = m.box[1] = 256;
              m.element_bytes = 4;
            }),
            "TileMap: a box of 262144 bytes exceeds the 232448 of shared memory.");
}

TEST(TileMap, RefusesCopiesThatTheHardwareTraps) {
  const TileMap map = make_tensor(2, 2, {64, 64}, {64, 8}, MapSwizzle::None).map;
  const auto refusal = [&](int x, int y, SharedAddress shared, CopyDirection direction) {
    const int at[2] = {x, y};
    return check_copy(map, at, shared, direction).sentence();
  };
  EXPECT_EQ(refusal(-8, -3, 128, CopyDirection::Load), "");
  EXPECT_EQ(refusal(200, 300, 128, CopyDirection::Store), "");
  EXPECT_EQ(refusal(0, 0, 0x440, CopyDirection::Load),
            "TileMap: a copy's address in shared memory 0x440 must be a multiple of 128.");
  EXPECT_EQ(refusal(-12, 0, 0, CopyDirection::Load),
            "TileMap: a copy's innermost coordinate -12 x 2 = -24 bytes must be a multiple of 16.");
  EXPECT_EQ(refusal(8, -1, 0, CopyDirection::Store),
            "TileMap: a store's coordinate -1 of dimension 1 must not be negative.");
  const int at[2] = {0, 0};
  EXPECT_THROW(for_each_run(map, at, 64, [](const auto&) {}), Refusal);
}

}  // namespace
