#include "tilewright/number/mx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "oracle.h"
#include "probes.h"

namespace tw {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class Element>
struct Quantised {
  std::vector<Element> elements;
  std::vector<Ue8m0> scales;
  std::vector<float> back;

  Quantised(std::vector<float> values, MxScale rule)
      : elements(values.size()), scales((values.size() + 31) / 32), back(values.size()) {
    quantise_mx<Element>(elements, scales, values, rule);
    dequantise_mx<Element>(back, elements, scales);
  }
};

std::vector<float> block_with(std::vector<float> first) {
  first.resize(32, 0.0f);
  return first;
}

// The two definitions, in double, by search.
template <class Element>
std::uint32_t searched_scale(double amax, MxScale rule) {
  const double max = oracle::spec_of<Element>().max;
  int exponent = -127;
  if (rule == MxScale::floor) {
    // 2^exponent * 2^emax <= amax, where 2^emax is the power of two in max.
    const double power_in_max = std::ldexp(1.0, std::ilogb(max));
    while (exponent < 127 && std::ldexp(power_in_max, exponent + 1) <= amax) ++exponent;
  } else {
    while (exponent < 127 && std::ldexp(max, exponent) < amax) ++exponent;
  }
  return static_cast<std::uint32_t>(exponent + 127);
}

template <class T>
class Mx : public testing::Test {};
struct TypeName {
  template <class T>
  static std::string GetName(int) {
    return T::name;
  }
};
using MxTypes = testing::Types<E5m2, E4m3, E3m2, E2m3, E2m1>;
TYPED_TEST_SUITE(Mx, MxTypes, TypeName);

TYPED_TEST(Mx, ScaleFollowsTheDefinitionAtEveryBoundary) {
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    probes::Tally tally;
    const auto check = [&](float amax) {
      if (!std::isfinite(amax)) return;
      tally.compare(amax, mx_block_scale<TypeParam>(amax, rule).bits,
                    searched_scale<TypeParam>(std::fabs(amax), rule));
    };
    // Powers of two (with the float just below each) and max times powers of two.
    for (int exponent = -149; exponent <= 127; ++exponent) {
      probes::around(std::ldexp(1.0, exponent), check);
      probes::around(std::ldexp(NumberTraits<TypeParam>::max_finite, exponent - 15), check);
    }
    probes::every_exponent(check);
    EXPECT_EQ(tally.wrong(), 0u) << tally.report();
  }
}

TYPED_TEST(Mx, ElementsAreTheRoundedQuotients) {
  const auto& oracle = oracle::oracle_of<TypeParam>();
  std::mt19937 random(20240617);
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    probes::Tally tally;
    for (int round = 0; round < 2000; ++round) {
      std::vector<float> values(32 + round % 33);
      const int centre = static_cast<int>(random() % 270) - 140;
      for (float& value : values)
        value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                           centre - 31 - static_cast<int>(random() % 12));
      const Quantised<TypeParam> got(values, rule);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double scale = std::ldexp(1.0, got.scales[i / 32].bits - 127);
        tally.compare(values[i], got.elements[i].bits,
                      oracle.encode(values[i] / scale, Overflow::saturate));
      }
      for (std::size_t begin = 0; begin < values.size(); begin += 32) {
        double amax = 0;
        for (std::size_t i = begin; i < std::min(begin + 32, values.size()); ++i)
          amax = std::max<double>(amax, std::fabs(values[i]));
        if (std::isfinite(amax))
          tally.compare(static_cast<float>(amax), got.scales[begin / 32].bits,
                        searched_scale<TypeParam>(amax, rule));
      }
    }
    EXPECT_EQ(tally.wrong(), 0u) << tally.report();
  }
}

TYPED_TEST(Mx, RoundTripErrorIsBounded) {
  const auto spec = oracle::spec_of<TypeParam>();
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    std::vector<float> values(32 * 500);
    for (float& value : values) value = normal(random);
    const Quantised<TypeParam> got(values, rule);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double scale = std::ldexp(1.0, got.scales[i / 32].bits - 127);
      const double relative = std::fabs(values[i]) * std::ldexp(0.5, -spec.mantissa_bits);
      const double subnormal = scale * std::ldexp(0.5, 1 - spec.bias - spec.mantissa_bits);
      const double saturated = std::fabs(values[i]) - scale * spec.max;
      // Only FLOOR may saturate.
      const double bound =
          std::max({relative, subnormal, rule == MxScale::floor ? saturated : 0.0});
      ASSERT_LE(std::fabs(values[i] - got.back[i]), bound) << "value " << values[i];
      if (rule == MxScale::rceil) {
        ASSERT_LE(saturated, 0.0);
      }
    }
  }
}

TYPED_TEST(Mx, ZeroBlockGetsTheSmallestScale) {
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    const Quantised<TypeParam> got(block_with({0.0f, -0.0f}), rule);
    EXPECT_EQ(got.scales[0].bits, 0x00);
    EXPECT_EQ(got.elements[0].bits, 0x00);
    EXPECT_EQ(got.elements[1].bits, oracle::spec_of<TypeParam>().sign);
    for (const float value : got.back) EXPECT_EQ(value, 0.0f);
  }
}

TYPED_TEST(Mx, NanSpoilsItsBlockAlone) {
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    std::vector<float> values(96, 1.0f);
    values[40] = -not_a_number;
    values[41] = infinity;
    const Quantised<TypeParam> got(values, rule);
    EXPECT_EQ(got.scales[1].bits, 0xff);
    for (std::size_t i = 0; i < 96; ++i) {
      if (i / 32 == 1) {
        EXPECT_TRUE(std::isnan(got.back[i]));
        EXPECT_EQ(got.elements[i].bits, oracle::spec_of<TypeParam>().nan);
      } else {
        EXPECT_EQ(got.back[i], 1.0f);
      }
    }
  }
}

TYPED_TEST(Mx, InfinityIsSaturatedAndComesBack) {
  const std::uint32_t max_code = oracle::oracle_of<TypeParam>().max_code();
  const std::uint32_t sign = oracle::spec_of<TypeParam>().sign;
  const int max_exponent = std::ilogb(oracle::spec_of<TypeParam>().max);
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    const Quantised<TypeParam> got(block_with({infinity, -infinity, 1.0f}), rule);
    EXPECT_EQ(got.scales[0].bits, rule == MxScale::rceil ? 0xfe : 127 + 128 - max_exponent);
    EXPECT_EQ(got.elements[0].bits, max_code);
    EXPECT_EQ(got.elements[1].bits, max_code | sign);
    EXPECT_EQ(got.elements[2].bits, 0u);
    EXPECT_EQ(got.back[0], infinity);
    EXPECT_EQ(got.back[1], -infinity);
  }
}

TEST(MxGolden, FloorLooksBelowThePowerOfTwo) {
  const float below_eight = std::nextafter(8.0f, 0.0f);
  // e2m1: emax 2. log2f(below_eight) rounds to 3 and would give 2^1.
  EXPECT_EQ(mx_block_scale<E2m1>(below_eight, MxScale::floor).bits, 127);
  EXPECT_EQ(mx_block_scale<E2m1>(8.0f, MxScale::floor).bits, 128);
  const Quantised<E2m1> got(block_with({below_eight, 5.0f, -2.5f, 0.25f, 0.75f, 3.5f}),
                            MxScale::floor);
  const std::array<float, 6> expected{6, 4, -2, 0, 1, 4};  // saturated, then four ties to even
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got.back[i], expected[i]) << i;
}

TEST(MxGolden, RceilLooksAboveTheLargestElement) {
  EXPECT_EQ(mx_block_scale<E2m1>(6.0f, MxScale::rceil).bits, 127);
  EXPECT_EQ(mx_block_scale<E2m1>(std::nextafter(6.0f, 7.0f), MxScale::rceil).bits, 128);
  EXPECT_EQ(mx_block_scale<E4m3>(448.0f, MxScale::rceil).bits, 127);
  EXPECT_EQ(mx_block_scale<E4m3>(std::nextafter(448.0f, 449.0f), MxScale::rceil).bits, 128);
  EXPECT_EQ(mx_block_scale<E4m3>(1.0f, MxScale::rceil).bits, 127 - 8);
}

TEST(MxGolden, AmaxTiesBetweenSigns) {
  const Quantised<E4m3> got(block_with({-3.0f, 3.0f}), MxScale::floor);
  EXPECT_EQ(got.scales[0].bits, 127 + 1 - 8);
  EXPECT_EQ(got.elements[0].bits, 0x80 | got.elements[1].bits);
  EXPECT_EQ(got.back[0], -3.0f);
  EXPECT_EQ(got.back[1], 3.0f);
}

TEST(MxGolden, SubnormalsUseTheSmallestScale) {
  const float smallest = std::numeric_limits<float>::denorm_min();  // 2^-149
  const Quantised<E5m2> tiny(block_with({smallest, 0x1p-143f, 0x1p-144f}), MxScale::floor);
  EXPECT_EQ(tiny.scales[0].bits, 0x00);
  EXPECT_EQ(tiny.elements[0].bits, 0x00);  // 2^-22 of the scale: below half of 2^-16
  EXPECT_EQ(tiny.elements[1].bits, 0x01);
  EXPECT_EQ(tiny.back[1], 0x1p-143f);
  EXPECT_EQ(tiny.elements[2].bits, 0x00);  // the tie goes to zero
  // Subnormal, but within reach of its own scale: 2^-126.4 with emax 2 still clamps.
  EXPECT_EQ(mx_block_scale<E2m1>(0x1.8p-127f, MxScale::floor).bits, 0x00);
  EXPECT_EQ(mx_block_scale<E2m1>(0x1p-124f, MxScale::floor).bits, 0x01);
  EXPECT_EQ(mx_block_scale<E2m1>(0x1.8p-125f, MxScale::rceil).bits, 0x00);
  EXPECT_EQ(mx_block_scale<E2m1>(0x1.800002p-125f, MxScale::rceil).bits, 0x01);
}

TEST(MxGolden, LargestFloatsStayFinite) {
  const float max = std::numeric_limits<float>::max();
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    const Quantised<E4m3> got(block_with({max, -max}), rule);
    EXPECT_EQ(got.scales[0].bits, 127 + 127 - 8 + (rule == MxScale::rceil ? 1 : 0));
    // Under RCEIL the quotient, 255.99, rounds to 256: the product is 2^128.
    EXPECT_EQ(got.back[0], rule == MxScale::rceil ? infinity : 0x1.cp127f);
  }
}

TEST(MxSizes, AreRefusedWhenTheyDoNotMatch) {
  std::vector<float> values(33);
  std::vector<E4m3> elements(33), too_few_elements(32);
  std::vector<Ue8m0> scales(2), too_few_scales(1);
  EXPECT_THROW(quantise_mx<E4m3>(too_few_elements, scales, values, MxScale::floor), Refusal);
  EXPECT_THROW(quantise_mx<E4m3>(elements, too_few_scales, values, MxScale::floor), Refusal);
  EXPECT_THROW(dequantise_mx<E4m3>(values, too_few_elements, scales), Refusal);
  EXPECT_THROW(dequantise_mx<E4m3>(values, elements, too_few_scales), Refusal);
  const Quantised<E4m3> none({}, MxScale::floor);
  EXPECT_TRUE(none.scales.empty());
}

}  // namespace
}  // namespace tw
