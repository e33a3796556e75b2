// Special registers and the collectives of a warp.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

TEST(SpecialRegisters, NumberThreadsCtasAndRanks) {
  std::vector<unsigned> seen(4 * 2 * 64, 0);
  const Report report = Kernel{.threads = 64, .ctas = 8, .cluster_size = 2}.run([&] {
    EXPECT_EQ(isa::cta_count(), 8u);
    EXPECT_EQ(isa::cluster_rank(), isa::cta_index() % 2);
    ++seen[isa::cta_index() * 64 + isa::thread_index()];
  });
  EXPECT_TRUE(clean(report));
  EXPECT_EQ(seen, std::vector<unsigned>(seen.size(), 1));
}

TEST(SpecialRegisters, SharedMemoryIsAlignedAndItsAddressesFitADescriptor) {
  const Report report = Kernel{.threads = 32, .shared_bytes = 227 << 10}.run([] {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(isa::dynamic_shared()) % 1024, 0u);
    EXPECT_EQ(address_at(0) % 1024, 0u);
    EXPECT_NE(address_at(0), 0u);
    EXPECT_LT(address_at(227 << 10), 1u << 18);
    EXPECT_EQ(address_at(500), address_at(0) + 500);
  });
  EXPECT_TRUE(clean(report));
}

TEST(SpecialRegisters, TimeGoesOnAndBarriersLetItCatchUp) {
  std::uint64_t last = 0;
  const Report report = Kernel{.threads = 64}.run([&] {
    const std::uint64_t begin = isa::global_timer();
    if (isa::thread_index() == 63) {
      for (int i = 0; i < 1000; ++i) isa::global_timer();
      last = isa::global_timer();
    }
    isa::barrier_sync(0, 64);
    EXPECT_GT(isa::global_timer(), begin);
    EXPECT_GE(isa::global_timer(), last);
  });
  EXPECT_TRUE(clean(report));
  EXPECT_GE(report.virtual_nanoseconds, last);
}

TEST(Warp, ElectsExactlyOneLane) {
  std::vector<unsigned> elected(4, 0);
  EXPECT_TRUE(clean(Kernel{}.run([&] {
    if (isa::elect_one()) ++elected[isa::thread_index() / 32];
  })));
  EXPECT_EQ(elected, std::vector<unsigned>(4, 1));
}

TEST(Warp, ShufflesUnderEveryLanding) {
  for (const Landing landing : every_landing) {
    EXPECT_TRUE(clean(Kernel{.options = {.landing = landing}}.run([] {
      const unsigned thread = isa::thread_index();
      for (unsigned round = 0; round < 8; ++round) {
        const unsigned source = (thread + round) % 32;
        EXPECT_EQ(isa::shuffle(thread * 100 + round, source),
                  (thread / 32 * 32 + source) * 100 + round);
      }
    })));
  }
}

TEST(Warp, SyncOrdersMemoryAndShuffleDoesNot) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 32}.run([&] {
      isa::describe_role("reduce");
      store_shared(shared_at(4 * isa::thread_index()), isa::thread_index());
      if (planted) {
        isa::shuffle(0, 0);
      } else {
        isa::warp_sync();
      }
      const unsigned neighbour = (isa::thread_index() + 1) % 32;
      EXPECT_EQ(load_shared(shared_at(4 * neighbour)), neighbour);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "reduce role"));
  }
}

TEST(Warp, StmatrixScattersFragments) {
  // Matrix i is rows 8i to 8i + 7; element (row, column) gets the value 100 * row + column.
  const Report report = Kernel{.threads = 32}.run([] {
    const unsigned lane = isa::thread_index();
    std::uint32_t packed[4];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = 8 * i + lane / 4;
      const unsigned column = 2 * (lane % 4);
      packed[i] = (100 * row + column) | (100 * row + column + 1) << 16;
    }
    isa::stmatrix_x4(address_at(16 * lane), packed[0], packed[1], packed[2], packed[3]);
    isa::warp_sync();
    for (unsigned column = 0; column < 8; ++column) {
      EXPECT_EQ(load_shared(shared_at<std::uint16_t>(16 * lane + 2 * column)), 100 * lane + column);
    }
  });
  EXPECT_TRUE(clean(report));
}

TEST(Warp, StmatrixTransposesFragments) {
  // The same, but a lane holds two rows of a column: 8i + 2 (lane % 4) and the next.
  const Report report = Kernel{.threads = 32}.run([] {
    const unsigned lane = isa::thread_index();
    std::uint32_t packed[6];
    for (unsigned i = 0; i < 6; ++i) {
      const unsigned row = 8 * i + 2 * (lane % 4);
      const unsigned column = lane / 4;
      packed[i] = (100 * row + column) | (100 * (row + 1) + column) << 16;
    }
    isa::stmatrix_x4_transposed(address_at(16 * lane), packed[0], packed[1], packed[2], packed[3]);
    // With two matrices, lanes 16 and above give no address that counts.
    isa::stmatrix_x2_transposed(address_at(lane < 16 ? 512 + 16 * lane : 1), packed[4], packed[5]);
    isa::warp_sync();
    for (unsigned row = lane; row < 48; row += 32) {
      for (unsigned column = 0; column < 8; ++column) {
        EXPECT_EQ(load_shared(shared_at<std::uint16_t>(16 * row + 2 * column)), 100 * row + column);
      }
    }
  });
  EXPECT_TRUE(clean(report));
}

TEST(Warp, StmatrixRowsMustBeAlignedAndInside) {
  const auto run = [](unsigned offset, bool transposes = false) {
    return Kernel{.threads = 32, .shared_bytes = 4096}.run([=] {
      const SharedAddress row = address_at(0) + offset + 16 * isa::thread_index();
      transposes ? isa::stmatrix_x4_transposed(row, 0, 0, 0, 0) : isa::stmatrix_x4(row, 0, 0, 0, 0);
    });
  };
  for (const bool transposes : {false, true}) {
    EXPECT_TRUE(clean(run(0, transposes)));
    EXPECT_TRUE(found(run(8, transposes), Checker::Alignment, "16-byte"));
    EXPECT_TRUE(found(run(4096 - 256, transposes), Checker::Bounds, "stmatrix"));
  }
}

TEST(Warp, LanesThatNeverComeAreNamed) {
  const Report report = Kernel{.threads = 32}.run([] {
    isa::describe_role("store");
    if (isa::thread_index() < 4)
      isa::stmatrix_x4(address_at(16 * isa::thread_index()), 0, 0, 0, 0);
    else if (isa::thread_index() < 8)
      isa::warp_sync();
  });
  EXPECT_TRUE(found(report, Checker::Deadlock,
                    "threads 0-3) waits for the other lanes of warp 0 in "
                    "stmatrix; lanes 8-31 have returned; lanes 4-7 are "
                    "elsewhere"));
  EXPECT_TRUE(found(report, Checker::Deadlock,
                    "threads 4-7) waits for the other lanes of warp 0 in "
                    "warp_sync"));
}

}  // namespace
}  // namespace tw::test
