// Registers that setmaxnreg shifts between warpgroups.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// Three warpgroups, of which the first helps; decide(group, warp in group, lane) shifts registers.
template <class Decide>
Report shift(unsigned launched, const Decide& decide) {
  return Kernel{.threads = 384, .registers = launched}.run([&] {
    const unsigned thread = isa::thread_index();
    decide(thread / 128, thread / 32 % 4, thread % 32);
    isa::describe_role(thread < 128 ? "help" : "multiply");
  });
}

TEST(RegisterBudget, HoldsWhatTheCtaWasLaunchedWith) {
  const auto shift_to_240 = [](unsigned group, unsigned, unsigned) {
    group == 0 ? isa::setmaxnreg_decrease<24>() : isa::setmaxnreg_increase<240>();
  };
  EXPECT_TRUE(clean(shift(168, shift_to_240)));
  EXPECT_TRUE(clean(shift(0, shift_to_240)));
  const auto shift_to_256 = [](unsigned group, unsigned, unsigned) {
    group == 0 ? isa::setmaxnreg_decrease<24>() : isa::setmaxnreg_increase<256>();
  };
  for (const unsigned launched : {0u, 168u}) {
    const Report report = shift(launched, shift_to_256);
    ASSERT_TRUE(found(report, Checker::RegisterBudget, "together want 68608 registers"));
    EXPECT_EQ(find(report, Checker::RegisterBudget)->role, "multiply");
    EXPECT_EQ(report.findings.size(), 1u);
  }
  // 40 * 128 + 232 * 256 are what the multiprocessor has, and more than 168 for each thread.
  const auto shift_to_232 = [](unsigned group, unsigned, unsigned) {
    group == 0 ? isa::setmaxnreg_decrease<40>() : isa::setmaxnreg_increase<232>();
  };
  EXPECT_TRUE(clean(shift(0, shift_to_232)));
  EXPECT_TRUE(clean(shift(168, shift_to_232)));
}

TEST(RegisterBudget, CountsWarpsThatSayNothing) {
  const auto forget = [](unsigned group, unsigned, unsigned) {
    if (group != 0) isa::setmaxnreg_increase<240>();
  };
  const Report report = shift(168, forget);
  ASSERT_TRUE(found(report, Checker::RegisterBudget,
                    "together want 82944 registers, and the CTA was launched with 64512"));
  EXPECT_TRUE(
      found(report, Checker::RegisterBudget, "The help role executes no setmaxnreg and keeps 168"));
  EXPECT_EQ(find(report, Checker::RegisterBudget)->role, "help");
  EXPECT_TRUE(clean(shift(0, forget)));  // nobody knows with how many it was launched
}

TEST(RegisterBudget, IsSharedByAWarpgroup) {
  const Report one = shift(168, [](unsigned group, unsigned warp, unsigned) {
    if (group == 0) {
      if (warp == 0) isa::setmaxnreg_decrease<24>();
    } else {
      isa::setmaxnreg_increase<240>();
    }
  });
  ASSERT_TRUE(found(one, Checker::RegisterBudget,
                    "Warp 1 of CTA 0 has executed 0 setmaxnreg, and warp 0 of the same warpgroup "
                    "1: all warps"));
  EXPECT_EQ(find(one, Checker::RegisterBudget)->role, "help");
  EXPECT_TRUE(found(shift(0,
                          [](unsigned, unsigned warp, unsigned) {
                            warp == 2 ? isa::setmaxnreg_decrease<40>()
                                      : isa::setmaxnreg_decrease<48>();
                          }),
                    Checker::RegisterBudget, "with other numbers"));
}

TEST(RegisterBudget, IsAWarpsWhole) {
  EXPECT_TRUE(found(shift(0,
                          [](unsigned, unsigned, unsigned lane) {
                            lane == 7 ? isa::setmaxnreg_decrease<40>()
                                      : isa::setmaxnreg_decrease<48>();
                          }),
                    Checker::Divergence, "lane 7"));
}

}  // namespace
}  // namespace tw::test
