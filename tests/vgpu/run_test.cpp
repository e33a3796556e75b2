// A run as a whole: elements, reports, limits, replay, parallel runs.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/vgpu/support.h"
#include "tilewright/base/require.h"

namespace tw::test {
namespace {

TEST(Elements, GlobalMemoryHasBoundsRightsAndHistory) {
  std::vector<std::uint32_t> readable(8, 5), writable(8, 0);
  const Kernel kernel{.threads = 32,
                      .memory = {{readable.data(), 32, "readable", true, false},
                                 {writable.data(), 32, "writable", false, true}}};
  const auto run = [&](std::function<void()> body) {
    return kernel.run([&] {
      isa::describe_role("copy");
      if (isa::thread_index() == 0) body();
    });
  };
  EXPECT_TRUE(clean(run([&] {
    store_element<Space::Global>(&writable[3], load_element<Space::Global>(&readable[3]));
    EXPECT_EQ(load_element<Space::Global>(&writable[3]), 5u);
  })));
  EXPECT_TRUE(found(run([&] { load_element<Space::Global>(readable.data() + 8); }), Checker::Bounds,
                    "copy role (thread 0 of CTA 0) reads 4 bytes at byte 32 of readable"));
  EXPECT_TRUE(found(run([&] { store_element<Space::Global>(&readable[0], 1u); }), Checker::Bounds,
                    "read-only"));
  EXPECT_TRUE(found(run([&] { load_element<Space::Global>(&writable[0]); }), Checker::Uninitialised,
                    "byte 0 of writable"));
  EXPECT_EQ(readable[0], 5u) << "a refused write must not happen";
}

TEST(Elements, SharedMemoryHasBoundsAndHistory) {
  const auto run = [&](std::function<void()> body) {
    return Kernel{.threads = 32, .shared_bytes = 64}.run([&] {
      if (isa::thread_index() == 0) body();
    });
  };
  EXPECT_TRUE(clean(run([] {
    store_shared(shared_at(60), 1u);
    load_shared(shared_at(60));
  })));
  EXPECT_TRUE(found(run([] { store_shared(shared_at(64), 1u); }), Checker::Bounds, "64 bytes"));
  EXPECT_TRUE(found(run([] { load_shared(shared_at(0)); }), Checker::Uninitialised, "byte 0"));
}

TEST(Elements, HalvesOfAWordAreApart) {
  // Neighbours write halves of one word; each reads its own back, and after the barrier the
  // other's.
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([] {
    const unsigned thread = isa::thread_index();
    for (unsigned round = 0; round < 3; ++round) {
      const auto value = static_cast<std::uint16_t>(100 * round + thread);
      store_shared(shared_at<std::uint16_t>(2 * thread), value);
      EXPECT_EQ(load_shared(shared_at<std::uint16_t>(2 * thread)), value);
      isa::warp_sync();
      EXPECT_EQ(load_shared(shared_at<std::uint16_t>(2 * (thread ^ 1))),
                value + (thread % 2 ? -1 : 1));
      isa::warp_sync();
    }
  })));
  // Without the last barrier a half is overwritten under its reader.
  const Report report = Kernel{.threads = 32}.run([] {
    const unsigned thread = isa::thread_index();
    for (unsigned round = 0; round < 2; ++round) {
      store_shared(shared_at<std::uint16_t>(2 * thread), std::uint16_t{1});
      isa::warp_sync();
      load_shared(shared_at<std::uint16_t>(2 * (thread ^ 1)));
    }
  });
  EXPECT_TRUE(found(report, Checker::OverwriteWhileRead));
}

TEST(Elements, ManyReadersOfOneWordAreAllRemembered) {
  for (const bool planted : {false, true}) {
    const Report report = Kernel{}.run([&] {
      const unsigned thread = isa::thread_index();
      if (thread == 0) store_shared(shared_at(0), 1u);
      isa::barrier_sync(0, 128);
      load_shared(shared_at(0));
      // Only the readers of the first three warps meet the writer.
      if (thread < 96) isa::barrier_sync(1, planted ? 96 : 128);
      if (thread >= 96 && !planted) isa::barrier_sync(1, 128);
      if (thread == 0) store_shared(shared_at(0), 2u);
    });
    EXPECT_EQ(report.verdict(), planted ? Report::Found : Report::Clean) << text_of(report);
  }
}

TEST(Elements, WritersWithoutOrderRace) {
  const Report report = Kernel{.threads = 64}.run([] {
    isa::describe_role("write");
    isa::describe_shared(address_at(0), 4, "counter", 6);
    if (isa::thread_index() % 32 == 0) store_shared(shared_at(0), isa::thread_index());
  });
  ASSERT_TRUE(found(report, Checker::Race, "nothing orders the two"));
  EXPECT_EQ(report.findings[0].role, "write");
  EXPECT_EQ(report.findings[0].stage, 6);
  EXPECT_EQ(report.findings[0].name, "race");
}

TEST(Elements, CheckingOffSeesNoRacesButStillBounds) {
  const Kernel kernel{.threads = 64, .shared_bytes = 64, .options = {.check = false}};
  EXPECT_TRUE(clean(kernel.run([] { store_shared(shared_at(0), 1u); })));
  EXPECT_TRUE(found(kernel.run([] { store_shared(shared_at(64), 1u); }), Checker::Bounds));
}

TEST(Run, ADeadlockIsReportedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  const Report report = Kernel{.threads = 384, .ctas = 4}.run([] {
    isa::describe_role(isa::thread_index() < 32 ? "load" : "multiply");
    start_barrier(0, 1, 384);
    start_barrier(8, 1, 384);
    wait(address_at(isa::thread_index() < 32 ? 8 : 0), 0);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  ASSERT_TRUE(found(report, Checker::Deadlock, "load in CTA 0 (threads 0-31)"));
  EXPECT_TRUE(found(report, Checker::Deadlock, "multiply in CTA 3 (threads 32-383)"));
  EXPECT_TRUE(found(report, Checker::Deadlock, "Replay: seed 1, landing random."));
}

TEST(Run, ASpinWithoutProgressIsALivelock) {
  std::vector<std::uint32_t> flag(1, 0);
  const Kernel kernel{
      .threads = 32, .memory = {{flag.data(), 4, "flag"}}, .options = {.max_steps = 100'000}};
  const auto run = [&](bool planted) {
    return kernel.run([&, planted] {
      if (isa::thread_index() == 1 && !planted) store_element<Space::Global>(&flag[0], 1u);
      while (isa::thread_index() == 0 && load_element<Space::Global>(&flag[0]) == 0) {
      }
    });
  };
  for (const bool planted : {false, true}) {
    flag[0] = 0;
    EXPECT_TRUE(found_if(planted, run(planted), Checker::Livelock, "still run"));
  }
}

TEST(Run, AnExceptionEndsTheRunWithItsSentence) {
  const Report report = Kernel{.threads = 32}.run([] {
    isa::describe_role("refuse");
    require(isa::thread_index() != 9, "Nine is too many.");
  });
  EXPECT_TRUE(found(report, Checker::Exception, "refuse role (thread 9 of CTA 0)"));
  EXPECT_TRUE(found(report, Checker::Exception, "Nine is too many."));
}

void many_races() {
  for (unsigned i = 0; i < 40; ++i) {
    isa::describe_shared(address_at(4 * i), 4, "cell", i);
    store_shared(shared_at(4 * i), isa::thread_index());
  }
}

TEST(Run, FindingsAreSaidOnceAndEndTheRunWhenThereAreEnough) {
  EXPECT_EQ(Kernel{.options = {.max_findings = 100}}.run(many_races).findings.size(), 40u);
  EXPECT_EQ(Kernel{.options = {.max_findings = 7}}.run(many_races).findings.size(), 7u);
}

TEST(Run, ADisabledCheckerIsSilent) {
  vgpu::Options options;
  options.disabled = {Checker::Race};
  EXPECT_TRUE(clean(Kernel{.options = options}.run(many_races)));
  options.disabled = {Checker::OverwriteWhileRead};
  EXPECT_TRUE(found(Kernel{.options = options}.run(many_races), Checker::Race));
}

TEST(Run, StoppingForASilencedReasonIsIncomplete) {
  vgpu::Options options;
  options.disabled = {Checker::Deadlock};
  const Report report = Kernel{.threads = 32, .options = options}.run([] {
    if (isa::elect_one()) isa::barrier_sync(1, 32);
  });
  EXPECT_EQ(report.verdict(), Report::Incomplete);
}

TEST(Run, ImpossibleLaunchesAreRefused) {
  const auto refused = [](unsigned ctas, unsigned cluster, unsigned threads, std::size_t bytes) {
    return !attempt([&] {
              return vgpu::run({ctas, cluster, threads, bytes, [] {}}, {}, {});
            }).status.is_good();
  };
  EXPECT_FALSE(refused(2, 2, 1024, 227 << 10));
  EXPECT_TRUE(refused(3, 2, 32, 0));
  EXPECT_TRUE(refused(32, 32, 32, 0));
  EXPECT_TRUE(refused(1, 1, 0, 0));
  EXPECT_TRUE(refused(1, 1, 1025, 0));
  EXPECT_TRUE(refused(1, 1, 32, 228 << 10));
}

TEST(Run, AnEmptyGridIsClean) {
  EXPECT_TRUE(clean(Kernel{.ctas = 0}.run([] {})));
}

TEST(Run, RunsOnManyThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (auto& text : texts) {
    threads.emplace_back([&text] {
      for (unsigned i = 0; i < 5; ++i) {
        text = text_of(Kernel{.threads = 96, .options = {.max_findings = 5}}.run(many_races));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& text : texts) EXPECT_EQ(text, texts[0]);
}

TEST(Run, ARunInsideARunKeepsBothApart) {
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([] {
    store_shared(shared_at(4 * isa::thread_index()), 1u);
    if (isa::thread_index() == 3) {
      EXPECT_TRUE(found(Kernel{}.run(many_races), Checker::Race));
    }
    EXPECT_EQ(load_shared(shared_at(4 * isa::thread_index())), 1u);
  })));
}

}  // namespace
}  // namespace tw::test
