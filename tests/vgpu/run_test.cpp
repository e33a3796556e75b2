// A run as a whole: elements, reports, limits, replay, parallel runs.
#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/vgpu/support.h"
#include "tilewright/base/require.h"
#include "tilewright/isa/ptx/counter.h"

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

TEST(Elements, AreAligned) {
  alignas(8) std::byte bytes[16] = {};
  const Kernel kernel{.threads = 32, .memory = {{bytes, 16, "bytes", true, true}}};
  for (const unsigned at : {0u, 2u, 4u, 7u}) {
    auto* const element = reinterpret_cast<std::uint32_t*>(bytes + at);
    const Report reads = kernel.run([&] { load_element<Space::Global>(element); });
    EXPECT_TRUE(found_if(at % 4 != 0, reads, Checker::Alignment, "not 4-byte aligned"));
    const Report writes = kernel.run([&] {
      if (isa::thread_index() == 0) store_element<Space::Global>(element, 1u);
    });
    EXPECT_TRUE(found_if(at % 4 != 0, writes, Checker::Alignment, "not 4-byte aligned"));
  }
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

// One thread per warp plays: what each does in turn, and which barriers of two warps order them.
Report play(std::function<void()> first, std::function<void()> second, std::function<void()> third,
            bool second_after_first, bool third_after_second) {
  return Kernel{.threads = 96, .options = {.landing = Landing::Lazy}}.run([&] {
    const unsigned warp = isa::thread_index() / 32;
    const bool plays = isa::thread_index() % 32 == 0;
    for (unsigned turn = 0; turn < warp; ++turn) stand_back();
    if (warp == 1 && second_after_first) isa::barrier_sync(1, 64);
    if (warp == 2 && third_after_second) isa::barrier_sync(2, 64);
    if (plays) (warp == 0 ? first : warp == 1 ? second : third)();
    if (warp == 0 && second_after_first) isa::barrier_sync(1, 64);
    if (warp == 1 && third_after_second) isa::barrier_sync(2, 64);
  });
}
void write_half(unsigned half) {
  store_shared(shared_at<std::uint16_t>(2 * half), std::uint16_t{1});
}
void read_half(unsigned half) { load_shared(shared_at<std::uint16_t>(2 * half)); }

TEST(Elements, EachHalfHasItsOwnHistory) {
  const auto write_both = [] {
    write_half(0);
    write_half(1);
  };
  const auto read_both = [] {
    read_half(0);
    read_half(1);
  };
  const auto nothing = [] {};
  for (const unsigned half : {0u, 1u}) {
    const auto write = [=] { write_half(half); };
    const auto read = [=] { read_half(half); };
    const auto write_other = [=] { write_half(half ^ 1); };
    const auto read_other = [=] { read_half(half ^ 1); };
    // Two writes of one thread: neither hides the other.
    EXPECT_TRUE(clean(play(write_both, read, nothing, true, false)));
    EXPECT_TRUE(found(play(write_both, read, nothing, false, false), Checker::Race));
    // Two writers: the second does not hide the first from who is ordered after the second only.
    EXPECT_TRUE(clean(play(write, write_other, read, true, true)));
    EXPECT_TRUE(found(play(write, write_other, read, false, true), Checker::Race));
    // Two reads of one thread: neither hides the other.
    const auto write_and_read = [=] {
      write_both();
      read_both();
    };
    EXPECT_TRUE(clean(play(write_and_read, write, nothing, true, false)));
    EXPECT_TRUE(
        found(play(write_and_read, write, nothing, false, false), Checker::OverwriteWhileRead));
    // Two readers in order, of different halves: the second does not hide the first.
    const auto write_both_and_read = [=] {
      write_both();
      read_half(half);
    };
    EXPECT_TRUE(clean(play(write_both_and_read, read_other, write, true, true)));
    EXPECT_TRUE(found(play(write_both_and_read, read_other, write, true, false),
                      Checker::OverwriteWhileRead));
  }
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

// Two words of an output, 8 GiB apart: the machine's memory grows with what is touched.
TEST(Elements, AreFewWithALongWayBetweenThem) {
  constexpr std::size_t apart = std::size_t{1} << 33, bytes = apart + 64;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const first = static_cast<std::uint32_t*>(memory);
  auto* const last = first + apart / 4;
  const auto peak = [] {  // in KiB
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const Kernel kernel{.threads = 1, .memory = {{memory, bytes, "D", false, true}}};
  const auto before = peak();
  for (const std::size_t step : {0, 1, 15}) {
    const Report report = kernel.run([&] {
      store_element<Space::Global>(first, 1u);
      store_element<Space::Global>(last, 2u);
      load_element<Space::Global>(first);
      load_element<Space::Global>(last + step);
    });
    EXPECT_TRUE(found_if(step > 0, report, Checker::Uninitialised, "which nobody has written"));
  }
  EXPECT_LT(peak() - before, 256 << 10);
  munmap(memory, bytes);
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
      if (isa::thread_index() == 1 && !planted) isa::global_add_release(&flag[0], 1);
      while (isa::thread_index() == 0 && load_element<Space::Global>(&flag[0]) == 0) {
      }
    });
  };
  for (const bool planted : {false, true}) {
    flag[0] = 0;
    EXPECT_TRUE(found_if(planted, run(planted), Checker::Livelock, "still run"));
  }
}

TEST(Run, ALoopWithoutInstructionsIsALivelock) {
  const Kernel kernel{.threads = 64, .options = {.stall_seconds = 1}};
  const Report report = kernel.run([] {
    isa::describe_role("stubborn");
    volatile unsigned never = 0;  // in no memory that the model knows
    while (isa::thread_index() == 40 && never == 0) {
      while (never == 0) {
      }
    }
  });
  EXPECT_TRUE(
      found(report, Checker::Livelock, "stubborn role (thread 40 of CTA 0) has run for 1 s"));
  // The next run is a run like any other.
  EXPECT_TRUE(kernel.run([] { isa::global_timer(); }).verdict() == Report::Clean);
}

TEST(Run, AnExceptionEndsTheRunWithItsSentence) {
  const Report report = Kernel{.threads = 32}.run([] {
    isa::describe_role("refuse");
    require(isa::thread_index() != 9, "Nine is too many.");
  });
  EXPECT_TRUE(found(report, Checker::Exception, "refuse role (thread 9 of CTA 0)"));
  EXPECT_TRUE(found(report, Checker::Exception, "Nine is too many."));
}

TEST(Schedule, ThreadsArePreemptedOnlyWhereTheScheduleIsADie) {
  const auto interleaves = [](Landing landing, std::uint64_t seed) {
    unsigned last = 0;
    unsigned changes = 0;
    Kernel{.threads = 2, .options = {.landing = landing, .seed = seed}}.run([&] {
      for (unsigned i = 0; i < 200; ++i) {
        isa::global_timer();
        changes += std::exchange(last, isa::thread_index()) != isa::thread_index();
      }
    });
    return changes > 1;
  };
  unsigned random = 0, adversarial = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_FALSE(interleaves(Landing::Eager, seed));
    EXPECT_FALSE(interleaves(Landing::Lazy, seed));
    random += interleaves(Landing::Random, seed);
    adversarial += interleaves(Landing::Adversarial, seed);
  }
  EXPECT_GT(random, 2u);
  EXPECT_GT(adversarial, 2u);
}

TEST(Schedule, LandsInTheOrderOfItsPolicy) {
  std::vector<std::uint8_t> source(8 * 32, 1);
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  // Thread 0 issues two loads, then looks whether the first is there; two others wait for one each.
  struct Landed {
    bool at_once = false;
    unsigned first = 0;
  };
  const auto run = [&](Landing landing, std::uint64_t seed) {
    Landed landed;
    const Report report =
        Kernel{.threads = 32,
               .memory = {range_of(source, "source")},
               .options = {.landing = landing, .seed = seed, .check = false}}
            .run([&] {  // a plain pointer looks past the model
              for (const unsigned barrier : {1024u, 1032u}) start_barrier(barrier, 1, 32);
              if (isa::thread_index() == 0) {
                for (unsigned load = 0; load < 2; ++load) {
                  isa::mbarrier_arrive_expect_tx(address_at(1024 + 8 * load), 256);
                  load_box(256 * load, map, 1024 + 8 * load, 0, 0);
                }
                landed.at_once = *shared_at<std::uint8_t>(0) == 1;
              } else if (isa::thread_index() <= 2) {
                wait(address_at(1024 + 8 * (isa::thread_index() - 1)), 0);
                if (landed.first == 0) landed.first = isa::thread_index();
              }
            });
    EXPECT_TRUE(clean(report));
    return landed;
  };
  unsigned random_second = 0, adversarial_second = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    EXPECT_TRUE(run(Landing::Eager, seed).at_once);
    EXPECT_FALSE(run(Landing::Lazy, seed).at_once);
    EXPECT_EQ(run(Landing::Lazy, seed).first, 1u);
    EXPECT_FALSE(run(Landing::Adversarial, seed).at_once);
    random_second += run(Landing::Random, seed).first == 2;
    adversarial_second += run(Landing::Adversarial, seed).first == 2;
  }
  EXPECT_GT(random_second, 2u);
  EXPECT_LT(random_second, 14u);
  EXPECT_GT(adversarial_second, 4u);
}

void many_races() {
  for (unsigned i = 0; i < 40; ++i) {
    isa::describe_shared(address_at(4 * i), 4, "cell", i);
    store_shared(shared_at(4 * i), isa::thread_index());
  }
}

TEST(Run, FindingsAreSaidOnceAndEndTheRunWhenThereAreEnough) {
  const Report all = Kernel{.options = {.max_findings = 100}}.run(many_races);
  EXPECT_EQ(all.findings.size(), 40u);
  EXPECT_TRUE(all.incomplete.empty());
  const Report some = Kernel{.options = {.max_findings = 7}}.run(many_races);
  EXPECT_EQ(some.findings.size(), 7u);
  ASSERT_EQ(some.incomplete.size(), 1u);
  EXPECT_EQ(some.incomplete[0], "The run stopped after 7 findings; there may be more.");
}

// This file is compiled with debug information.
constexpr int read_line = __LINE__ + 1;
void read_of_nothing() { load_shared(shared_at(0)); }
TEST(Run, FindingsNameTheirSource) {
  const std::string text = text_of(Kernel{.threads = 32}.run(read_of_nothing));
  EXPECT_NE(text.find("run_test.cpp:" + std::to_string(read_line)), std::string::npos) << text;
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
