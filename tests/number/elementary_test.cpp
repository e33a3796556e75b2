// erf and tanh of our own beside the host's, in double precision.
#include "tilewright/number/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tw {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Elementary, ErfIsNear) {
  for (int i = -6 * 65536; i <= 6 * 65536; ++i) {
    const float x = static_cast<float>(i) / 65536;
    ASSERT_NEAR(erf_by_polynomials(x), std::erf(static_cast<double>(x)), 3e-7) << x;
  }
  EXPECT_EQ(erf_by_polynomials(infinity), 1.0f);
  EXPECT_EQ(erf_by_polynomials(-infinity), -1.0f);
  EXPECT_TRUE(std::isnan(erf_by_polynomials(NAN)));
}

TEST(Elementary, TanhIsNear) {
  for (int i = -12 * 65536; i <= 12 * 65536; ++i) {
    const float x = static_cast<float>(i) / 65536;
    const double expected = std::tanh(static_cast<double>(x));
    ASSERT_NEAR(tanh_by_polynomials(x), expected, 3e-7 * std::abs(expected)) << x;
  }
  EXPECT_EQ(tanh_by_polynomials(1e-30f), 1e-30f);
  EXPECT_EQ(tanh_by_polynomials(infinity), 1.0f);
  EXPECT_EQ(tanh_by_polynomials(-infinity), -1.0f);
  EXPECT_TRUE(std::isnan(tanh_by_polynomials(NAN)));
}

}  // namespace
}  // namespace tw
