// exp, erf, tanh and 1 / x of our own beside the host's, in double precision.
#include "tilewright/epilogue/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tw {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Elementary, ExpIsNear) {
  for (int i = -87 * 16384; i <= 87 * 16384; ++i) {
    const float x = static_cast<float>(i) / 16384;
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(elementary::exp(x), expected, 2e-7 * expected) << x;
  }
}

// Targets approximate 1 / x with other bits, at most an ulp from it: the result is the same.
TEST(Elementary, TheReciprocalHasTheSameBitsFromAnyApproximation) {
  for (std::uint32_t bits = std::bit_cast<std::uint32_t>(1.0f); bits < 0x40000000u; bits += 2) {
    const float x = std::bit_cast<float>(bits);
    const float expected = 1.0f / x;
    for (const float near :
         {expected, std::nextafter(expected, 0.0f), std::nextafter(expected, 2.0f)}) {
      if (std::abs(near - 1.0 / x) > 0x1p-24) continue;
      ASSERT_EQ(elementary::refined_reciprocal(x, near), expected) << x << " from " << near;
    }
  }
}

TEST(Elementary, ErfIsNear) {
  for (int i = -6 * 65536; i <= 6 * 65536; ++i) {
    const float x = static_cast<float>(i) / 65536;
    ASSERT_NEAR(elementary::erf(x), std::erf(static_cast<double>(x)), 3e-7) << x;
  }
  EXPECT_EQ(elementary::erf(infinity), 1.0f);
  EXPECT_EQ(elementary::erf(-infinity), -1.0f);
  EXPECT_TRUE(std::isnan(elementary::erf(NAN)));
}

TEST(Elementary, TanhIsNear) {
  for (int i = -12 * 65536; i <= 12 * 65536; ++i) {
    const float x = static_cast<float>(i) / 65536;
    const double expected = std::tanh(static_cast<double>(x));
    ASSERT_NEAR(elementary::tanh(x), expected, 4e-7 * std::abs(expected)) << x;
  }
  EXPECT_EQ(elementary::tanh(1e-30f), 1e-30f);
  EXPECT_EQ(elementary::tanh(infinity), 1.0f);
  EXPECT_EQ(elementary::tanh(-infinity), -1.0f);
  EXPECT_TRUE(std::isnan(elementary::tanh(NAN)));
}

TEST(Elementary, TheLogisticFunctionIsNear) {
  for (int i = -86 * 16384; i <= 100 * 16384; ++i) {
    const float x = static_cast<float>(i) / 16384;
    const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(x)));
    ASSERT_NEAR(elementary::logistic(x), expected, 5e-7 * expected) << x;
  }
  EXPECT_EQ(elementary::logistic(-88.0f), 0.0f);
  EXPECT_EQ(elementary::logistic(infinity), 1.0f);
}

}  // namespace
}  // namespace tw
