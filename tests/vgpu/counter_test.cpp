// Counters in shared and in global memory: the signal that needs no barrier hardware.
#include "tilewright/isa/ptx/counter.h"

#include <bit>

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/cp_async.h"

namespace tw::test {
namespace {

constexpr unsigned full = 4096, empty = 4100;

struct CounterTest : ::testing::TestWithParam<Landing> {
  Kernel kernel{.threads = 64, .options = {.landing = GetParam()}};

  static void start(unsigned threads = 64) {
    if (isa::thread_index() == 0) {
      for (const unsigned offset : {full, empty}) {
        isa::counter_init(address_at(offset));
        isa::describe_barrier(address_at(offset), offset == full ? "full" : "empty", 5);
      }
    }
    isa::barrier_sync(0, threads);
  }
};

// The first warp writes a line, the second reads it, lap by lap.
void pass_lines(unsigned laps, bool wait_full, bool wait_empty) {
  const bool loads = isa::thread_index() < 32;
  const unsigned lane = isa::thread_index() % 32;
  isa::describe_role(loads ? "load" : "use");
  isa::describe_shared(address_at(0), 128, "input", 5);
  for (unsigned lap = 0; lap < laps; ++lap) {
    if (loads) {
      if (wait_empty) isa::counter_wait_at_least(address_at(empty), 32 * lap);
      store_shared(shared_at(4 * lane), lap * 100 + lane);
      isa::counter_add_release(address_at(full), 1);
    } else {
      if (wait_full) isa::counter_wait_at_least(address_at(full), 32 * (lap + 1));
      const std::uint32_t seen = load_shared(shared_at(4 * (31 - lane)));
      if (wait_full && wait_empty) {
        EXPECT_EQ(seen, lap * 100 + 31 - lane);
      }
      isa::counter_add_release(address_at(empty), 1);
    }
  }
}

TEST_P(CounterTest, OrdersTwoWarpsLapByLap) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start();
    pass_lines(6, true, true);
  })));
}

TEST_P(CounterTest, AMissingWaitIsFoundOnEitherSide) {
  const Report reader = kernel.run([&] {
    start();
    pass_lines(1, false, true);
  });
  EXPECT_EQ(reader.verdict(), Report::Found);
  EXPECT_TRUE(find(reader, Checker::Race) != nullptr ||
              find(reader, Checker::Uninitialised) != nullptr ||
              find(reader, Checker::OverwriteWhileRead) != nullptr)
      << text_of(reader);
  const Report writer = kernel.run([&] {
    start();
    pass_lines(3, true, false);
  });
  EXPECT_EQ(writer.verdict(), Report::Found);
}

// The count goes on to 2, but who waits for 1 may only rely on the first.
TEST_P(CounterTest, AWaitLearnsOnlyWhatItsTargetTook) {
  kernel.threads = 96;
  const Report report = kernel.run([&] {
    start(96);
    const unsigned warp = isa::thread_index() / 32;
    if (isa::thread_index() % 32 != 0) return;
    if (warp < 2) {
      if (warp == 1) isa::counter_wait_at_least(address_at(full), 1);
      store_shared(shared_at(4 * warp), warp);
      isa::counter_add_release(address_at(full), 1);
    } else {
      isa::counter_wait_at_least(address_at(full), 2);
      stand_back();
      isa::counter_wait_at_least(address_at(full), 1);
      EXPECT_EQ(load_shared(shared_at(4)), 1u);
    }
  });
  EXPECT_TRUE(clean(report)) << "it waited for both";
  const Report early = kernel.run([&] {
    start(96);
    const unsigned warp = isa::thread_index() / 32;
    if (isa::thread_index() % 32 != 0) return;
    if (warp < 2) {
      if (warp == 1) isa::counter_wait_at_least(address_at(full), 1);
      store_shared(shared_at(4 * warp), warp);
      isa::counter_add_release(address_at(full), 1);
    } else {
      stand_back();
      isa::counter_wait_at_least(address_at(full), 1);
      load_shared(shared_at(4));
    }
  });
  EXPECT_EQ(early.verdict(), Report::Found);
}

TEST_P(CounterTest, CountsMayWrap) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start();
    if (isa::thread_index() == 0) {
      isa::counter_add_release(address_at(full), 0x7fffffff);
      isa::counter_wait_at_least(address_at(empty), 1);
      isa::counter_add_release(address_at(full), 0x7fffffff);
      isa::counter_wait_at_least(address_at(empty), 2);
      isa::counter_add_release(address_at(full), 7);
    } else if (isa::thread_index() == 32) {
      isa::counter_wait_at_least(address_at(full), 0x7fffffff);
      isa::counter_add_release(address_at(empty), 1);
      isa::counter_wait_at_least(address_at(full), 0xfffffffe);
      isa::counter_add_release(address_at(empty), 1);
      isa::counter_wait_at_least(address_at(full), 5);  // 2^32 + 5
    }
  })));
}

TEST_P(CounterTest, ACountThatIsNeverReachedIsADeadlockThatSaysSo) {
  const Report report = kernel.run([&] {
    start();
    isa::describe_role(isa::thread_index() < 32 ? "load" : "use");
    if (isa::thread_index() < 32) {
      isa::counter_add_release(address_at(full), 1);
    } else {
      isa::counter_wait_at_least(address_at(full), 33);
    }
  });
  const vgpu::Finding* finding = find(report, Checker::Deadlock);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_EQ(finding->role, "use");
  EXPECT_EQ(finding->stage, 5);
  EXPECT_TRUE(found(report, Checker::Deadlock,
                    "full stage 5 of CTA 0 to reach 33: it is at 32, load added last"));
}

// "back" waits because "use" does; the deadlock begins with the count that nobody raises.
TEST_P(CounterTest, ADeadlockIsToldFromWhereItBegins) {
  const Report report = kernel.run([&] {
    start();
    const bool uses = isa::thread_index() < 32;
    isa::describe_role(uses ? "use" : "back");
    if (uses) {
      isa::counter_add_release(address_at(empty), 1);
      isa::counter_wait_at_least(address_at(full), 1);
    } else {
      isa::counter_wait_at_least(address_at(empty), 33);
    }
  });
  const vgpu::Finding* finding = find(report, Checker::Deadlock);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_EQ(finding->role, "use");
  EXPECT_TRUE(found(report, Checker::Deadlock, "to reach 1: it is at 0, where it began"));
}

TEST_P(CounterTest, LivesAsBarriersDo) {
  const auto alone = [&](auto body) {
    Kernel one = kernel;
    one.threads = 32;
    return one.run([&, body] {
      if (isa::thread_index() == 0) body();
    });
  };
  EXPECT_TRUE(found(alone([] { isa::counter_add_release(address_at(full), 1); }),
                    Checker::BarrierLife, "never initialised"));
  EXPECT_TRUE(
      found(alone([] { isa::counter_init(address_at(full + 2)); }), Checker::Alignment, "4-byte"));
  EXPECT_TRUE(found(alone([] {
                      isa::counter_init(address_at(full));
                      load_shared(shared_at(full));
                    }),
                    Checker::BarrierLife, "which holds a counter"));
  const Report unordered = kernel.run([&] {
    if (isa::thread_index() == 0) isa::counter_init(address_at(full));
    if (isa::thread_index() == 32) {
      stand_back();
      isa::counter_add_release(address_at(full), 1);
    }
  });
  EXPECT_TRUE(found(unordered, Checker::BarrierLife));
}

TEST_P(CounterTest, PublishesCopiesThatTheThreadHasWaitedFor) {
  std::vector<std::uint8_t> source(512, 9);
  kernel.memory = {range_of(source, "source")};
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start();
      const unsigned lane = isa::thread_index() % 32;
      if (isa::thread_index() < 32) {
        isa::cp_async<16>(address_at(16 * lane), &source[16 * lane], 16);
        isa::cp_async_commit_group();
        if (!planted) isa::cp_async_wait_group<0>();
        isa::counter_add_release(address_at(full), 1);
        if (planted) isa::cp_async_wait_group<0>();
      } else {
        isa::counter_wait_at_least(address_at(full), 32);
        const std::uint8_t seen = load_shared(shared_at<std::uint8_t>(16 * (31 - lane)));
        EXPECT_TRUE(planted || seen == 9);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull));
  }
}

struct GlobalCounterTest : CounterTest {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(256, 0);
  GlobalCounterTest() {
    kernel.threads = 32;
    kernel.ctas = 4;
    kernel.memory = {{words.data(), words.size() * 4, "flags"}};
  }
};

// Split-K: every CTA writes its part and raises the flag; the last one to come adds them.
TEST_P(GlobalCounterTest, TheLastOfACrowdFindsTheOthersParts) {
  EXPECT_TRUE(clean(kernel.run([&] {
    const unsigned lane = isa::thread_index();
    store_element<Space::Global>(&words[32 + 32 * isa::cta_index() + lane], lane + 1);
    isa::barrier_sync(0, 32);
    if (lane == 0) isa::global_add_release(&words[0], 1);
    if (isa::cta_index() != 3) return;
    isa::global_wait_at_least(&words[0], 4);
    std::uint32_t sum = 0;
    for (unsigned part = 0; part < 4; ++part) {
      sum += load_element<Space::Global>(&words[32 + 32 * part + lane]);
    }
    EXPECT_EQ(sum, 4 * (lane + 1));
  })));
}

TEST_P(GlobalCounterTest, FetchAddHandsOutEveryNumberOnce) {
  EXPECT_TRUE(clean(kernel.run([&] {
    for (unsigned round = 0; round < 2; ++round) {
      const std::uint32_t ticket = isa::global_fetch_add(&words[1], 1);
      ASSERT_LT(ticket, 256u);
      if (ticket >= 192) continue;
      EXPECT_EQ(load_element<Space::Global>(&words[32 + ticket]), 0u);
      store_element<Space::Global>(&words[32 + ticket], 1u);
    }
  })));
  EXPECT_EQ(words[1], 256u);
}

TEST_P(GlobalCounterTest, StoresAndPlainWritesWakeToo) {
  EXPECT_TRUE(clean(kernel.run([&] {
    if (isa::thread_index() != 0) return;
    if (isa::cta_index() == 0) isa::global_wait_at_least(&words[0], 8);
    if (isa::cta_index() == 1) isa::global_store_release(&words[0], 9);
    if (isa::cta_index() == 2) isa::global_wait_at_least(&words[1], 3);
    if (isa::cta_index() == 3) store_element<Space::Global>(&words[1], 3u);
  })));
}

TEST_P(GlobalCounterTest, OrdersSharedMemoryWithinACta) {
  kernel.threads = 64;
  for (const bool planted : {false, true}) {
    std::fill(words.begin(), words.end(), 0);
    const Report report = kernel.run([&] {
      std::uint32_t* flag = &words[isa::cta_index()];
      if (isa::thread_index() == 0) {
        store_shared(shared_at(0), 77u);
        isa::global_add_release(flag, 1);
      } else if (isa::thread_index() == 32) {
        if (!planted) isa::global_wait_at_least(flag, 1);
        if (planted) stand_back();
        const std::uint32_t seen = load_shared(shared_at(0));
        EXPECT_TRUE(planted || seen == 77);
      }
    });
    EXPECT_EQ(report.verdict(), planted ? Report::Found : Report::Clean) << text_of(report);
  }
}

TEST_P(GlobalCounterTest, ACountThatIsNeverReachedIsADeadlockThatSaysSo) {
  const Report report = kernel.run([&] {
    isa::describe_role("reduce");
    if (isa::thread_index() != 0) return;
    isa::global_add_release(&words[2], 1);
    if (isa::cta_index() == 1) isa::global_wait_at_least(&words[2], 5);
  });
  EXPECT_TRUE(found(report, Checker::Deadlock, "the counter at byte 8 of flags to reach 5: it is"));
  EXPECT_EQ(find(report, Checker::Deadlock)->role, "reduce");
}

TEST_P(GlobalCounterTest, MaximumOfFloatsThatAreNotNegative) {
  EXPECT_TRUE(clean(kernel.run([&] {
    const float value = 0.25f * static_cast<float>(isa::cta_index() * 32 + isa::thread_index());
    isa::global_atomic_max_float_bits(&words[3], std::bit_cast<std::uint32_t>(value));
  })));
  EXPECT_EQ(std::bit_cast<float>(words[3]), 31.75f);
}

TEST_P(GlobalCounterTest, MemoryIsChecked) {
  const auto alone = [&](std::uint32_t* counter) {
    return kernel.run([counter] {
      if (isa::thread_index() == 0) isa::global_add_release(counter, 1);
    });
  };
  EXPECT_TRUE(found(alone(words.data() + 256), Checker::Bounds, "flags, which has 1024 bytes"));
  kernel.memory[0].initialised = false;
  EXPECT_TRUE(found(alone(words.data()), Checker::Uninitialised, "of flags"));
  kernel.memory[0].writable = false;
  EXPECT_TRUE(found(alone(words.data()), Checker::Bounds, "read-only"));
}

INSTANTIATE_TEST_SUITE_P(, CounterTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });
INSTANTIATE_TEST_SUITE_P(, GlobalCounterTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
