#include "tilewright/layout/tile_tensor.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "check_facts.h"
#include "register_tile.h"
#include "tilewright/base/status.h"
#include "tilewright/layout/product.h"
#include "tilewright/layout/text.h"

namespace tw {
namespace {

static_assert(sizeof(TileTensor<float, Space::Shared, "(8,8):(8,1)"_layout>) == sizeof(void*));

std::vector<int> counted(std::size_t size) {
  std::vector<int> data(size);
  std::iota(data.begin(), data.end(), 0);
  return data;
}

template <Layout layout>
void expect_layout_is_obeyed() {
  SCOPED_TRACE(to_string(layout));
  std::vector<int> data = counted(static_cast<std::size_t>(cosize(layout)));
  // Negative strides count down from where the pointer points.
  int* first = data.data();
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.strides[i] < 0) first -= layout.strides[i] * (layout.extents[i] - 1);
  }
  std::int64_t base = first - data.data();
  TileTensor<int, Space::Shared, layout> tensor(first);
  for (unsigned i = 0; i < tensor.template extent<0>(); ++i) {
    for (unsigned j = 0; j < tensor.template extent<1>(); ++j) {
      ASSERT_EQ(tensor.load(i, j), base + offset(layout, i, j));
      ASSERT_EQ(tensor.load(i + tensor.template extent<0>() * j), base + offset(layout, i, j));
    }
  }
}

TEST(TileTensor, LoadsWhereItsLayoutSays) {
  expect_layout_is_obeyed<"(32,64):(64,1)"_layout>();
  expect_layout_is_obeyed<"(32,64):(1,32)"_layout>();
  expect_layout_is_obeyed<"((8,4),(4,16)):((4,512),(1,32))"_layout>();
  expect_layout_is_obeyed<"((6,6),(5,7)):((5,210),(1,30))"_layout>();
  expect_layout_is_obeyed<"((6,6),(5,7)):((5,30),(1,180))"_layout>();
  expect_layout_is_obeyed<"((2,3,2),(3,1,4)):((1,2,6),(12,7,36))"_layout>();
  expect_layout_is_obeyed<"(4,(2,3)):(-6,(3,1))"_layout>();
  expect_layout_is_obeyed<"(8,4):(0,1)"_layout>();
  expect_layout_is_obeyed<"Sw<3,0,3> o (8,8):(8,1)"_layout>();
  expect_layout_is_obeyed<"Sw<3,2,3> o (32,32):(32,1)"_layout>();
  expect_layout_is_obeyed<"Sw<2,1,-3> o ((4,2),8):((8,32),1)"_layout>();
  expect_layout_is_obeyed<tile_to_shape("Sw<3,3,3> o (8,64):(64,1)"_layout, row_major(32, 128))>();
}

TEST(TileTensor, OffsetsBeyond32BitsAreExact) {
  constexpr Layout layout = "(4,8):(4294967296,1)"_layout;
  constexpr std::uintptr_t base = std::uintptr_t{1} << 40;
  TileTensor<char, Space::Global, layout> tensor(reinterpret_cast<char*>(base));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.address(3, 5)), base + 3 * 4294967296u + 5);
}

TEST(TileTensor, StoresAndLoads) {
  std::vector<float> data(64, 0.0f);
  TileTensor<float, Space::Global, "Sw<3,0,3> o (8,8):(8,1)"_layout> tensor(data.data());
  for (unsigned i = 0; i < 64; ++i) tensor.store(static_cast<float>(i), i);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(tensor.load(i), static_cast<float>(i));
  EXPECT_EQ(std::set(data.begin(), data.end()).size(), 64u);
  tensor.store_if(false, -1.0f, 3);
  EXPECT_EQ(tensor.load(3), 3.0f);
  EXPECT_EQ(tensor.load_if(false, 3), 0.0f);
}

// Slices keep the elements where they are, with the swizzle of the whole.
template <Layout layout>
void expect_slices_agree() {
  SCOPED_TRACE(to_string(layout));
  std::vector<int> data = counted(static_cast<std::size_t>(cosize(layout)));
  TileTensor<int, Space::Shared, layout> tensor(data.data());
  for (unsigned i = 0; i < tensor.template extent<0>(); ++i) {
    auto row = tensor.slice(i, whole);
    static_assert(row.num_modes == 1);
    for (unsigned j = 0; j < tensor.template extent<1>(); ++j) {
      ASSERT_EQ(row.load(j), tensor.load(i, j));
      ASSERT_EQ(tensor.slice(whole, j).load(i), tensor.load(i, j));
      auto tile = tensor.template tile<4, 2>(i / 4, j / 2);
      ASSERT_EQ(tile.load(i % 4, j % 2), tensor.load(i, j));
      ASSERT_EQ(tile.slice(i % 4, whole).load(j % 2), tensor.load(i, j));
      ASSERT_EQ((tensor.template tiles<4, 2>().load(i % 4, j % 2, i / 4, j / 2)),
                tensor.load(i, j));
    }
  }
}

TEST(TileTensor, SlicesAndTilesAreTheSameElements) {
  expect_slices_agree<"(16,8):(8,1)"_layout>();
  expect_slices_agree<"((4,4),8):((1,32),4)"_layout>();
  expect_slices_agree<"Sw<3,0,3> o (8,8):(8,1)"_layout>();
  expect_slices_agree<"Sw<2,2,3> o (16,32):(32,1)"_layout>();
}

TEST(TileTensor, ASliceOfASwizzledRingMovesThePointer) {
  constexpr Layout ring = "Sw<3,0,3> o (8,8,4):(8,1,64)"_layout;
  std::vector<int> data = counted(256);
  TileTensor<int, Space::Shared, ring> stages(data.data());
  auto stage = stages.slice(whole, whole, 2u);
  EXPECT_EQ(stage.base(), data.data() + 128);
  EXPECT_EQ(stage.load(5, 3), stages.load(5, 3, 2));
}

template <Layout layout, Layout threads>
void expect_each_element_once() {
  SCOPED_TRACE(to_string(layout) + " over " + to_string(threads));
  std::vector<int> data(static_cast<std::size_t>(cosize(layout)), 0);
  TileTensor<int, Space::Shared, layout> tensor(data.data());
  auto positions = tensor.coordinates();
  std::map<std::pair<unsigned, unsigned>, int> seen;
  for (unsigned thread = 0; thread < size(threads); ++thread) {
    auto part = tensor.template distribute<threads>(thread);
    auto where = positions.template distribute<threads>(thread);
    for (unsigned i = 0; i < part.template extent<0>(); ++i) {
      for (unsigned j = 0; j < part.template extent<1>(); ++j) {
        auto position = where.load(i, j);
        ++seen[{position[0], position[1]}];
        ASSERT_EQ(part.address(i, j), tensor.address(position[0], position[1]));
        part.store(part.load(i, j) + 1, i, j);
      }
    }
  }
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(size(layout)));
  for (unsigned i = 0; i < size(layout); ++i) ASSERT_EQ(tensor.load(i), 1);
}

TEST(TileTensor, DistributeGivesEachElementToOneThread) {
  expect_each_element_once<"(32,32):(32,1)"_layout, "(32,8):(8,1)"_layout>();
  expect_each_element_once<"(32,32):(32,1)"_layout, "(8,4):(1,8)"_layout>();
  expect_each_element_once<"(32,32):(32,1)"_layout, "((4,2),(2,4)):((1,8),(4,16))"_layout>();
  expect_each_element_once<"(32,32):(32,1)"_layout, "(1,32):(0,1)"_layout>();
  expect_each_element_once<"Sw<3,2,3> o (32,32):(32,1)"_layout, "(8,16):(16,1)"_layout>();
  expect_each_element_once<"((8,4),(4,16)):((4,512),(1,32))"_layout, "(16,8):(8,1)"_layout>();
  expect_each_element_once<"(12,15):(15,1)"_layout, "(6,5):(5,1)"_layout>();
}

TEST(TileTensor, NeighbouringThreadsHaveNeighbouringElements) {
  std::vector<int> data = counted(64);
  TileTensor<int, Space::Global, "(8,8):(8,1)"_layout> tensor(data.data());
  auto part = tensor.distribute<"(2,8):(8,1)"_layout>(13);
  EXPECT_EQ(to_string(part.tensor_layout()), "(4,1):(16,0)");
  EXPECT_EQ(part.load(0, 0), 13);
  EXPECT_EQ(part.load(1, 0), 29);
}

// A ragged matrix in a larger buffer: everything inside is read once, nothing outside is touched.
TEST(TileTensor, RaggedEdgesArePredicated) {
  for (unsigned m : {1u, 31u, 32u, 100u}) {
    for (unsigned n : {1u, 16u, 70u}) {
      constexpr unsigned pitch = 80;
      std::vector<int> data(pitch * (m + 40), -1000000);
      for (unsigned i = 0; i < m; ++i) {
        for (unsigned j = 0; j < n; ++j) data[i * pitch + j] = 1;
      }
      TileTensor<int, Space::Global, "(_,_):(1@1,1)"_layout> tensor(data.data(), {m, n},
                                                                    {pitch * sizeof(int)});
      EXPECT_EQ(tensor.extent<0>(), m);
      EXPECT_EQ(tensor.extent<1>(), n);
      auto tiles = tensor.tiles<32, 16>();
      EXPECT_EQ(tiles.extent<2>(), (m + 31) / 32);
      EXPECT_EQ(tiles.extent<3>(), (n + 15) / 16);
      long sum = 0;
      for (unsigned tile_m = 0; tile_m < tiles.extent<2>(); ++tile_m) {
        for (unsigned tile_n = 0; tile_n < tiles.extent<3>(); ++tile_n) {
          auto tile = tensor.tile<32, 16>(tile_m, tile_n);
          auto where = tensor.coordinates().tile<32, 16>(tile_m, tile_n);
          for (unsigned thread = 0; thread < 32; ++thread) {
            auto part = tile.distribute<"(8,4):(4,1)"_layout>(thread);
            auto mine = where.distribute<"(8,4):(4,1)"_layout>(thread);
            auto anchored = part.anchored();
            for (unsigned i = 0; i < 16; ++i) {
              bool inside = is_inside(mine.load(i), tensor.limits());
              sum += part.load_if(inside, i);
              EXPECT_EQ(anchored.load_if(inside, i), part.load_if(inside, i));
              part.store_if(inside, 1, i);
            }
          }
        }
      }
      EXPECT_EQ(sum, long{m} * n);
    }
  }
}

TEST(TileTensor, SeveralPitches) {
  // (batch, m, n), both pitches known at run time.
  std::vector<int> data = counted(2000);
  TileTensor<int, Space::Global, "(_,_,_):(1@2,1@1,1)"_layout> tensor(data.data(), {3, 10, 20},
                                                                      {23 * 4, 500 * 4});
  EXPECT_EQ(tensor.load(2, 7, 11), 2 * 500 + 7 * 23 + 11);
  auto matrix = tensor.slice(1, whole, whole);
  EXPECT_EQ(to_string(matrix.tensor_layout()), "(_,_):(1@1,1)");
  EXPECT_EQ(matrix.load(7, 11), 500 + 7 * 23 + 11);
  EXPECT_EQ(matrix.extent<0>(), 10u);
  auto row = matrix.slice(7, whole);
  EXPECT_EQ(to_string(row.tensor_layout()), "_:1");
  EXPECT_EQ(row.extent<0>(), 20u);
  EXPECT_EQ(row.load(11), 500 + 7 * 23 + 11);
  auto column = matrix.tile<5, 4>(1, 2).slice(whole, 3);
  EXPECT_EQ(column.load(2), 500 + 7 * 23 + 11);
}

TEST(TileTensor, CountsBackwards) {
  std::vector<int> data = counted(200);
  TileTensor<int, Space::Global, "(_,_):(-1@1,-1)"_layout> tensor(data.data() + 199, {10, 16},
                                                                  {20 * 4});
  EXPECT_EQ(tensor.load(3, 5), 199 - 3 * 20 - 5);
  EXPECT_EQ((tensor.tile<2, 4>(1, 1).load(1, 1)), 199 - 3 * 20 - 5);
  EXPECT_EQ((tensor.tile<2, 4>(1, 1).anchored().load(1, 1)), 199 - 3 * 20 - 5);
  EXPECT_EQ(tensor.slice(3, whole).load(5), 199 - 3 * 20 - 5);
}

TEST(TileTensor, VectorsNeedFacts) {
  constexpr Layout pitched = "(_,_):(1@1,1)"_layout;
  auto sentence = [](const Layout& layout, Facts facts, auto... counts) {
    auto result = attempt(
        [&] { return detail::vector_layout(layout, 32, facts, detail::vector_shape(counts...)); });
    return result.status.sentence();
  };
  EXPECT_EQ(sentence(pitched, Facts{16, 16, 4}, 1, 4), "");
  EXPECT_EQ(sentence(pitched, Facts{8, 16, 4}, 1, 4),
            "vectorize: facts.base_align is no multiple of the vector");
  EXPECT_EQ(sentence(pitched, Facts{16, 8, 4}, 1, 4),
            "vectorize: facts.pitch_multiple is no multiple of the vector");
  EXPECT_EQ(sentence(pitched, Facts{16, 16, 2}, 1, 4),
            "vectorize: facts.extent_multiple does not cover the vector");
  EXPECT_EQ(sentence(pitched, Facts{16, 16, 4}, 4, 1),
            "vectorize: the elements of a vector are not neighbours in memory");
  EXPECT_EQ(sentence(pitched, Facts{16, 16, 4}, 2, 2),
            "vectorize: a vector goes along one mode only");
  EXPECT_EQ(sentence("(8,6):(6,1)"_layout, Facts{16, 0, 0}, 1, 4),
            "vectorize: the vectors do not divide the tensor");
  EXPECT_EQ(sentence("(8,8):(10,1)"_layout, Facts{16, 0, 0}, 1, 4),
            "upcast: a stride is neither a multiple nor a divisor of the factor");
}

TEST(TileTensor, FactsAreCheckedOnTheHost) {
  alignas(64) static int data[4096];
  auto sentence = [&](int* base, unsigned n, std::int64_t pitch) {
    TileTensor<int, Space::Global, "(_,_):(1@1,1)"_layout> tensor(base, {10, n}, {pitch});
    return check_facts(tensor, Facts{16, 16, 4}).sentence();
  };
  EXPECT_EQ(sentence(data, 40, 160), "");
  EXPECT_NE(sentence(data + 1, 40, 160).find("must be a multiple of 16 bytes"), std::string::npos);
  EXPECT_EQ(sentence(data, 40, 164),
            "the pitch of axis 1 is 164, but must be a multiple of 16 bytes");
  EXPECT_EQ(sentence(data, 42, 176),
            "the extent of mode 1 is 42, but must be a multiple of 4 elements");
}

TEST(TileTensor, VectorsHoldTheirElements) {
  std::vector<int> buffer = counted(80 * 64 + 4);
  int* data = buffer.data();
  while (reinterpret_cast<std::uintptr_t>(data) % 16 != 0) ++data;
  TileTensor<int, Space::Global, "(_,_):(1@1,1)"_layout> tensor(data, {50, 72}, {80 * 4});
  auto vectors = tensor.vectorize<Facts{16, 16, 4}, 1, 4>();
  EXPECT_EQ(vectors.extent<1>(), 18u);
  auto tile = vectors.tile<16, 4>(1, 2);
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      Vector<int, 4> value = tile.load(i, j);
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(value.get(k), tensor.load(16 + i, (8 + j) * 4 + static_cast<unsigned>(k)));
      }
    }
  }
  // The other way round: vectors of a tile.
  auto late = tensor.tile<16, 16>(1, 2).vectorize<Facts{16, 16, 4}, 1, 4>();
  EXPECT_EQ(late.address(3, 2), tile.address(3, 2));
}

TEST(TileTensor, VectorsOfARowOfTiles) {
  alignas(16) static int data[256];
  std::iota(data, data + 256, 0);
  TileTensor<int, Space::Global, "_:1"_layout> row(data, {200}, {});
  auto tiles = row.tiles<16>();
  EXPECT_EQ(tiles.extent<1>(), 13u);
  auto vectors = tiles.vectorize<Facts{16, 0, 0}, 4, 1>();
  EXPECT_EQ(vectors.load(2, 5).get(1), 5 * 16 + 2 * 4 + 1);
}

TEST(TileTensor, VectorsOfASwizzledTile) {
  alignas(16) static std::int16_t data[8 * 64];
  TileTensor<std::int16_t, Space::Shared, "Sw<3,3,3> o (8,64):(64,1)"_layout> tile(data);
  for (unsigned i = 0; i < 8 * 64; ++i) tile.store(static_cast<std::int16_t>(i), i);
  auto vectors = tile.vectorize<Facts{16, 0, 0}, 1, 8>();
  EXPECT_EQ(to_string(vectors.tensor_layout()), "Sw<3,0,3> o (8,8):(8,1)");
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned j = 0; j < 64; ++j) {
      EXPECT_EQ(vectors.load(i, j / 8).get(static_cast<int>(j % 8)), tile.load(i, j));
      auto tail = tile.slice(i, whole).tile<16>(j / 16).vectorize<Facts{16, 0, 0}, 8>();
      EXPECT_EQ(tail.load(j % 16 / 8).get(static_cast<int>(j % 8)), tile.load(i, j));
    }
  }
}

TEST(TileTensor, AVectorBeginsWhereTheSliceBegins) {
  alignas(16) static float data[64];
  // Rows that overlap: row 1 begins at element 2, in the middle of a vector.
  TileTensor<float, Space::Shared, "Sw<1,3,1> o (4,8):(2,1)"_layout> rows(data);
  constexpr Facts facts{16, 0, 0};
  EXPECT_EQ(attempt([&] {
              return rows.slice(2, whole).vectorize<facts, 4>().load(0).get(0);
            }).status.sentence(),
            "");
  EXPECT_EQ(attempt([&] {
              return rows.slice(1, whole).vectorize<facts, 4>().load(0).get(0);
            }).status.sentence(),
            "vectorize: the slice does not begin at a vector");
}

TEST(TileTensor, RegistersAreATensorToo) {
  RegisterTile<float, "(2,4):(4,1)"_layout> tile{};
  auto tensor = tile.tensor();
  for (unsigned i = 0; i < 8; ++i) tensor.store(static_cast<float>(i), i);
  EXPECT_EQ(tensor.load(1, 2), 5.0f);
}

TEST(TileTensor, TensorMemoryHasAddressesOfItsOwn) {
  // 128 lanes, 64 columns, from column 32 on.
  TileTensor<float, Space::Tensor, "(128,64):(65536,1)"_layout> tensor(32u);
  EXPECT_EQ(tensor.address(0, 0), 32u);
  EXPECT_EQ(tensor.address(5, 7), 5u << 16 | 39u);
  EXPECT_EQ((tensor.tile<32, 16>(2, 1).address(1, 1)), 65u << 16 | 49u);
}

}  // namespace
}  // namespace tw
