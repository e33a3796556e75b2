// Named barriers and mbarriers.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

TEST(NamedBarrier, OrdersMemoryAmongThoseWhoMeet) {
  for (const bool planted : {false, true}) {
    for (const Landing landing : every_landing) {
      const Report report = Kernel{.options = {.landing = landing}}.run([&] {
        isa::describe_role("shift");
        const unsigned thread = isa::thread_index();
        store_shared(shared_at(4 * thread), thread);
        if (!planted) isa::barrier_sync(1, 128);
        load_shared(shared_at(4 * ((thread + 33) % 128)));
      });
      EXPECT_EQ(report.verdict(), planted ? Report::Found : Report::Clean) << text_of(report);
    }
  }
}

TEST(NamedBarrier, ArriveReleasesWithoutWaiting) {
  EXPECT_TRUE(clean(Kernel{.threads = 64}.run([] {
    if (isa::thread_index() < 32) {
      store_shared(shared_at(4 * isa::thread_index()), 7u);
      isa::barrier_arrive(2, 64);
      isa::barrier_sync(3, 32);  // would never come if the arrival waited for this warp's readers
      isa::barrier_arrive(4, 64);
    } else {
      isa::barrier_sync(4, 64);
      isa::barrier_sync(2, 64);
      EXPECT_EQ(load_shared(shared_at(0)), 7u);
    }
  })));
}

TEST(NamedBarrier, ArriveDoesNotAcquireEvenAsTheLast) {
  unsigned arrived = 0;
  const Report report = Kernel{.threads = 64, .options = {.landing = Landing::Lazy}}.run([&] {
    if (isa::thread_index() < 32) {
      store_shared(shared_at(4 * isa::thread_index()), 7u);
      isa::barrier_sync(2, 64);
    } else {
      stand_back();
      const bool last = ++arrived == 32;
      isa::barrier_arrive(2, 64);
      if (last) load_shared(shared_at(0));
    }
  });
  EXPECT_TRUE(found(report, Checker::Race));
}

TEST(NamedBarrier, ThreadsMustAgreeOnTheCount) {
  const auto run = [](unsigned first, unsigned second) {
    return Kernel{.threads = 64}.run(
        [=] { isa::barrier_sync(1, isa::thread_index() < 32 ? first : second); });
  };
  EXPECT_TRUE(clean(run(64, 64)));
  EXPECT_TRUE(found(run(64, 32), Checker::ArrivalCount, "named barrier 1"));
  EXPECT_TRUE(found(run(48, 48), Checker::ArrivalCount, "multiple of 32"));
  EXPECT_TRUE(found(run(96, 96), Checker::ArrivalCount, "64 threads"));
}

TEST(NamedBarrier, LeftHalfArrivedIsFoundAtExit) {
  const Report report = Kernel{.threads = 64}.run([&] {
    if (isa::thread_index() < 32) isa::barrier_arrive(4, 64);
  });
  EXPECT_TRUE(found(report, Checker::BarrierLife, "32 of 64 threads arrived at named barrier 4"));
}

TEST(NamedBarrier, ThereAreSixteen) {
  const Report report = Kernel{.threads = 32}.run([] { isa::barrier_sync(16, 32); });
  EXPECT_TRUE(found(report, Checker::Bounds, "names barrier 16"));
}

TEST(Mbarrier, PhasesPassAndOrderMemory) {
  for (const Landing landing : every_landing) {
    const Report report = Kernel{.threads = 64, .options = {.landing = landing}}.run([] {
      start_barrier(0, 32, 64);
      start_barrier(8, 32, 64);
      const bool producer = isa::thread_index() < 32;
      for (unsigned lap = 0; lap < 6; ++lap) {
        unsigned* cell = shared_at(64 + 4 * (isa::thread_index() % 32));
        if (producer) {
          wait(address_at(8), lap % 2 ^ 1);
          store_shared(cell, lap);
          isa::mbarrier_arrive(address_at(0));
        } else {
          wait(address_at(0), lap % 2);
          EXPECT_EQ(load_shared(cell), lap);
          isa::mbarrier_arrive(address_at(8));
        }
      }
      if (producer) wait(address_at(8), 1);
    });
    EXPECT_TRUE(clean(report)) << vgpu::name_of(landing);
  }
}

TEST(Mbarrier, WithoutTheWaitForEmptyTheCellIsOverwrittenWhileRead) {
  const Report report = Kernel{.threads = 64}.run([] {
    start_barrier(0, 32, 64);
    isa::describe_role(isa::thread_index() < 32 ? "produce" : "consume");
    isa::describe_shared(address_at(64), 128, "cells", 5);
    unsigned* cell = shared_at(64 + 4 * (isa::thread_index() % 32));
    if (isa::thread_index() < 32) {
      store_shared(cell, 1u);
      isa::mbarrier_arrive(address_at(0));
      isa::barrier_arrive(1, 64);
      isa::barrier_sync(2, 32);
      store_shared(cell, 2u);
    } else {
      wait(address_at(0), 0);
      load_shared(cell);
      isa::barrier_sync(1, 64);
    }
  });
  const vgpu::Finding* finding = find(report, Checker::OverwriteWhileRead);
  // The consumer may also come second: then it reads what it was not told of.
  if (finding == nullptr) finding = find(report, Checker::Race);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_EQ(finding->stage, 5);
}

// The consumer says "empty" before it reads: the producer that it let on is found, and so is it.
TEST(Mbarrier, WhoLetGoTooEarlyIsNamed) {
  const Report report = Kernel{.threads = 64, .options = {.landing = Landing::Eager}}.run([] {
    start_barrier(0, 32, 64);
    isa::describe_barrier(address_at(0), "empty", 3);
    isa::describe_shared(address_at(64), 128, "cells", 3);
    isa::describe_role(isa::thread_index() < 32 ? "produce" : "consume");
    unsigned* cell = shared_at(64 + 4 * (isa::thread_index() % 32));
    if (isa::thread_index() >= 32) {
      isa::describe_step(7);
      store_shared(cell, 1u);
      isa::mbarrier_arrive(address_at(0));
      load_shared(cell);
    } else {
      wait(address_at(0), 0);
      store_shared(cell, 2u);
    }
  });
  EXPECT_TRUE(found(report, Checker::OverwriteWhileRead,
                    "It had passed empty stage 3 of CTA 0, which the consume role (thread "));
  EXPECT_TRUE(found(report, Checker::OverwriteWhileRead, "completed at k-tile 7 after "));
}

TEST(Mbarrier, FreshBarrierLetsTheLapBeforeTheFirstPass) {
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([] {
    start_barrier(0, 1, 32);
    wait(address_at(0), 1);
  })));
}

TEST(Mbarrier, UseBeforeInitIsFound) {
  const Report report = Kernel{.threads = 32}.run([] { isa::mbarrier_arrive(address_at(0)); });
  EXPECT_TRUE(found(report, Checker::BarrierLife, "never initialised"));
}

TEST(Mbarrier, InitMustBeOrderedBeforeUse) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 64, .options = {.landing = Landing::Eager}}.run([&] {
      if (isa::thread_index() == 0) isa::mbarrier_init(address_at(0), 64);
      if (!planted) isa::barrier_sync(0, 64);
      isa::mbarrier_arrive(address_at(0));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife, "no barrier orders the init"));
  }
}

TEST(Mbarrier, ClusterBarrierCarriesOnlyFencedInits) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 64}.run([&] {
      if (isa::thread_index() == 0) {
        isa::mbarrier_init(address_at(0), 64);
        if (!planted) isa::fence_mbarrier_init();
      }
      isa::cluster_arrive();
      isa::cluster_wait();
      isa::mbarrier_arrive(address_at(0));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife));
  }
}

TEST(Mbarrier, InitAgainWhileBusyIsFound) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 32}.run([&] {
      start_barrier(0, 32, 32);
      if (!planted || isa::thread_index() != 0) isa::mbarrier_arrive(address_at(0));
      isa::warp_sync();
      if (isa::thread_index() == 0) isa::mbarrier_init(address_at(0), 1);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife, "again while it is in use"));
  }
}

TEST(Mbarrier, InitAgainWhenAtRestStartsFromNothing) {
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([] {
    start_barrier(0, 32, 32);
    for (unsigned lap = 0; lap < 3; ++lap) {
      isa::mbarrier_arrive(address_at(0));
      wait(address_at(0), lap % 2);
    }
    isa::warp_sync();
    start_barrier(0, 32, 32);
    wait(address_at(0), 1);
    isa::mbarrier_arrive(address_at(0));
    wait(address_at(0), 0);
  })));
}

TEST(Mbarrier, TooManyArrivalsAreFound) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 32}.run([&] {
      isa::describe_role("arrive");
      start_barrier(0, 16, 32);
      if (isa::thread_index() < (planted ? 17u : 16u)) isa::mbarrier_arrive(address_at(0));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ArrivalCount, "full stage 3"));
  }
}

TEST(Mbarrier, TooFewArrivalsDeadlockWithTheirNames) {
  const Report report = Kernel{.threads = 32}.run([&] {
    isa::describe_role(isa::thread_index() < 3 ? "load" : "multiply");
    start_barrier(0, 4, 32);
    if (isa::thread_index() < 3) isa::mbarrier_arrive(address_at(0));
    if (isa::thread_index() == 9) wait(address_at(0), 0);
  });
  EXPECT_TRUE(found(report, Checker::ArrivalCount, "expects 4 arrivals in phase 0 and only 3"));
  EXPECT_TRUE(found(report, Checker::Deadlock,
                    "multiply in CTA 0 (threads 9) waits for phase 0 (parity 0) of full stage 3 of "
                    "CTA 0: 3 of 4 arrivals seen (3 from load)"));
}

TEST(Mbarrier, LeftBusyIsFoundAtExit) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 32}.run([&] {
      isa::describe_role("load");
      start_barrier(0, 2, 32);
      if (isa::thread_index() < (planted ? 1u : 2u)) isa::mbarrier_arrive(address_at(0));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife, "1 of 2 arrivals"));
    if (planted) {
      EXPECT_EQ(report.findings[0].role, "load");
      EXPECT_EQ(report.findings[0].stage, 3);
    }
  }
}

TEST(Mbarrier, SkippedPhaseIsFound) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{.threads = 64, .options = {.landing = Landing::Lazy}}.run([&] {
      isa::describe_role(isa::thread_index() == 32 ? "sleep" : "hurry");
      start_barrier(0, 1, 64);
      if (isa::thread_index() == 32) wait(address_at(0), 0);
      if (isa::thread_index() == 0) {
        stand_back();  // the other is asleep by now
        isa::mbarrier_arrive(address_at(0));
        if (planted) isa::mbarrier_arrive(address_at(0));
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::PhaseSkipped, "sleep role"));
  }
}

TEST(Mbarrier, MustBeAlignedAndInside) {
  EXPECT_TRUE(found(Kernel{.threads = 32}.run([] { isa::mbarrier_init(address_at(4), 1); }),
                    Checker::Alignment, "8-byte"));
  EXPECT_TRUE(found(Kernel{.threads = 32, .shared_bytes = 256}.run(
                        [] { isa::mbarrier_init(address_at(256), 1); }),
                    Checker::Bounds, "256 bytes"));
}

TEST(Mbarrier, ItsBytesAreNobodysData) {
  const Report report = Kernel{.threads = 32}.run([] {
    start_barrier(0, 1, 32);
    if (isa::thread_index() == 5) store_shared(shared_at(4), 1u);
  });
  EXPECT_TRUE(found(report, Checker::BarrierLife, "holds an mbarrier"));
}

}  // namespace
}  // namespace tw::test
