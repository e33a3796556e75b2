#include "tilewright/base/status.h"

#include <gtest/gtest.h>

namespace {

constexpr int half(int value) {
  tw::require(value % 2 == 0, "half: the value must be even");
  return value / 2;
}
static_assert(half(8) == 4);

TEST(Status, CarriesTheSentenceOfARefusal) {
  auto good = tw::attempt([] { return half(6); });
  EXPECT_TRUE(good.status.is_good());
  EXPECT_EQ(good.value, 3);
  auto refused = tw::attempt([] { return half(7); });
  EXPECT_FALSE(refused.status.is_good());
  EXPECT_EQ(refused.status.sentence(), "half: the value must be even");
  EXPECT_FALSE(refused.value.has_value());
}

}  // namespace
