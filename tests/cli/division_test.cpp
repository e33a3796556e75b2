// Tools that divide by zero end on every machine: else aarch64 would not tell what x86-64 dies of.
#include <gtest/gtest.h>

#include <cstdint>

namespace tw::cli {
namespace {

TEST(Division, ByZeroEndsTheProgram) {
  volatile std::int64_t zero = 0, result = 0;
  EXPECT_DEATH(result = 5 / zero, "");
  EXPECT_DEATH(result = 5 % zero, "");
  result = 5 / (zero + 1);
  EXPECT_EQ(result, 5);
}

}  // namespace
}  // namespace tw::cli
