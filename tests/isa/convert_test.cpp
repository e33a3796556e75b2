// The packed conversions, against a definition that knows nothing of bits: the value of a code by
// its formula, and the nearest code by search.
#include "tilewright/isa/ptx/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace tw;

constexpr float infinity = std::numeric_limits<float>::infinity();

// sign, exponent and mantissa of an 8-bit code, with subnormals; specials are the caller's.
float value_of(unsigned code, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>((code & 0x7f) >> mantissa_bits);
  const int mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits)
                              : std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)),
                                           exponent - bias - mantissa_bits);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

float f16_value(std::uint32_t bits) {
  return static_cast<float>(Fp16::from_bits(static_cast<std::uint16_t>(bits)));
}

TEST(Convert, EveryE4m3IsExactInF16) {
  for (unsigned code = 0; code < 256; ++code) {
    const std::uint32_t pair = isa::cvt_f16x2_e4m3x2(static_cast<std::uint16_t>(code | 0x3800));
    EXPECT_EQ(pair >> 16, 0x3c00u) << "0x38 is 1";
    if ((code & 0x7f) == 0x7f) {
      EXPECT_EQ(pair & 0xffff, 0x7fffu);
    } else {
      EXPECT_EQ(f16_value(pair & 0xffff), value_of(code, 3, 7)) << code;
      EXPECT_EQ(pair >> 15 & 1, code >> 7) << "the sign of zero";
    }
  }
}

TEST(Convert, EveryE5m2IsExactInF16) {
  for (unsigned code = 0; code < 256; ++code) {
    const std::uint32_t pair = isa::cvt_f16x2_e5m2x2(static_cast<std::uint16_t>(code << 8 | 0x3c));
    EXPECT_EQ(pair & 0xffff, 0x3c00u) << "0x3c is 1";
    if ((code & 0x7f) > 0x7c) {
      EXPECT_EQ(pair >> 16, 0x7fffu);
    } else {
      EXPECT_EQ(pair >> 16, code << 8) << "e5m2 is the upper byte of an f16, infinity included";
    }
  }
}

// The bit operations that targets before sm_89 execute, with their one multiplication of f16.
TEST(Convert, BitOperationsForE4m3AreExact) {
  for (unsigned code = 0; code < 256; ++code) {
    if ((code & 0x7f) == 0x7f) continue;
    const std::uint32_t scaled = (code & 0x80) << 8 | (code & 0x7f) << 7;
    EXPECT_EQ(f16_value(scaled) * 256.0f, value_of(code, 3, 7)) << code;
  }
}

// Among the finite codes, even mantissas first, so that ties go to them.
unsigned nearest_e4m3(float value) {
  unsigned best = 0;
  for (unsigned parity : {0u, 1u}) {
    for (unsigned code = parity; code < 0x7f; code += 2) {
      const float distance = std::fabs(value_of(code, 3, 7) - std::fabs(value));
      if (distance < std::fabs(value_of(best, 3, 7) - std::fabs(value))) best = code;
    }
  }
  return best | (std::signbit(value) ? 0x80 : 0);
}

TEST(Convert, E4m3IsTheNearestAndSaturates) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> any(-500.0f, 500.0f), small(-0.02f, 0.02f);
  for (int i = 0; i < 2000; ++i) {
    const float lower = any(random), upper = small(random);
    EXPECT_EQ(isa::cvt_e4m3x2(lower, upper), nearest_e4m3(lower) | nearest_e4m3(upper) << 8)
        << lower << ", " << upper;
  }
  EXPECT_EQ(isa::cvt_e4m3x2(infinity, -1e9f), 0xfe7e);
  EXPECT_EQ(isa::cvt_e4m3x2(std::nanf(""), -0.0f), 0x807f);
  EXPECT_EQ(isa::cvt_e5m2x2(infinity, -1e9f), 0xfb7b);
  EXPECT_EQ(isa::cvt_e5m2x2(std::nanf(""), 1.0f), 0x3c7f);
}

TEST(Convert, F16OverflowsAndKeepsOrder) {
  EXPECT_EQ(isa::cvt_f16x2(1.0f, -2.0f), 0xc0003c00u);
  EXPECT_EQ(isa::cvt_f16x2(65519.0f, 65520.0f), 0x7c007bffu);
  EXPECT_EQ(isa::cvt_f16x2(std::nanf(""), 0x1p-24f), 0x00017fffu);
}

TEST(Convert, IntegersRoundToNearestEvenAndSaturate) {
  const float values[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.49f, 127.5f, -128.5f, 3e9f, -3e9f};
  const std::int32_t wide[] = {0, 2, 2, 0, -2, 127, 128, -128, 2147483647, -2147483647 - 1};
  const int narrow[] = {0, 2, 2, 0, -2, 127, 127, -128, 127, -128};
  for (unsigned i = 0; i < std::size(values); ++i) {
    EXPECT_EQ(isa::cvt_s32(values[i]), wide[i]) << values[i];
    EXPECT_EQ(isa::cvt_s8(values[i]), narrow[i]) << values[i];
  }
  EXPECT_EQ(isa::cvt_s32(std::nanf("")), 0);
  EXPECT_EQ(isa::cvt_s8(std::nanf("")), 0);
}

}  // namespace
