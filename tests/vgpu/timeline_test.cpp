// What a run writes down of its roles: waits with their causes, and phases.
#include "vgpu/timeline.h"

#include <gtest/gtest.h>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// Thread 32 waits for thread 0, which is long about it.
Report run_two_roles() {
  Kernel kernel{.threads = 64};
  kernel.options.landing = Landing::Eager;
  return kernel.run([] {
    start_barrier(0, 1, 64);
    if (isa::thread_index() == 0) {
      isa::describe_role("slow");
      stand_back();
      isa::mbarrier_arrive(address_at(0));
    } else if (isa::thread_index() == 32) {
      isa::describe_role("waiting");
      wait(address_at(0), 0);
    }
  });
}

TEST(Timeline, TellsWhoWaitsForWhatAndHowLong) {
  vgpu::Timeline timeline;
  {
    const vgpu::Recording recording(timeline);
    EXPECT_TRUE(clean(run_two_roles()));
  }
  ASSERT_EQ(timeline.tracks.size(), 1u);  // who never waits has no track
  const vgpu::Timeline::Track& track = timeline.tracks[0];
  EXPECT_EQ(track.role, "waiting");
  EXPECT_EQ(track.thread, 32u);
  ASSERT_EQ(track.waits.size(), 1u);
  EXPECT_EQ(track.waits[0].on, "full");
  EXPECT_EQ(track.waits[0].stage, 3);
  EXPECT_GT(track.waits[0].end - track.waits[0].begin, 1'000'000u);  // 10,000 instructions
  EXPECT_EQ(track.end, track.waits[0].end);
  ASSERT_EQ(timeline.phases.size(), 1u);
  EXPECT_EQ(timeline.phases[0].barrier, "full");
  EXPECT_EQ(timeline.phases[0].time, track.waits[0].end);
}

TEST(Timeline, IsWrittenOnlyWhereSomebodyRecords) {
  vgpu::Timeline timeline;
  { const vgpu::Recording recording(timeline); }
  EXPECT_TRUE(clean(run_two_roles()));
  EXPECT_TRUE(timeline.tracks.empty());
}

}  // namespace
}  // namespace tw::test
