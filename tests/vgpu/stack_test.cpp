// Local memory of threads: frames that are too many, or too large.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// Touches every frame, and needs each until the next has returned.
[[gnu::noinline]] unsigned deep(unsigned calls) {
  volatile unsigned char frame[1024];
  frame[calls % 1024] = static_cast<unsigned char>(calls);
  return calls == 0 ? 0 : deep(calls - 1) + frame[calls % 1024];
}

TEST(Stack, AFullStackEndsTheRunWithItsThread) {
  const auto run = [](unsigned calls) {
    return Kernel{.threads = 64}.run([calls] {
      isa::describe_role("deep");
      if (isa::thread_index() == 3) deep(calls);
    });
  };
  for (const bool planted : {false, true, true, false}) {
    EXPECT_TRUE(found_if(planted, run(planted ? 1000 : 10), Checker::Exception,
                         "deep role (thread 3 of CTA 0) needs more than the"));
  }
}

// One frame, of which only the lower end is touched: far below a stack that is too small for it.
template <std::size_t bytes>
[[gnu::noinline]] unsigned large(unsigned at) {
  volatile unsigned char frame[bytes];
  frame[at] = 1;
  return frame[at];
}

template <std::size_t bytes>
Report run_large() {
  return Kernel{.threads = 192}.run([] {
    isa::describe_role("large");
    if (isa::thread_index() == 3) large<bytes>(0);
  });
}

TEST(Stack, ALargeFrameEndsTheRunWithItsThread) {
  const std::string words = "large role (thread 3 of CTA 0) needs more than the";
  EXPECT_TRUE(clean(run_large<64 << 10>()));
  EXPECT_TRUE(found(run_large<130 << 10>(), Checker::Exception, words));
  EXPECT_TRUE(found(run_large<200 << 10>(), Checker::Exception, words));
  EXPECT_TRUE(found(run_large<512 << 10>(), Checker::Exception, words));
  EXPECT_TRUE(clean(run_large<64 << 10>()));
}

}  // namespace
}  // namespace tw::test
