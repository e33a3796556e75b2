// Scales of packed e2m1, for all codes: what a kernel makes of a packed pair and a packed scale is
// the weight, exactly, or the scale is said not to fit.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tilewright/family/pack_weights/scale_bytes.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/ue8m0.h"

namespace tw::tests {
namespace {

constexpr double values_of_e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

double number_of(ElementType type, unsigned bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  return type == ElementType::Bf16 ? static_cast<double>(static_cast<float>(Bf16::from_bits(half)))
                                   : static_cast<double>(static_cast<float>(Fp16::from_bits(half)));
}
bool is_exact(ElementType type, double value) {
  const auto single = static_cast<float>(value);
  const double again = type == ElementType::Bf16
                           ? static_cast<double>(static_cast<float>(Bf16(single)))
                           : static_cast<double>(static_cast<float>(Fp16(single)));
  return again == value;
}

// Pair 0, masked, is the value times this.
constexpr double unit_of(ElementType type) {
  return type == ElementType::Bf16 ? 0x1p-126 : 0x1p-14;
}

TEST(PackWeights, MaskedPairsAreNumbers) {
  for (const ElementType type : {ElementType::Bf16, ElementType::Fp16}) {
    const PackedWeights layout = {.format = WeightFormat::Mxfp4, .activation = type};
    for (unsigned code = 0; code < 16; ++code) {
      const double value = values_of_e2m1[code & 7] * (code > 7 ? -1 : 1);
      EXPECT_EQ(number_of(type, layout.placed(code, 0, 0)), value * unit_of(type)) << code;
      for (unsigned pair = 0; pair < 4; ++pair) {
        for (unsigned half = 0; half < 2; ++half) {
          EXPECT_EQ(layout.code_in(layout.placed(code, pair, half), pair, half), code);
        }
      }
    }
  }
}

TEST(PackWeights, PlacesAreAllDifferent) {
  for (const PackedWeights& layout : {PackedWeights{}, PackedWeights{.format = WeightFormat::Int4},
                                      PackedWeights{.activation = ElementType::E4m3}}) {
    std::vector<std::uint32_t> words(PackedWeights::code_bytes / 4);
    for (unsigned row = 0; row < PackedWeights::rows; ++row) {
      for (unsigned k = 0; k < PackedWeights::k; ++k) {
        const auto place = layout.place_of(row, k);
        const auto back = layout.coordinate_of(place.byte, place.part, place.element);
        ASSERT_EQ(back.row, row);
        ASSERT_EQ(back.k, k);
        const std::uint32_t bits = layout.placed(15, place.part, place.element);
        for (unsigned code = 0; code < 16; ++code) {
          const std::uint32_t alone = layout.placed(code, place.part, place.element);
          ASSERT_EQ(layout.code_in(alone, place.part, place.element), code);
        }
        ASSERT_EQ(words[place.byte / 4] & bits, 0u);
        words[place.byte / 4] |= bits;
      }
    }
    for (const std::uint32_t word : words) ASSERT_EQ(word, ~0u);
  }
}

TEST(PackWeights, EveryUe8m0IsExactOrDoesNotFit) {
  for (const ElementType type : {ElementType::Bf16, ElementType::Fp16}) {
    for (const int exponent : {-127, -40, -1, 0, 1, 30, 126, 127}) {
      for (unsigned code = 0; code < 256; ++code) {
        const PackedScale packed = packed_ue8m0(static_cast<std::uint8_t>(code), type, exponent);
        if (code == 255) {
          EXPECT_EQ(packed.byte, 255);
          EXPECT_TRUE(packed.clears);
          continue;
        }
        const double scale = std::ldexp(1.0, static_cast<int>(code) - 127 - exponent);
        // The factor that makes up for the unit must be a number, and every product exact.
        bool fits = scale / unit_of(type) <= (type == ElementType::Bf16 ? 0x1p127 : 0x1p15);
        for (const double value : values_of_e2m1) fits = fits && is_exact(type, value * scale);
        EXPECT_EQ(packed.fits, fits) << "code " << code << ", exponent " << exponent;
        EXPECT_FALSE(packed.clears || packed.flips);
        if (!fits) continue;
        const double factor = number_of(type, unsigned{packed.byte} << 7);
        for (const double value : values_of_e2m1) {
          EXPECT_EQ(value * unit_of(type) * factor, value * scale) << code;
        }
      }
    }
  }
}

// What FourBitFragments makes of a scale: a table of bytes, each of them the weight or NaN.
TEST(PackWeights, EveryUe8m0IsExactInE4m3OrDoesNotFit) {
  constexpr unsigned table[8] = {0x00, 0x08, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24};
  const auto number = [](unsigned bits) {
    return static_cast<float>(E4m3::from_bits(static_cast<std::uint8_t>(bits)));
  };
  for (const int exponent : {-127, -40, -1, 0, 1, 30, 126, 127}) {
    for (unsigned code = 0; code < 256; ++code) {
      const PackedScale packed =
          packed_ue8m0(static_cast<std::uint8_t>(code), ElementType::E4m3, exponent);
      EXPECT_EQ(packed.clears, code == 255);
      if (code == 255) {
        EXPECT_EQ(packed.code, 7);
        EXPECT_TRUE(std::isnan(number(table[7] + packed.byte)));
        continue;
      }
      const double scale = std::ldexp(1.0, static_cast<int>(code) - 127 - exponent);
      // Normal numbers, to whose exponents the scale is added.
      EXPECT_EQ(packed.fits, 0.5 * scale >= 0x1p-6 && 6 * scale <= 448) << code;
      if (!packed.fits) continue;
      for (unsigned i = 0; i < 8; ++i) {
        EXPECT_EQ(number(i == 0 ? 0 : table[i] + packed.byte), values_of_e2m1[i] * scale) << code;
      }
    }
  }
}

// Five bits of the exponent with a bias of 21, and three of the fraction.
TEST(PackWeights, EveryE4m3IsWrittenWithoutSubnormals) {
  for (const ElementType type : {ElementType::Bf16, ElementType::Fp16}) {
    for (unsigned code = 0; code < 256; ++code) {
      const float scale = static_cast<float>(E4m3::from_bits(static_cast<std::uint8_t>(code)));
      const PackedScale packed = packed_e4m3(static_cast<std::uint8_t>(code), type);
      EXPECT_EQ(packed.clears, std::isnan(scale) || scale == 0) << code;
      EXPECT_EQ(packed.byte == 255, std::isnan(scale)) << code;
      if (packed.clears) continue;
      EXPECT_EQ(packed.flips, scale < 0) << code;
      EXPECT_EQ(std::ldexp(1 + (packed.byte & 7) / 8.0, (packed.byte >> 3) - 21), std::abs(scale))
          << code;
    }
  }
}

}  // namespace
}  // namespace tw::tests
