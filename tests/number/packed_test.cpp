#include "tilewright/number/packed.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tw {
namespace {

TEST(Packed, Fp4PutsTheFirstElementInTheLowHalf) {
  std::array<std::uint8_t, 2> bytes{};
  const std::array elements{E2m1::from_bits(0x1), E2m1::from_bits(0x2), E2m1::from_bits(0x3)};
  pack<E2m1>(bytes, elements);
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 2>{0x21, 0x03}));
}

TEST(Packed, Fp6PutsFourElementsInThreeBytesLowBitsFirst) {
  std::array<std::uint8_t, 3> bytes{};
  // 0b110100'100011'010010'000001 as one number.
  const std::array elements{E3m2::from_bits(0b000001), E3m2::from_bits(0b010010),
                            E3m2::from_bits(0b100011), E3m2::from_bits(0b110100)};
  pack<E3m2>(bytes, elements);
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{0b10000001, 0b00110100, 0b11010010}));
}

template <class T>
class PackedElement : public testing::Test {};
using SubbyteTypes = testing::Types<E2m1, E3m2, E2m3>;
TYPED_TEST_SUITE(PackedElement, SubbyteTypes);

TYPED_TEST(PackedElement, SetChangesItsOwnBitsOnly) {
  constexpr int width = bits_of<TypeParam>;
  constexpr std::size_t count = 13;
  for (std::size_t index = 0; index < count; ++index) {
    for (const std::uint8_t background : {0x00, 0xff}) {
      for (int code = 0; code < 1 << width; ++code) {
        PackedArray<TypeParam, count> array;
        std::fill(std::begin(array.bytes), std::end(array.bytes), background);
        // The bits above the code must not reach the neighbour.
        array.set(index, TypeParam::from_bits(static_cast<std::uint8_t>(code | ~0u << width)));
        for (std::size_t bit = 0; bit < 8 * sizeof(array.bytes); ++bit) {
          const bool inside = bit >= index * width && bit < (index + 1) * width;
          const int expected = inside ? code >> (bit - index * width) & 1 : background & 1;
          ASSERT_EQ(array.bytes[bit / 8] >> bit % 8 & 1, expected)
              << "element " << index << ", code " << code << ", bit " << bit;
        }
        ASSERT_EQ(array.get(index).bits, code);
      }
    }
  }
}

TYPED_TEST(PackedElement, UnpackIsTheInverseOfPack) {
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<TypeParam> elements(count), back(count);
    for (std::size_t i = 0; i < count; ++i)
      elements[i] = TypeParam::from_bits((11 * i + count) % (1u << bits_of<TypeParam>));
    std::vector<std::uint8_t> bytes(packed_bytes<TypeParam>(count), 0xff);
    pack<TypeParam>(bytes, elements);
    unpack<TypeParam>(back, bytes);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i].bits, elements[i].bits);
    const std::size_t used = count * bits_of<TypeParam> % 8;
    if (used != 0) {
      ASSERT_EQ(bytes.back() >> used, 0) << "padding of " << count;
    }
  }
}

TYPED_TEST(PackedElement, RefusesBytesOfTheWrongNumber) {
  std::vector<TypeParam> elements(8);
  std::vector<std::uint8_t> bytes(packed_bytes<TypeParam>(8) - 1);
  EXPECT_THROW(pack<TypeParam>(bytes, elements), Refusal);
  EXPECT_THROW(unpack<TypeParam>(elements, bytes), Refusal);
}

}  // namespace
}  // namespace tw
