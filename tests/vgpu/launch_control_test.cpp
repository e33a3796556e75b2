// Cluster launch control: running clusters take over those that have not started.
#include "tilewright/isa/ptx/launch_control.h"

#include <algorithm>

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/cluster_memory.h"

namespace tw::test {
namespace {

constexpr unsigned response_at = 0, full_at = 64, empty_at = 72;

struct Planted {
  bool no_fence = false;      // readers do not fence before they hand the slot back
  bool restricted = false;    // the fences that are for this alone, and relaxed arrivals
  bool no_acquire = false;    // who asks does not execute the other of these fences
  bool no_hand_over = false;  // the scheduler does not wait for the readers
  bool no_wait = false;       // readers do not wait for the response
  bool ask_again = false;     // after a failure
  bool use_failure = false;   // asks which cluster a failure took
};

struct LaunchControlTest : ::testing::TestWithParam<std::tuple<Landing, unsigned>> {
  // Two of the twelve clusters fit at a time.
  Kernel kernel{
      .threads = 64,
      .ctas = 12,
      .options = {
          .sm_count = 2, .landing = std::get<0>(GetParam()), .seed = std::get<1>(GetParam())}};
  std::vector<unsigned> seen;  // how often each CTA's work was done
  unsigned started = 0;        // CTAs

  // Warp 0 schedules, warp 1 works; every thread of the cluster reads each response.
  void body(const Planted& planted) {
    const unsigned rank = isa::cluster_rank(), size = kernel.cluster_size;
    const bool is_scheduler = isa::thread_index() == 0 && rank == 0;
    isa::describe_role(isa::thread_index() < 32 ? "schedule" : "work");
    if (isa::thread_index() == 0) {
      ++started;
      isa::mbarrier_init(address_at(full_at), 1);
      isa::mbarrier_init(address_at(empty_at), 64 * size);
      isa::fence_mbarrier_init();
    }
    isa::barrier_sync(0, 64);
    isa::cluster_arrive();
    isa::cluster_wait();
    unsigned tile = isa::cta_index();
    for (unsigned round = 0; round < 2 * kernel.ctas; ++round) {  // planted bugs may never end
      if (isa::thread_index() == 32) ++seen[tile];
      if (is_scheduler) {
        if (round > 0 && !planted.no_hand_over) wait_in_cluster((round - 1) % 2);
        if (round > 0 && planted.no_hand_over) stand_back();
        if (planted.restricted && !planted.no_acquire) isa::fence_async_acquire_cluster();
        for (unsigned target = 0; target < size; ++target) {
          const SharedAddress full = isa::mapa(address_at(full_at), target);
          planted.restricted ? isa::mbarrier_arrive_expect_tx_relaxed_cluster(full, 16)
                             : isa::mbarrier_arrive_expect_tx_cluster(full, 16);
        }
        size == 1 ? isa::try_cancel(address_at(response_at), address_at(full_at))
                  : isa::try_cancel_multicast(address_at(response_at), address_at(full_at));
      }
      if (!planted.no_wait) wait(address_at(full_at), round % 2);
      const CancelResponse response = isa::load_cancel_response(address_at(response_at));
      const bool more = isa::query_is_canceled(response);
      if (more || planted.use_failure) tile = isa::query_first_cta_x(response) + rank;
      const SharedAddress empty = isa::mapa(address_at(empty_at), 0);
      if (planted.restricted) {
        if (!planted.no_fence) isa::fence_async_release_cluster();
        isa::mbarrier_arrive_relaxed_cluster(empty);
      } else {
        if (!planted.no_fence) isa::fence_proxy_async();
        isa::mbarrier_arrive_release_cluster(empty);
      }
      if (!more) {
        if (planted.ask_again && is_scheduler) {
          wait_in_cluster(round % 2);
          isa::mbarrier_arrive_expect_tx(address_at(full_at), 16);
          isa::try_cancel(address_at(response_at), address_at(full_at));
          wait(address_at(full_at), (round + 1) % 2);
        }
        break;
      }
    }
    isa::cluster_arrive();
    isa::cluster_wait();
  }
  static void wait_in_cluster(unsigned parity) {
    while (!isa::mbarrier_try_wait_parity_cluster(address_at(empty_at), parity)) {
    }
  }
  Report run(const Planted& planted = {}) {
    seen.assign(kernel.ctas, 0);
    started = 0;
    return kernel.run([&] { body(planted); });
  }
  bool each_once() const {
    return std::all_of(seen.begin(), seen.end(), [](unsigned count) { return count == 1; });
  }
};

TEST_P(LaunchControlTest, EveryTileIsDoneOnceByLaunchOrByCancel) {
  EXPECT_TRUE(clean(run()));
  EXPECT_TRUE(each_once());
  EXPECT_GE(started, 2u);
  EXPECT_LT(started, 12u);
}

TEST_P(LaunchControlTest, ClustersAreTakenWhole) {
  kernel.cluster_size = 2;
  EXPECT_TRUE(clean(run()));
  EXPECT_TRUE(each_once());
  EXPECT_EQ(started % 2, 0u);
  EXPECT_LT(started, 12u);
}

// Each of the two fences is needed: without the release nothing is known of the reads, without the
// acquire the asker has not learnt it.
TEST_P(LaunchControlTest, RestrictedFencesHandTheSlotBack) {
  for (const unsigned size : {1u, 2u}) {
    kernel.cluster_size = size;
    EXPECT_TRUE(clean(run({.restricted = true})));
    EXPECT_TRUE(each_once());
    for (const Planted& planted : {Planted{.no_fence = true, .restricted = true},
                                   Planted{.restricted = true, .no_acquire = true}}) {
      const Report report = run(planted);
      EXPECT_TRUE(find(report, Checker::OverwriteWhileRead) != nullptr ||
                  find(report, Checker::MissingProxyFence) != nullptr)
          << text_of(report);
    }
  }
}

TEST_P(LaunchControlTest, NothingIsLeftWhenAllFit) {
  kernel.options.sm_count = 12;
  EXPECT_TRUE(clean(run()));
  EXPECT_EQ(started, 12u);
}

TEST_P(LaunchControlTest, TheSlotMustBeFencedAndHandedBack) {
  for (const unsigned size : {1u, 2u}) {
    kernel.cluster_size = size;
    EXPECT_TRUE(found(run({.no_fence = true}), Checker::MissingProxyFence, "try_cancel writes"));
    // Readers that were starved meanwhile have missed the response altogether.
    const Report report = run({.no_hand_over = true});
    EXPECT_TRUE(find(report, Checker::OverwriteWhileRead) != nullptr ||
                find(report, Checker::PhaseSkipped) != nullptr)
        << text_of(report);
    if (kernel.options.landing != Landing::Adversarial) {
      EXPECT_TRUE(found(report, Checker::OverwriteWhileRead, "try_cancel writes"));
    }
  }
}

TEST_P(LaunchControlTest, TheResponseMustBeWaitedFor) {
  EXPECT_TRUE(found(run({.no_wait = true}), Checker::ReadBeforeFull, "cancel response"));
}

TEST_P(LaunchControlTest, AFailureIsTheEnd) {
  EXPECT_TRUE(found(run({.ask_again = true}), Checker::CancelAfterFailure, "schedule role"));
  EXPECT_TRUE(found(run({.use_failure = true}), Checker::CancelAfterFailure, "took no cluster"));
}

INSTANTIATE_TEST_SUITE_P(, LaunchControlTest,
                         ::testing::Combine(::testing::ValuesIn(every_landing),
                                            ::testing::Values(1u, 2u, 3u)),
                         [](const auto& info) {
                           return std::string(vgpu::name_of(std::get<0>(info.param))) +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tw::test
