#include "src/bench/harness/roofline.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/bench/made_up.h"

namespace tw::bench::tests {

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST(Roofline, HasLimitsAndAMarkForEachShape) {
  ShapeResult without_peer = beside(8192, 8192, 8192, 1600, 1650);
  without_peer.peer.reset();
  ShapeResult failed = beside(8, 8, 8, 100, 200);
  failed.own = {refused("tilewright")};
  const std::string svg = roofline(
      facts(),
      {beside(1, 6144, 4096, 15, 14), beside(64, 4096, 14336, 33, 35), without_peer, failed});
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  for (const char* text :
       {">4.55 TB/s read<", ">bf16 883 TFLOP/s<", ">e4m3 1717 TFLOP/s<",
        "measured on an H200 with shared/measure", ">bf16 matmul on NVIDIA H200<",
        ">1 x 6144 x 4096<", ">1.071<", ">0.943<"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(count(svg, "a4 4 0 1 0 8 0"), 3u + 1u);  // ours, and in the legend
  EXPECT_EQ(count(svg, "l4.5 4.5"), 3u + 1u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace tw::bench::tests
