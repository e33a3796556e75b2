// Vector clocks, by their definition.
#include "vgpu/machine/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace tw::vgpu {
namespace {

ClockRef clock_of(ClockPool& pool, std::vector<Epoch> happened, std::vector<Epoch> visible = {}) {
  ClockRef clock(pool.take());
  clock.edit()->happened = std::move(happened);
  clock.edit()->visible = std::move(visible);
  return clock;
}

std::vector<Epoch> random_entries(std::mt19937& dice) {
  std::vector<Epoch> entries(dice() % 6);
  for (Epoch& entry : entries) entry = dice() % 4;
  return entries;
}

TEST(Clock, JoinIsTheLeastUpperBound) {
  ClockPool pool;
  ClockJoiner joiner;
  std::mt19937 dice(1);
  for (unsigned round = 0; round < 2000; ++round) {
    const ClockRef left = clock_of(pool, random_entries(dice), random_entries(dice));
    const ClockRef right = clock_of(pool, random_entries(dice), random_entries(dice));
    for (unsigned again = 0; again < 2; ++again) {  // the second time from memory
      const ClockRef joined = joiner.join(pool, left, right);
      for (Slot slot = 0; slot < 7; ++slot) {
        for (Epoch epoch = 1; epoch < 5; ++epoch) {
          EXPECT_EQ(joined->covers(slot, epoch),
                    left->covers(slot, epoch) || right->covers(slot, epoch));
          EXPECT_EQ(joined->shows(slot, epoch),
                    left->shows(slot, epoch) || right->shows(slot, epoch));
        }
      }
    }
  }
}

TEST(Clock, JoinOfOrderedClocksIsTheLaterOneItself) {
  ClockPool pool;
  ClockJoiner joiner;
  const ClockRef early = clock_of(pool, {1, 2, 3}, {1});
  const ClockRef late = clock_of(pool, {1, 3, 3, 4}, {1, 1});
  EXPECT_EQ(joiner.join(pool, early, late), late);
  EXPECT_EQ(joiner.join(pool, late, early), late);
  EXPECT_EQ(joiner.join(pool, early, {}), early);
  EXPECT_EQ(joiner.join(pool, {}, late), late);
}

// Clocks of other clusters are joined like the own one, whichever order they come in.
TEST(Clock, KnowsOtherClusters) {
  ClockPool pool;
  ClockJoiner joiner;
  std::mt19937 dice(2);
  const auto draw = [&] {
    ClockRef clock = clock_of(pool, random_entries(dice));
    for (unsigned i = dice() % 4; i > 0; --i) {
      const ClockRef other = clock_of(pool, random_entries(dice), random_entries(dice));
      clock.edit()->raise_other(dice() % 3, other);
    }
    return clock;
  };
  const auto knows = [](const ClockRef& clock, unsigned cluster, Slot slot, Epoch epoch) {
    const Clock* const other = clock->other(cluster);
    return std::pair(other != nullptr && other->covers(slot, epoch),
                     other != nullptr && other->shows(slot, epoch));
  };
  for (unsigned round = 0; round < 2000; ++round) {
    const ClockRef left = draw(), right = draw();
    const ClockRef joined = joiner.join(pool, left, right);
    EXPECT_TRUE(joined->includes(*left.get()) && joined->includes(*right.get()));
    for (unsigned i = 0; i < 3 * 7 * 4; ++i) {
      const unsigned cluster = i % 3;
      const auto slot = static_cast<Slot>(i / 3 % 7);
      const Epoch epoch = i / 21 + 1;
      const auto by_left = knows(left, cluster, slot, epoch);
      const auto by_right = knows(right, cluster, slot, epoch);
      EXPECT_EQ(knows(joined, cluster, slot, epoch),
                std::pair(by_left.first || by_right.first, by_left.second || by_right.second));
    }
  }
}

TEST(Clock, ReleaseCarriesTheThreadAndWhatItKnows) {
  ClockPool pool;
  ReleaseClock release;
  ThreadView first{clock_of(pool, {0, 0, 7}), 0, 5, 4};
  ThreadView second{first.known, 1, 9, 0};
  release.add(pool, first);
  release.add(pool, second);
  const ClockRef done = release.finish();
  EXPECT_EQ(done->happened, (std::vector<Epoch>{5, 9, 7}));
  EXPECT_EQ(done->visible, (std::vector<Epoch>{4, 0}));
  EXPECT_EQ(first.epoch, 6u) << "what the thread does next is not released";
  EXPECT_FALSE(release.finish()) << "the next phase starts from nothing";
}

TEST(Clock, ReleaseToAPeerCarriesAgentsOnly) {
  ClockPool pool;
  ReleaseClock release;
  const ThreadView view{clock_of(pool, {3, 4, 7, 8}, {2}), 0, 5, 4};
  release.add_agents(pool, view, 2);
  EXPECT_EQ(release.finish()->happened, (std::vector<Epoch>{0, 0, 7, 8}));
}

TEST(Clock, CommonViewIsWhatEveryThreadKnows) {
  ClockPool pool;
  const ClockRef wide = clock_of(pool, {5, 5, 5, 9}, {5, 5, 5});
  const ClockRef narrow = clock_of(pool, {1, 2, 8}, {1, 1, 1});
  CommonView common;
  common.add({wide, 0, 6, 6});
  common.add({wide, 1, 6, 6});
  EXPECT_EQ(common.get(pool), wide);
  // Thread 2 alone brings `narrow`: of itself it knows everything, visible up to its own fence.
  common.add({narrow, 2, 20, 3});
  const ClockRef all = common.get(pool);
  EXPECT_EQ(all->happened, (std::vector<Epoch>{1, 2, 5, 0}));
  EXPECT_EQ(all->visible, (std::vector<Epoch>{1, 1, 3}));
  // When thread 1 brings it too, they only know of each other what it says.
  CommonView pair;
  const ClockRef poor = clock_of(pool, {1, 2, 3}, {1, 1, 2});
  pair.add({wide, 0, 6, 6});
  pair.add({poor, 2, 20, 3});
  pair.add({poor, 1, 20, 3});
  EXPECT_EQ(pair.get(pool)->happened, (std::vector<Epoch>{1, 2, 3, 0}));
  EXPECT_EQ(pair.get(pool)->visible, (std::vector<Epoch>{1, 1, 2}));

  common.add({{}, 3, 1, 0});
  EXPECT_FALSE(common.get(pool)) << "one who knows nothing";
}

}  // namespace
}  // namespace tw::vgpu
