#include "src/bench/fit/neutral.h"

#include <gtest/gtest.h>

namespace tw::bench::tests {

TEST(Neutral, FactorsBeginAtOne) {
  for (const double factor : {0.51, 0.932, 1.0, 1.27, 1.99}) EXPECT_EQ(neutral(factor), 1);
}

TEST(Neutral, OthersKeepTheirMagnitude) {
  EXPECT_EQ(neutral(0.201), 0.25);
  EXPECT_EQ(neutral(4.78), 4);
  EXPECT_EQ(neutral(50.5), 64);
  for (const double value : {1e-3, 0.743, 89.7, 4.22e6}) {
    EXPECT_LE(neutral(value) / value, 2.0001);
    EXPECT_GE(neutral(value) / value, 0.4999);
  }
}

// Two fits that found nearly the same begin at the same.
TEST(Neutral, WhatWasFoundIsForgotten) {
  EXPECT_EQ(neutral(1.37), neutral(0.9 * 1.37));
  EXPECT_EQ(neutral(neutral(6.88)), neutral(6.88));
}

}  // namespace tw::bench::tests
