// Shared memory by window address: vectors in the own CTA, and what the CTAs of a cluster store
// into each other.
#include "tilewright/isa/ptx/cluster_memory.h"

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/shared_memory.h"

namespace tw::test {
namespace {

constexpr unsigned barrier = 4096;

struct ClusterMemoryTest : ::testing::TestWithParam<Landing> {
  Kernel kernel{.threads = 32, .ctas = 4, .cluster_size = 2, .options = {.landing = GetParam()}};

  static SharedAddress peer(unsigned offset) {
    return isa::mapa(address_at(offset), isa::cluster_rank() ^ 1);
  }
  static void meet_relaxed() {
    isa::cluster_arrive();
    isa::cluster_wait();
  }
  static void meet() {
    isa::cluster_arrive_release();
    isa::cluster_wait();
  }
  // A barrier at the same place in every CTA.
  static void start(unsigned arrivals) {
    if (isa::thread_index() == 0) {
      isa::mbarrier_init(address_at(barrier), arrivals);
      isa::describe_barrier(address_at(barrier), "inbox", 3);
      isa::fence_mbarrier_init();
    }
    meet_relaxed();
  }
  static bool wait_cluster() {
    while (!isa::mbarrier_try_wait_parity_cluster(address_at(barrier), 0)) {
    }
    return true;
  }
};

TEST_P(ClusterMemoryTest, VectorsOfTheOwnCta) {
  EXPECT_TRUE(clean(kernel.run([&] {
    const unsigned at = 32 * isa::thread_index();
    isa::store_shared_16(address_at(at), {at, at + 1, at + 2, at + 3});
    isa::store_shared_8(address_at(at + 16), {at + 4, at + 5});
    isa::store_shared_4(address_at(at + 24), at + 6);
    isa::store_shared_2(address_at(at + 28), 0x1234);
    isa::store_shared_2(address_at(at + 30), 0x5678);
    std::uint32_t four[4], two[2];
    isa::load_shared_16(four, address_at(at + 16));
    isa::load_shared_8(two, address_at(at + 8));
    EXPECT_EQ(four[0], at + 4);
    EXPECT_EQ(four[3], 0x56781234u);
    EXPECT_EQ(two[1], at + 3);
    EXPECT_EQ(isa::load_shared_4(address_at(at + 24)), at + 6);
  })));
}

TEST_P(ClusterMemoryTest, VectorsAreCheckedAsElementsAre) {
  const auto misaligned = kernel.run([] { isa::store_shared_16(address_at(8), {0, 0, 0, 0}); });
  EXPECT_TRUE(found(misaligned, Checker::Alignment, "st.shared"));
  const auto outside = kernel.run([] { isa::load_shared_4(address_at(64 << 10)); });
  EXPECT_TRUE(found(outside, Checker::Bounds, "ld.shared"));
  const auto elsewhere = kernel.run([] { isa::store_shared_4(peer(0), 1); });
  EXPECT_TRUE(found(elsewhere, Checker::Bounds, "only reaches the own CTA"));
  const auto unwritten = kernel.run([] {
    std::uint32_t words[4];
    isa::load_shared_16(words, address_at(0));
  });
  EXPECT_TRUE(found(unwritten, Checker::Uninitialised));
  const auto racing = kernel.run([] {
    isa::store_shared_4(address_at(4 * isa::thread_index()), 1);
    stand_back();
    isa::load_shared_4(address_at(4 * (isa::thread_index() ^ 1)));
  });
  EXPECT_EQ(racing.verdict(), Report::Found);
}

TEST_P(ClusterMemoryTest, StoresArriveByTheClusterBarrier) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("reduce");
      meet();  // the peer has begun
      const unsigned lane = isa::thread_index();
      isa::store_cluster(peer(4 * lane), 100 * isa::cta_index() + lane);
      isa::store_cluster(peer(512 + 16 * lane), {lane, 1, 2, isa::cta_index()});
      if (planted) {
        meet_relaxed();
      } else {
        meet();
      }
      EXPECT_EQ(isa::load_shared_4(address_at(4 * lane)), 100 * (isa::cta_index() ^ 1) + lane);
      std::uint32_t words[4];
      isa::load_shared_16(words, address_at(512 + 16 * lane));
      EXPECT_EQ(words[3], isa::cta_index() ^ 1);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "a load reads"));
  }
}

TEST_P(ClusterMemoryTest, LoadsReachThePeer) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const unsigned lane = isa::thread_index();
      isa::store_shared_16(address_at(16 * lane), {lane, isa::cta_index(), 7, 8});
      if (planted) {
        meet_relaxed();
      } else {
        meet();
      }
      std::uint32_t words[4];
      isa::load_cluster(words, peer(16 * (31 - lane)));
      EXPECT_EQ(words[0], 31 - lane);
      EXPECT_EQ(isa::load_cluster(peer(16 * lane + 4)), isa::cta_index() ^ 1);
      meet();  // nobody leaves while it is read
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "ld.shared::cluster reads"));
  }
}

TEST_P(ClusterMemoryTest, TwoCtasMustNotWriteTheSamePlace) {
  const Report report = kernel.run([&] {
    meet();
    isa::store_cluster(isa::mapa(address_at(4 * isa::thread_index()), 0), isa::cta_index());
    meet();
  });
  EXPECT_TRUE(found(report, Checker::Race, "st.shared::cluster writes"));
}

TEST_P(ClusterMemoryTest, ACtaMustNotEndWhilePeersTouchIt) {
  const Report report = kernel.run([&] {
    isa::describe_role("reduce");
    isa::store_shared_4(address_at(4 * isa::thread_index()), 5);
    meet();
    EXPECT_EQ(isa::load_cluster(peer(4 * isa::thread_index())), 5u);
  });
  EXPECT_TRUE(found(report, Checker::InFlightAtExit));
  EXPECT_EQ(find(report, Checker::InFlightAtExit)->role, "reduce");
}

// Release and acquire must both have the scope of the cluster.
TEST_P(ClusterMemoryTest, MbarriersPublishToThePeerWithClusterScope) {
  enum Plant { Nothing, NarrowRelease, NarrowAcquire };
  for (const Plant plant : {Nothing, NarrowRelease, NarrowAcquire}) {
    const Report report = kernel.run([&] {
      start(32);
      const unsigned lane = isa::thread_index();
      isa::store_cluster(peer(4 * lane), lane + 1);
      if (plant == NarrowRelease) {
        isa::mbarrier_arrive_cluster(peer(barrier));
      } else {
        isa::mbarrier_arrive_release_cluster(peer(barrier));
      }
      if (plant == NarrowAcquire) {
        wait(address_at(barrier), 0);
      } else {
        wait_cluster();
      }
      EXPECT_EQ(isa::load_shared_4(address_at(4 * (31 - lane))), 32 - lane);
    });
    EXPECT_TRUE(found_if(plant != Nothing, report, Checker::Race, "a load reads"));
  }
}

TEST_P(ClusterMemoryTest, AsynchronousStoresCountTheirBytes) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("exchange");
      start(1);
      const unsigned lane = isa::thread_index();
      if (lane == 0) isa::mbarrier_arrive_expect_tx(address_at(barrier), 32 * 20);
      isa::st_async(peer(4 * lane), lane + 10, peer(barrier));
      isa::st_async(peer(512 + 16 * lane), {lane, 1, 2, 3}, peer(barrier));
      if (!planted) wait(address_at(barrier), 0);
      if (planted) meet();
      const std::uint32_t seen = isa::load_shared_4(address_at(4 * (31 - lane)));
      std::uint32_t words[4];
      isa::load_shared_16(words, address_at(512 + 16 * (31 - lane)));
      if (planted) return wait(address_at(barrier), 0);
      EXPECT_EQ(seen, 41 - lane);
      EXPECT_EQ(words[0], 31 - lane);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull, "inbox stage 3"));
  }
}

TEST_P(ClusterMemoryTest, AsynchronousStoresAreChecked) {
  const auto exchange = [&](unsigned expected, unsigned offset, unsigned rank_flip, bool waits) {
    return kernel.run([=] {
      start(1);
      if (isa::thread_index() != 0) return;
      isa::mbarrier_arrive_expect_tx(address_at(barrier), expected);
      const SharedAddress signal = isa::mapa(address_at(barrier), isa::cluster_rank() ^ rank_flip);
      isa::st_async(peer(offset), {1, 2, 3, 4}, signal);
      if (waits) wait(address_at(barrier), 0);
    });
  };
  EXPECT_TRUE(clean(exchange(16, 0, 1, true)));
  EXPECT_TRUE(found(exchange(12, 0, 1, true), Checker::TransactionBytes));
  EXPECT_TRUE(found(exchange(20, 0, 1, true), Checker::TransactionBytes));
  EXPECT_TRUE(found(exchange(16, 8, 1, true), Checker::Alignment, "st.async"));
  EXPECT_TRUE(found(exchange(16, 0, 0, true), Checker::Bounds, "signals where it lands"));
  // Whether the bytes were still to come, had come unseen, or came too late.
  const Report unseen = exchange(16, 0, 1, false);
  EXPECT_TRUE(find(unseen, Checker::InFlightAtExit) != nullptr ||
              find(unseen, Checker::BarrierLife) != nullptr)
      << text_of(unseen);
}

TEST_P(ClusterMemoryTest, AsynchronousStoresMustNotOverwriteWhatIsRead) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start(1);
      const unsigned lane = isa::thread_index();
      for (unsigned round = 0; round < 2; ++round) {
        if (lane == 0) isa::mbarrier_arrive_expect_tx(address_at(barrier), 32 * 4);
        isa::st_async(peer(4 * lane), 100 * round + lane, peer(barrier));
        wait(address_at(barrier), round);
        const std::uint32_t seen = isa::load_shared_4(address_at(4 * (31 - lane)));
        EXPECT_TRUE(planted || seen == 100 * round + 31 - lane);
        if (!planted) meet();
        if (planted) isa::warp_sync();
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead, "st.async writes"));
  }
}

INSTANTIATE_TEST_SUITE_P(, ClusterMemoryTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
