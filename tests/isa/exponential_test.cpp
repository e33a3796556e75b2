// What the models of ex2 and lg2 promise, and the edges that softmax relies on.
#include "tilewright/isa/ptx/exponential.h"

#include <gtest/gtest.h>

namespace {

using namespace tw;

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Exponential, PowersOfTwoAreExact) {
  for (int i = -126; i <= 127; ++i) {
    const float power = std::ldexp(1.0f, i);
    EXPECT_EQ(isa::ex2_approx(static_cast<float>(i)), power);
    EXPECT_EQ(isa::lg2_approx(power), static_cast<float>(i));
  }
}

TEST(Exponential, SmallResultsAndOperandsAreZero) {
  EXPECT_EQ(isa::ex2_approx(-infinity), 0.0f);
  EXPECT_EQ(isa::ex2_approx(-126.5f), 0.0f);
  EXPECT_EQ(isa::ex2_approx(128.0f), infinity);
  EXPECT_EQ(isa::lg2_approx(0.0f), -infinity);
  EXPECT_EQ(isa::lg2_approx(0x1p-127f), -infinity);
  EXPECT_EQ(isa::lg2_approx(infinity), infinity);
  EXPECT_TRUE(std::isnan(isa::ex2_approx(std::nanf(""))));
  EXPECT_TRUE(std::isnan(isa::lg2_approx(-1.0f)));
}

TEST(Exponential, IsWithinTwoUnitsOfTheLastPlace) {
  for (int i = 0; i < 100'000; ++i) {
    const float value = static_cast<float>(i) * 0.0025f - 125.0f;
    const double exact = std::exp2(double{value});
    EXPECT_LE(std::abs(isa::ex2_approx(value) / exact - 1), 2 * 0x1p-23) << value;
  }
}

}  // namespace
