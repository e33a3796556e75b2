// A variable that has no value yet is NaN: neither zero nor what another thread left there.
#include <cmath>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// What lies in a frame. The assembly says that it writes the numbers, and writes nothing.
struct Frame {
  float numbers[64];
  [[gnu::noinline]] Frame() { asm volatile("" : "=m"(numbers)); }
};

TEST(Poison, FramesBeginAsNaN) {
  const Kernel kernel{.threads = 64};
  for (int run = 0; run < 3; ++run) {  // later ones get the stacks of the first
    unsigned found = 0;
    const Report report = kernel.run([&] {
      Frame frame;
      for (float& number : frame.numbers) {
        found += std::isnan(number);
        number = 0;
      }
      asm volatile("" : : "m"(frame.numbers));
    });
    EXPECT_TRUE(clean(report));
    EXPECT_EQ(found, 64 * 64u) << "in run " << run;
  }
}

}  // namespace
}  // namespace tw::test
