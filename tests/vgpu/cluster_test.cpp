// Clusters: ranks, mapped addresses, multicast, arrivals at peers, the cluster barrier, residency.
#include <numeric>
#include <set>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

struct ClusterTest : ::testing::TestWithParam<Landing> {
  Kernel kernel{.threads = 32, .ctas = 2, .cluster_size = 2, .options = {.landing = GetParam()}};

  static void start(unsigned barrier, unsigned arrivals) {
    if (isa::thread_index() == 0) {
      isa::mbarrier_init(address_at(barrier), arrivals);
      isa::describe_barrier(address_at(barrier), "full", 3);
      isa::fence_mbarrier_init();
    }
    isa::cluster_arrive();
    isa::cluster_wait();
  }
};

TEST_P(ClusterTest, MulticastLandsInEveryCtaAndSignalsEachBarrier) {
  std::vector<std::uint8_t> source(8 * 32);
  std::iota(source.begin(), source.end(), std::uint8_t{0});
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  kernel.memory = {range_of(source, "source")};
  const Report report = kernel.run([&] {
    start(1024, 1);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
      const int at[2] = {0, 0};
      if (isa::cluster_rank() == 1) {
        isa::cp_async_bulk_tensor_load_multicast(address_at(0), &map, address_at(1024), at, 0b11,
                                                 isa::CacheHint::EvictNormal);
      }
    }
    wait(address_at(1024), 0);
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned at = 32 * row + isa::thread_index();
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(at)), at);
    }
  });
  EXPECT_TRUE(clean(report));
}

TEST_P(ClusterTest, MulticastMaskMustNameCtasOfTheCluster) {
  std::vector<std::uint8_t> source(8 * 32);
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  kernel.memory = {range_of(source, "source")};
  const Report report = kernel.run([&] {
    start(1024, 1);
    const int at[2] = {0, 0};
    if (isa::thread_index() == 0) {
      isa::cp_async_bulk_tensor_load_multicast(address_at(0), &map, address_at(1024), at, 0b101,
                                               isa::CacheHint::EvictNormal);
    }
  });
  EXPECT_TRUE(found(report, Checker::Bounds, "0b101"));
}

TEST_P(ClusterTest, ArrivalsReachThePeer) {
  EXPECT_TRUE(clean(kernel.run([] {
    start(1024, 2);
    if (isa::thread_index() == 0) {
      for (unsigned rank = 0; rank < 2; ++rank) {
        isa::mbarrier_arrive_cluster(isa::mapa(address_at(1024), rank));
      }
    }
    wait(address_at(1024), 0);
  })));
}

TEST_P(ClusterTest, OwnInstructionsDoNotReachThePeer) {
  const Report report = kernel.run([] {
    start(1024, 2);
    isa::mbarrier_arrive(isa::mapa(address_at(1024), isa::cluster_rank() ^ 1));
  });
  EXPECT_TRUE(found(report, Checker::Bounds, "only reaches the own CTA"));
}

TEST_P(ClusterTest, ACtaMustNotLeaveWhilePeersSignalIt) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      start(1024, 1);
      if (isa::thread_index() != 0) return;
      isa::mbarrier_arrive_cluster(isa::mapa(address_at(1024), isa::cluster_rank() ^ 1));
      if (!planted) wait(address_at(1024), 0);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife));
  }
}

TEST_P(ClusterTest, ThatTheArrivalCameInTimeIsLuck) {
  const Report report = kernel.run([&] {
    isa::describe_role("multiply");
    start(1024, 1);
    if (isa::thread_index() != 0) return;
    isa::mbarrier_arrive_cluster(isa::mapa(address_at(1024), isa::cluster_rank() ^ 1));
    stand_back();
  });
  EXPECT_TRUE(found(report, Checker::BarrierLife, "an arrival may find it gone"));
}

TEST_P(ClusterTest, PeersInitMustBePublished) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      if (isa::thread_index() == 0) {
        isa::mbarrier_init(address_at(1024), 1);
        if (!planted) isa::fence_mbarrier_init();
      }
      isa::cluster_arrive();
      isa::cluster_wait();
      if (isa::thread_index() != 0) return;
      isa::mbarrier_arrive_cluster(isa::mapa(address_at(1024), isa::cluster_rank() ^ 1));
      wait(address_at(1024), 0);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife, "fence.mbarrier_init is missing"));
  }
}

// The arrival has CTA scope: it says that asynchronous reads are over, not that our own are.
TEST_P(ClusterTest, ArrivalAtAPeerDoesNotReleaseGenericReads) {
  std::vector<std::uint8_t> source(8 * 32, 1);
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  kernel.memory = {range_of(source, "source")};
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role(isa::cluster_rank() == 0 ? "load" : "use");
      isa::describe_shared(address_at(0), 256, "input", 0);
      if (isa::thread_index() == 0) isa::mbarrier_init(address_at(1032), 1);
      start(1024, 1);
      if (isa::thread_index() != 0) return;
      const int at[2] = {0, 0};
      for (unsigned lap = 0; lap < 2; ++lap) {
        if (isa::cluster_rank() == 0) {
          if (lap > 0) wait(address_at(1032), 0);
          isa::cp_async_bulk_tensor_load_multicast(address_at(0), &map, address_at(1024), at, 0b10,
                                                   isa::CacheHint::EvictNormal);
        } else {
          isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
          wait(address_at(1024), lap);
          if (planted) load_shared(shared_at<std::uint8_t>(0));
          if (lap == 0) isa::mbarrier_arrive_cluster(isa::mapa(address_at(1032), 0));
        }
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead, "use role"));
  }
}

TEST_P(ClusterTest, ClusterBarrierWantsArriveThenWait) {
  EXPECT_TRUE(found(kernel.run([] { isa::cluster_wait(); }), Checker::ArrivalCount,
                    "without having arrived"));
  EXPECT_TRUE(found(kernel.run([] {
    isa::cluster_arrive();
    isa::cluster_arrive();
  }),
                    Checker::ArrivalCount, "twice"));
}

TEST_P(ClusterTest, ClusterBarrierDoesNotWaitForThreadsThatReturned) {
  unsigned arrivals = 0;
  EXPECT_TRUE(clean(kernel.run([&] {
    if (isa::thread_index() >= 24) return;
    if (isa::thread_index() >= 16) return isa::cluster_arrive();
    for (unsigned round = 1; round <= 3; ++round) {
      if (isa::thread_index() == 5) stand_back();
      ++arrivals;
      isa::cluster_arrive();
      isa::cluster_wait();
      EXPECT_GE(arrivals, 32 * round) << "but for those who are still here";
    }
  })));
}

INSTANTIATE_TEST_SUITE_P(, ClusterTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

TEST(Cluster, MapaStaysInside) {
  EXPECT_TRUE(found(Kernel{.ctas = 2, .cluster_size = 2}.run([] { isa::mapa(address_at(0), 2); }),
                    Checker::Bounds, "rank 2 of a cluster of 2"));
}

TEST(Cluster, WholeClustersAreResidentAsMultiprocessorsAreFree) {
  std::set<unsigned> resident;
  std::size_t most = 0;
  const Report report =
      Kernel{.threads = 32, .ctas = 12, .cluster_size = 2, .options = {.sm_count = 5}}.run([&] {
        if (isa::thread_index() == 0) resident.insert(isa::cta_index());
        isa::cluster_arrive();
        isa::cluster_wait();
        most = std::max(most, resident.size());
        isa::cluster_arrive();
        isa::cluster_wait();
        if (isa::thread_index() == 0) resident.erase(isa::cta_index());
      });
  EXPECT_TRUE(clean(report));
  EXPECT_EQ(most, 4u);
  EXPECT_TRUE(resident.empty());
}

}  // namespace
}  // namespace tw::test
