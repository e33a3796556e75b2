// Elements narrower than a byte.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/base/status.h"
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/number/narrow_float.h"
#include "tilewright/number/packed.h"

namespace tw {
namespace {

template <class T>
unsigned code(unsigned index) {
  return index * 7 % 61 & ((1u << element_bits<T>)-1);
}

template <class T>
class PackedTensor : public testing::Test {};
using PackedTypes = testing::Types<E2m1, E3m2, E2m3>;
TYPED_TEST_SUITE(PackedTensor, PackedTypes);

// Elements in the order of a layout, bytes as number/packed.h packs them.
template <class T, Layout layout>
std::vector<std::uint8_t> packed_codes() {
  std::vector<std::uint8_t> bytes(packed_bytes<T>(static_cast<std::size_t>(cosize(layout))));
  for (unsigned i = 0; i < size(layout); ++i) {
    store_packed<T>(bytes.data(), static_cast<std::size_t>(offset(layout, i)),
                    T::from_bits(static_cast<std::uint8_t>(code<T>(i))));
  }
  return bytes;
}

TYPED_TEST(PackedTensor, LoadsAndStoresWhatPackingSays) {
  constexpr Layout layout = "(8,12):(12,1)"_layout;
  std::vector<std::uint8_t> bytes = packed_codes<TypeParam, layout>();
  std::vector<std::uint8_t> copy(bytes.size(), 0xff);
  TileTensor<const TypeParam, Space::Global, layout> source(bytes.data());
  TileTensor<TypeParam, Space::Shared, layout> target(copy.data());
  for (unsigned i = 0; i < size(layout); ++i) {
    ASSERT_EQ(source.load(i).bits, code<TypeParam>(i));
    target.store(source.load(i), i);
  }
  EXPECT_EQ(copy, bytes);
}

TYPED_TEST(PackedTensor, CutsInsideOfBytes) {
  constexpr Layout layout = "(8,12):(12,1)"_layout;
  std::vector<std::uint8_t> bytes = packed_codes<TypeParam, layout>();
  TileTensor<const TypeParam, Space::Global, layout> tensor(bytes.data());
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned j = 0; j < 12; ++j) {
      unsigned expected = tensor.load(i, j).bits;
      ASSERT_EQ(tensor.slice(i, whole).load(j).bits, expected);
      ASSERT_EQ(tensor.slice(whole, j).load(i).bits, expected);
      auto tile = tensor.template tile<2, 3>(i / 2, j / 3);
      ASSERT_EQ(tile.load(i % 2, j % 3).bits, expected);
      auto part = tensor.template distribute<"(4,3):(3,1)"_layout>(i % 4 * 3 + j % 3);
      ASSERT_EQ(part.load(i / 4, j / 3).bits, expected);
    }
  }
}

TYPED_TEST(PackedTensor, RunTimePitchesAreWholeBytes) {
  constexpr unsigned pitch = 24;
  std::vector<std::uint8_t> bytes(pitch * 20, 0);
  TileTensor<TypeParam, Space::Global, "(_,_):(1@1,1)"_layout> tensor(bytes.data(), {20, 30},
                                                                      {pitch});
  for (unsigned i = 0; i < 20; ++i) {
    for (unsigned j = 0; j < 30; ++j) {
      auto tile = tensor.template tile<4, 5>(i / 4, j / 5);
      tile.store(TypeParam::from_bits(static_cast<std::uint8_t>(code<TypeParam>(i * 30 + j))),
                 i % 4, j % 5);
    }
  }
  for (unsigned i = 0; i < 20; ++i) {
    for (unsigned j = 0; j < 30; ++j) {
      ASSERT_EQ(load_packed<TypeParam>(bytes.data() + i * pitch, j).bits,
                code<TypeParam>(i * 30 + j));
      ASSERT_EQ(tensor.slice(i, whole).load(j).bits, code<TypeParam>(i * 30 + j));
    }
  }
}

TYPED_TEST(PackedTensor, VectorsHoldTheirElements) {
  constexpr Layout layout = "(4,32):(32,1)"_layout;
  constexpr Facts facts{16, 0, 0};
  alignas(16) std::uint8_t bytes[packed_bytes<TypeParam>(128)];
  std::vector<std::uint8_t> codes = packed_codes<TypeParam, layout>();
  std::copy(codes.begin(), codes.end(), bytes);
  TileTensor<TypeParam, Space::Global, layout> tensor(bytes);
  auto vectors = tensor.template vectorize<facts, 1, 8>();
  auto late = tensor.template tile<4, 16>(0, 1).template vectorize<facts, 1, 8>();
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 32; ++j) {
      int place = static_cast<int>(j % 8);
      ASSERT_EQ(vectors.load(i, j / 8).get(place).bits, tensor.load(i, j).bits);
      if (j < 16) continue;
      ASSERT_EQ(late.load(i, j / 8 - 2).get(place).bits, tensor.load(i, j).bits);
    }
  }
  auto value = vectors.load(1, 2);
  for (int k = 0; k < 8; ++k) value.set(k, TypeParam::from_bits(static_cast<std::uint8_t>(k)));
  vectors.store(value, 1, 2);
  for (unsigned k = 0; k < 8; ++k) ASSERT_EQ(tensor.load(1, 16 + k).bits, k);
  ASSERT_EQ(tensor.load(1, 15).bits, code<TypeParam>(1 + 4 * 15));
}

TEST(PackedSlices, MustBeginAtAVectorToBecomeOne) {
  alignas(16) std::uint8_t bytes[16] = {0x21, 0x43, 0x65};
  TileTensor<E2m1, Space::Global, "(4,8):(1,1)"_layout> tensor(bytes);
  constexpr Facts facts{1, 0, 0};
  auto first = [&](unsigned row) {
    return attempt([&] { return tensor.slice(row, whole).vectorize<facts, 2>().load(0).get(0); });
  };
  EXPECT_EQ(first(2).value->bits, 3);
  EXPECT_EQ(first(1).status.sentence(), "vectorize: the slice does not begin at a vector");
}

}  // namespace
}  // namespace tw
