// Shared memory past the model: what is read there is wrong, and what is written there is found.
#include <gtest/gtest.h>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

TEST(PlainPointer, ReadsNothing) {
  std::uint32_t seen = 0, plain = 0;
  const Report report = Kernel{.threads = 32}.run([&] {
    if (isa::thread_index() != 0) return;
    store_shared(shared_at(0), 7u);
    store_shared(shared_at(4), 8u);
    plain = *shared_at(0);
    seen = load_shared(shared_at(0));
  });
  EXPECT_TRUE(clean(report));
  EXPECT_EQ(seen, 7u);
  EXPECT_EQ(plain, 0xFFFFFFFFu);
}

TEST(PlainPointer, WritesAreFound) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 32}.run([&] {
      if (isa::thread_index() != 0) return;
      store_shared(shared_at(64), 7u);
      if (planted) *shared_at(128) = 9u;
      load_shared(shared_at(64));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Bounds, "by a plain pointer"));
  }
}

}  // namespace
}  // namespace tw::test
