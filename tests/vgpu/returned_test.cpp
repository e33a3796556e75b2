// Threads that return, or go elsewhere, before a barrier that counts on them.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// Threads at and above `end` return; the others meet, `expected` of them.
Report meet(unsigned end, unsigned expected, Landing landing) {
  return Kernel{.threads = 128, .options = {.landing = landing}}.run([=] {
    isa::describe_role("meet");
    if (isa::thread_index() >= end) return;
    isa::barrier_sync(1, expected);
  });
}

TEST(Returned, ThreadsAreNamedByTheDeadlock) {
  for (const Landing landing : every_landing) {
    EXPECT_TRUE(clean(meet(128, 128, landing)));
    EXPECT_TRUE(clean(meet(96, 96, landing)));
    EXPECT_TRUE(found(meet(96, 128, landing), Checker::Deadlock,
                      "named barrier 1: 96 of 128 threads arrived; threads 96-127 have returned"));
    EXPECT_TRUE(found(meet(100, 128, landing), Checker::Deadlock,
                      "100 of 128 threads arrived; threads 100-127 have returned"));
  }
}

// The counts are right, and the warps are not whole: half of each comes.
TEST(Returned, LanesOfAWarpComeTogether) {
  for (const Landing landing : every_landing) {
    for (const bool planted : {false, true}) {
      const Report report = Kernel{.threads = 128, .options = {.landing = landing}}.run([=] {
        isa::describe_role("meet");
        const unsigned thread = isa::thread_index();
        if (planted ? thread % 32 >= 16 : thread >= 64) return;
        isa::barrier_sync(1, 64);
      });
      EXPECT_TRUE(found_if(planted, report, Checker::Divergence,
                           "comes to named barrier 1 with 16 of the 32 lanes of its warp, and "
                           "others of them have returned"));
    }
  }
}

}  // namespace
}  // namespace tw::test
