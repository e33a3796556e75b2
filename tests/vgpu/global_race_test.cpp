// Two accesses to global memory need an order, across clusters too; two writes of one value do not.
#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/cp_async.h"

namespace tw::test {
namespace {

constexpr Checker global_race = Checker::GlobalRace;

struct GlobalRaceTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint32_t> counters = std::vector<std::uint32_t>(8, 0);
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(2048, 0);
  std::uint32_t* const words = reinterpret_cast<std::uint32_t*>(bytes.data());
  TensorMap map = byte_map(bytes, 32, 64, 8, 64);
  Kernel kernel;

  GlobalRaceTest() {
    kernel.threads = 32;
    kernel.ctas = 2;
    kernel.memory = {{counters.data(), counters.size() * 4, "counters"}, range_of(bytes, "D")};
    kernel.options.landing = GetParam();
  }
  template <class Body>
  Report run(Body body) {
    std::fill(counters.begin(), counters.end(), 0);
    return kernel.run([&] {
      isa::describe_role("epilogue");
      body(isa::cta_index(), isa::thread_index());
    });
  }
  void put(unsigned word, std::uint32_t value) {
    store_element<Space::Global>(words + word, value);
  }
  std::uint32_t get(unsigned word) { return load_element<Space::Global>(words + word); }

  // All threads of a warp: box rows of one value by TMA.
  void store_box(std::uint32_t value, int row) {
    const unsigned lane = isa::thread_index();
    for (unsigned i = 0; i < 4; ++i) store_shared(shared_at(16 * lane + 4 * i), value);
    isa::fence_proxy_async();
    isa::warp_sync();
    if (lane == 0) {
      const int at[2] = {0, row};
      isa::cp_async_bulk_tensor_store(&map, address_at(0), at);
      isa::cp_async_bulk_commit_group();
      isa::cp_async_bulk_wait_group_read<0>();
    }
    isa::warp_sync();
  }
};

TEST_P(GlobalRaceTest, StoresOfDifferentValuesToOneElement) {
  for (const bool planted : {false, true}) {
    const Report report =
        run([&](unsigned cta, unsigned thread) { put(thread, planted ? cta + 7 : 7); });
    EXPECT_TRUE(found_if(planted, report, global_race, "with another value"));
    if (!planted) continue;
    const vgpu::Finding& finding = *find(report, global_race);
    EXPECT_EQ(finding.role, "epilogue");
    EXPECT_NE(finding.text.find("a store writes bytes "), std::string::npos) << finding.text;
    EXPECT_NE(finding.text.find(" of D with another value, which the epilogue role (thread "),
              std::string::npos)
        << finding.text;
  }
}

TEST_P(GlobalRaceTest, BytesSideBySideDoNotMeet) {
  EXPECT_TRUE(clean(run([&](unsigned cta, unsigned thread) {
    for (unsigned i = 0; i < 8; ++i) {
      store_element<Space::Global>(bytes.data() + 64 * i + 2 * thread + cta,
                                   static_cast<std::uint8_t>(thread + cta));
    }
  })));
}

TEST_P(GlobalRaceTest, AWaitThatIsLeftOut) {
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (thread != 0) return;
                           if (cta == 0) {
                             put(3, 5);
                             isa::global_add_release(&counters[0], 1);
                           } else {
                             if (!planted) isa::global_wait_at_least(&counters[0], 1);
                             (void)get(3);
                           }
                         }),
                         global_race,
                         "bytes 12 to 15 of D, which the epilogue role (thread 0 of CTA "));
  }
}

// Whatever the count is by then.
TEST_P(GlobalRaceTest, AWaitForOnePartTooFew) {
  kernel.ctas = 3;
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (thread != 0) return;
                           if (cta != 2) {
                             put(cta, 5);
                             isa::global_add_release(&counters[0], 1);
                           } else {
                             isa::global_wait_at_least(&counters[0], planted ? 1 : 2);
                             (void)get(0), (void)get(1);
                           }
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, LanesMeetBeforeOneAnnounces) {
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (cta == 0) {
                             put(thread, 5);
                             if (!planted) isa::warp_sync();
                             if (thread == 0) isa::global_add_release(&counters[0], 1);
                           } else {
                             if (thread == 0) isa::global_wait_at_least(&counters[0], 1);
                             isa::warp_sync();
                             (void)get(thread);
                           }
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, OrderIsHandedOnFromClusterToCluster) {
  kernel.ctas = 3;
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (cta == 0 && thread == 0) {
                             put(0, 5);
                             isa::global_add_release(&counters[0], 1);
                           } else if (cta == 1) {
                             if (thread == 0 && !planted)
                               isa::global_wait_at_least(&counters[0], 1);
                             isa::warp_sync();
                             if (thread == 9) isa::global_add_release(&counters[1], 1);
                           } else if (cta == 2 && thread == 0) {
                             isa::global_wait_at_least(&counters[1], 1);
                             put(0, 6);
                           }
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, AResetHandsOnOnlyWhatItsThreadKnows) {
  kernel.ctas = 3;
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (thread != 0) return;
                           if (cta == 0) {
                             put(0, 5);
                             isa::global_add_release(&counters[0], 1);
                           } else if (cta == 1) {
                             if (!planted) isa::global_wait_at_least(&counters[0], 1);
                             isa::global_store_release(&counters[1], 9);
                           } else {
                             isa::global_wait_at_least(&counters[1], 9);
                             (void)get(0);
                           }
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, BarriersOrderWithinACta) {
  kernel.ctas = 1;
  kernel.threads = 64;
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned, unsigned thread) {
                           put(thread, thread);
                           if (!planted) isa::barrier_sync(0, 64);
                           (void)get(63 - thread);
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, WhatIsReadMayNotBeWrittenMeanwhile) {
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(
        planted, run([&](unsigned cta, unsigned thread) {
          if (thread != 0) return;
          if (cta == 0) {
            isa::cp_async<16>(address_at(0), words, 16);
            isa::cp_async_commit_group();
            if (!planted) isa::cp_async_wait_group<0>();
            isa::global_add_release(&counters[0], 1);
            isa::cp_async_wait_group<0>();
          } else {
            isa::global_wait_at_least(&counters[0], 1);
            put(1, 0);  // the same value: a reader might have seen another
          }
        }),
        global_race,
        "bytes 4 to 7 of D, which a cp.async of the epilogue role (thread 0 of CTA 0) read"));
  }
}

TEST_P(GlobalRaceTest, BoxesThatReachBackHoldTheSame) {
  for (const bool planted : {false, true}) {
    const Report report = run([&](unsigned cta, unsigned) {
      store_box(planted ? cta + 1 : 1, static_cast<int>(4 * cta));
    });
    EXPECT_TRUE(found_if(planted, report, global_race,
                         "of D with another value, which a TMA store of the epilogue role"));
  }
}

// Two stores of the same thread, too: nothing orders what they write.
TEST_P(GlobalRaceTest, NobodyKnowsWhenAStoreHasWritten) {
  EXPECT_TRUE(found(run([&](unsigned cta, unsigned thread) {
                      store_box(7, static_cast<int>(8 * cta));
                      if (thread == 0) (void)get(128 * cta);
                    }),
                    global_race, "TMA store"));
  EXPECT_TRUE(found(run([&](unsigned cta, unsigned) {
                      store_box(7, static_cast<int>(8 * cta));
                      store_box(8, static_cast<int>(8 * cta));
                    }),
                    global_race, "TMA store"));
}

// Whoever reads after two writes of one value must come after both.
TEST_P(GlobalRaceTest, AReaderAfterOneOfTwoEqualWrites) {
  kernel.ctas = 3;
  for (const bool planted : {false, true}) {
    EXPECT_TRUE(found_if(planted, run([&](unsigned cta, unsigned thread) {
                           if (thread != 0) return;
                           if (cta < 2) {
                             put(0, 5);
                             isa::global_add_release(&counters[cta], 1);
                           } else {
                             isa::global_wait_at_least(&counters[0], 1);
                             if (!planted) isa::global_wait_at_least(&counters[1], 1);
                             (void)get(0);
                           }
                         }),
                         global_race));
  }
}

TEST_P(GlobalRaceTest, TmaReadsWhatAThreadWroteAfterAFence) {
  for (const bool planted : {false, true}) {
    const Report report = run([&](unsigned cta, unsigned thread) {
      start_barrier(2048, 1, 32);
      if (thread != 0) return;
      if (cta == 0) {
        put(0, 5);
        if (!planted) isa::fence_proxy_async();
        isa::global_add_release(&counters[0], 1);
      } else {
        isa::global_wait_at_least(&counters[0], 1);
        isa::mbarrier_arrive_expect_tx(address_at(2048), 512);
        load_box(0, map, 2048, 0, 0);
        wait(address_at(2048), 0);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence,
                         "TMA load reads bytes 0 to 3 of D, which the epilogue role"));
  }
}

TEST_P(GlobalRaceTest, ValuesThatNobodyWantsMayBeRead) {
  for (const bool planted : {false, true}) {
    const Report report = run([&](unsigned cta, unsigned thread) {
      if (cta == 0) put(thread, 5);
      if (cta == 1) (void)load_element<Space::Global>(words + thread, planted);
    });
    EXPECT_TRUE(found_if(planted, report, global_race));
  }
}

TEST_P(GlobalRaceTest, UncheckedRunsAreNotJudged) {
  kernel.options.check = false;
  EXPECT_TRUE(clean(run([&](unsigned cta, unsigned thread) { put(thread, cta); })));
}

INSTANTIATE_TEST_SUITE_P(, GlobalRaceTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
