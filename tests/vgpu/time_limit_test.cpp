// mbarrier.try_wait has a time limit: it may come back without the phase.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// How often a try_wait came back without the phase, which ends when all the others have arrived.
unsigned failures(Landing landing, std::uint64_t seed) {
  unsigned failed = 0;
  const Report report =
      Kernel{.threads = 64, .options = {.landing = landing, .seed = seed}}.run([&] {
        start_barrier(0, 32, 64);
        if (isa::thread_index() < 32) {
          while (!isa::mbarrier_try_wait_parity(address_at(0), 0)) ++failed;
        } else {
          isa::mbarrier_arrive(address_at(0));
        }
      });
  EXPECT_TRUE(clean(report));
  return failed;
}

TEST(TimeLimit, IsReachedNowAndThenWhereSchedulesAreDrawn) {
  for (const Landing landing : every_landing) {
    unsigned failed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) failed += failures(landing, seed);
    const bool is_drawn = landing == Landing::Random || landing == Landing::Adversarial;
    EXPECT_EQ(failed > 0, is_drawn) << failed;
  }
}

// A reader that tries once, or once more where that failed, reads early in some of the schedules.
TEST(TimeLimit, AWaitWithoutALoopIsFound) {
  std::vector<std::uint8_t> source(64 * 16, 7);
  const TensorMap map = byte_map(source, 64, 16, 64, 16);
  const auto run = [&](unsigned tries, std::uint64_t seed) {
    const Kernel kernel{.threads = 64,
                        .memory = {range_of(source, "source")},
                        .options = {.landing = Landing::Random, .seed = seed}};
    return kernel.run([&] {
      start_barrier(1024, 1, 64);
      if (isa::thread_index() == 32) {
        isa::mbarrier_arrive_expect_tx(address_at(1024), 1024);
        load_box(0, map, 1024, 0, 0);
      }
      isa::barrier_sync(0, 64);
      if (isa::thread_index() >= 32) return;
      isa::describe_role("read");
      for (unsigned i = 0; i < tries; ++i) {
        if (isa::mbarrier_try_wait_parity(address_at(1024), 0)) break;
      }
      (void)load_shared(shared_at(4 * isa::thread_index()));
    });
  };
  for (const unsigned tries : {1u, 2u, 1000u}) {
    unsigned early = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Report report = run(tries, seed);
      if (report.verdict() == Report::Clean) continue;
      EXPECT_TRUE(found(report, Checker::ReadBeforeFull, "read role"));
      ++early;
    }
    EXPECT_EQ(early > 0, tries < 1000) << tries;
  }
}

}  // namespace
}  // namespace tw::test
