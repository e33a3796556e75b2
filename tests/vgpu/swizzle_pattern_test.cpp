// What is swizzled begins where the pattern of the swizzle does.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

using vgpu::MapSwizzle;

// A box of so many rows, each a span of the swizzle.
TensorMap swizzled_map(std::vector<std::uint8_t>& matrix, MapSwizzle swizzle, unsigned rows) {
  const unsigned span = vgpu::swizzle_span(swizzle);
  vgpu::TileMap map;
  map.base = matrix.data();
  map.element_bytes = 1;
  map.rank = 2;
  map.extents[0] = span;
  map.extents[1] = 64;
  map.pitch_bytes[0] = span;
  map.box[0] = span;
  map.box[1] = rows;
  map.swizzle = swizzle;
  return vgpu::encode(map);
}

Report load_at(unsigned offset, MapSwizzle swizzle, unsigned rows) {
  std::vector<std::uint8_t> source(64 * 128, 1);
  const TensorMap map = swizzled_map(source, swizzle, rows);
  const unsigned bytes = rows * vgpu::swizzle_span(swizzle);
  const Kernel kernel{.threads = 32, .memory = {range_of(source, "source", true, false)}};
  return kernel.run([&] {
    isa::describe_role("load");
    start_barrier(32768, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(32768), bytes);
      load_box(offset, map, 32768, 0, 0);
    }
    wait(address_at(32768), 0);
  });
}

TEST(SwizzlePattern, BoxesOfWholePatternsBeginWithOne) {
  for (const MapSwizzle swizzle :
       {MapSwizzle::Bytes32, MapSwizzle::Bytes64, MapSwizzle::Bytes128}) {
    const unsigned span = vgpu::swizzle_span(swizzle), pattern = 8 * span;
    EXPECT_TRUE(clean(load_at(0, swizzle, 16)));
    EXPECT_TRUE(clean(load_at(3 * pattern, swizzle, 8)));
    const Report report = load_at(pattern + pattern / 2, swizzle, 16);
    EXPECT_TRUE(found(report, Checker::Alignment,
                      std::to_string(pattern / 2) + " bytes behind the beginning of a pattern"));
    EXPECT_TRUE(found(report, Checker::Alignment, "repeats after " + std::to_string(pattern)));
    // A part of a pattern may be anywhere in it.
    EXPECT_TRUE(clean(load_at(128, swizzle, 4)));
  }
  EXPECT_TRUE(clean(load_at(128, MapSwizzle::None, 16)));
}

}  // namespace
}  // namespace tw::test
