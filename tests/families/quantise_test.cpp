// The quantising kernels on the virtual GPU against the host, bit by bit.
#include <gtest/gtest.h>

#include "tests/families/quantise_problems.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

void expect_exact(const QuantiseInstance& instance, const QuantiseShape& shape, Fill fill,
                  std::uint64_t seed) {
  const VirtualRun run =
      run_virtually(instance, VerifiedQuantise(shape, fill, seed), schedule(seed));
  ASSERT_TRUE(run.clean()) << run_line(instance, shape, fill, seed) << "\n" << run.complaint();
}

TEST(Quantise, IsTheHostsBitByBitOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_QUANTISE_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 600;
  for (int i = 0; i < problems; ++i) {
    const auto instances = quantise_instances();
    const QuantiseInstance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    const QuantiseShape shape = random_shape(instance, random);
    expect_exact(instance, shape, fills[i / 6 % 4], base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(Quantise, TakesNothingAndOne) {
  for (const QuantiseInstance& instance : quantise_instances()) {
    for (const std::int64_t m : {0, 1}) {
      for (const std::int64_t k : {0, 1, 128}) {
        QuantiseShape shape;
        shape.m = m;
        shape.k = k;
        shape.scale_rows = instance.scale_rows;
        expect_exact(instance, shape, Fill::Integers, 1);
      }
    }
  }
}

TEST(Quantise, RefusesTheOtherShapeOfBlocks) {
  for (const QuantiseInstance& instance : quantise_instances()) {
    QuantiseShape shape;
    shape.m = 5;
    shape.k = 5;
    shape.scale_rows = 129 - instance.scale_rows;
    const VirtualRun run =
        run_virtually(instance, VerifiedQuantise(shape, Fill::Integers, 1), schedule(1));
    EXPECT_EQ(run.status.sentence(), instance.scale_rows == 1
                                         ? "A scale is of 128 rows; this kernel makes one for 1."
                                         : "A scale is of 1 rows; this kernel makes one for 128.");
  }
}

}  // namespace
}  // namespace tw::tests
