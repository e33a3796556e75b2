#include <gtest/gtest.h>

#include "tests/vgpu/ring_matmul.h"

namespace tw::test {
namespace {

using vgpu::Landing;

std::string texts(const vgpu::Report& report) {
  std::string all;
  for (const auto& finding : report.findings) all += finding.name + ": " + finding.text + "\n";
  for (const auto& reason : report.incomplete) all += "incomplete: " + reason + "\n";
  return all;
}

TEST(Matmul, RaggedIsExactAndCleanUnderEveryLandingPolicy) {
  for (Landing landing : {Landing::Eager, Landing::Lazy, Landing::Random, Landing::Adversarial}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      RingMatmul matmul(200, 136, 200, 64);
      const auto report = matmul.run({.landing = landing, .seed = seed});
      EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << texts(report);
      EXPECT_TRUE(matmul.correct()) << vgpu::name_of(landing) << " seed " << seed;
    }
  }
}

TEST(Matmul, Speed) {
  RingMatmul matmul(512, 512, 512, 256);
  matmul.ctas = 4;
  const auto report = matmul.run({.check = false});
  EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << texts(report);
  EXPECT_TRUE(matmul.correct());
  std::printf("steps %lu, virtual %lu ns\n", report.steps, report.virtual_nanoseconds);
}

}  // namespace
}  // namespace tw::test
