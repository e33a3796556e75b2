// The partial-order reduction leaves out nothing: tiny programs end in the same ways under it as
// under all orders of all their steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "tests/vgpu/support.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/model/shared_memory.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "vgpu/explore/exploration.h"
#include "vgpu/machine/counter.h"

namespace tw::test {
namespace {

using vgpu::Exploration;
using vgpu::ExplorationLimits;
using vgpu::Outcome;

constexpr unsigned counters = 2, word_count = 2, most_threads = 3;

enum class Do : unsigned {
  FetchAdd,
  LoadCounter,
  StoreCounter,
  AwaitCounter,
  LoadWord,
  StoreWord,
  Arrive,
  AwaitPhase,
  SendWord,  // lands on its own, and signals the second barrier
  AwaitSent,
};
constexpr unsigned kinds = 10, kinds_without_barriers = 6;

struct Instruction {
  Do what;
  unsigned where;
  unsigned value;
};

struct Shared {
  std::uint64_t barrier, sent;
  alignas(16) std::uint32_t words[word_count];
};

// Threads of a CTA that execute lists of instructions. What a run ends with: memory, what each
// thread has read, and the names of the findings.
class Program {
 public:
  explicit Program(std::vector<std::vector<Instruction>> threads) : threads_(std::move(threads)) {
    for (const auto& thread : threads_) {
      uses_barriers_ |= std::ranges::any_of(
          thread, [](const Instruction& instruction) { return instruction.what >= Do::Arrive; });
    }
  }

  std::string last;

  Outcome run(const vgpu::Options& options) {
    std::ranges::fill(counters_, 0u);
    std::ranges::fill(read_, 0u);
    const vgpu::GlobalRange memory[] = {{counters_, sizeof counters_, "counters"},
                                        {read_, sizeof read_, "read"}};
    vgpu::Launch launch = {1, 1, static_cast<unsigned>(threads_.size()), sizeof(Shared),
                           [this] { kernel(); }};
    launch.lanes = 1;
    vgpu::Options all = options;
    all.max_findings = 1000;
    Outcome outcome = {vgpu::run(launch, memory, all)};
    std::set<std::string> names;
    for (const auto& finding : outcome.report.findings) names.insert(finding.name);
    for (const auto& text : outcome.report.incomplete) names.insert(text);
    last.clear();
    for (const std::uint32_t value : counters_) last += std::to_string(value) + " ";
    for (const std::uint32_t value : read_) last += std::to_string(value) + " ";
    for (const std::string& name : names) last += name + " ";
    return outcome;
  }

 private:
  void kernel() {
    Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    // Every step more multiplies the orders.
    if (uses_barriers_) {
      if (thread == 0) {
        isa::mbarrier_init(isa::shared_address(&shared.barrier), 1);
        isa::mbarrier_init(isa::shared_address(&shared.sent), 1);
      }
      isa::barrier_sync(0, static_cast<unsigned>(threads_.size()));
    }
    std::uint32_t read = 0;
    for (const Instruction& instruction : threads_[thread]) {
      read = read * 31 + execute(shared, instruction);
    }
    read_[thread] = read;
  }

  std::uint32_t execute(Shared& shared, const Instruction& instruction) {
    std::uint32_t* const counter = &counters_[instruction.where % counters];
    const SharedAddress word = isa::shared_address(&shared.words[instruction.where % word_count]);
    switch (instruction.what) {
      case Do::FetchAdd: return isa::global_fetch_add(counter, instruction.value);
      case Do::LoadCounter: return model::global_load_acquire(counter, nullptr);
      case Do::StoreCounter: isa::global_store_release(counter, instruction.value); return 0;
      case Do::AwaitCounter: isa::global_wait_at_least(counter, instruction.value); return 0;
      case Do::LoadWord: return load(word);
      case Do::StoreWord: store(word, instruction.value); return 0;
      case Do::Arrive: isa::mbarrier_arrive(isa::shared_address(&shared.barrier)); return 0;
      case Do::AwaitPhase: await(shared.barrier, instruction.value & 1); return 0;
      case Do::SendWord: {
        const SharedAddress sent = isa::shared_address(&shared.sent);
        isa::mbarrier_arrive_expect_tx(sent, 4);
        isa::st_async(word, instruction.value, sent);
        return 0;
      }
      case Do::AwaitSent: await(shared.sent, 0); return 0;
    }
    return 0;
  }

  static std::uint32_t load(SharedAddress word) {
    std::uint32_t value;
    model::load_shared(&value, word, 4);
    return value;
  }
  static void store(SharedAddress word, std::uint32_t value) {
    model::store_shared(word, &value, 4);
  }
  static void await(std::uint64_t& barrier, unsigned parity) {
    while (!isa::mbarrier_try_wait_parity(isa::shared_address(&barrier), parity)) {
    }
  }

  std::vector<std::vector<Instruction>> threads_;
  bool uses_barriers_ = false;
  std::uint32_t counters_[counters];
  std::uint32_t read_[most_threads];
};

struct Ends {
  std::set<std::string> ends;
  Exploration exploration;
};

Ends ends_of(Program& program, bool reduced) {
  Ends ends;
  ExplorationLimits limits;
  limits.reduced = reduced;
  limits.to_the_end = true;
  limits.executions = 200'000;
  ends.exploration =
      vgpu::explore([&](const vgpu::Options& options) { return program.run(options); }, limits,
                    [&](const Outcome&) { ends.ends.insert(program.last); });
  return ends;
}

struct Counts {
  std::uint64_t all = 0, reduced = 0, cut = 0;
};

void expect_same_ends(std::vector<std::vector<Instruction>> threads, const std::string& name,
                      Counts& counts) {
  Program program(std::move(threads));
  const Ends all = ends_of(program, false);
  const Ends reduced = ends_of(program, true);
  ASSERT_LT(all.exploration.executions, 200'000u) << name;
  EXPECT_EQ(all.ends, reduced.ends) << name;
  EXPECT_LE(reduced.exploration.executions, all.exploration.executions) << name;
  // The bound counts no order twice.
  EXPECT_LE(reduced.exploration.log10_interleavings,
            std::log10(static_cast<double>(all.exploration.executions)) + 1e-9)
      << name;
  counts.all += all.exploration.executions;
  counts.reduced += reduced.exploration.executions;
  counts.cut += reduced.exploration.cut;
}

TEST(Exploration, FindsALostUpdate) {
  const std::vector<Instruction> add = {{Do::LoadCounter, 0, 0}, {Do::StoreCounter, 0, 1}};
  Program program({add, add});
  const Ends ends = ends_of(program, true);
  EXPECT_EQ(ends.exploration.verdict, Exploration::Proved);
  // Both read 0, or one of them reads what the other stored.
  EXPECT_EQ(ends.ends.size(), 3u);
}

// Who waits for a phase may find the next one completed: then it waits on.
TEST(Exploration, TriesAWaitThatOthersEndAndBegin) {
  Counts counts;
  expect_same_ends({{{Do::Arrive, 0, 0}, {Do::Arrive, 0, 0}, {Do::Arrive, 0, 0}},
                    {{Do::AwaitPhase, 0, 0}, {Do::FetchAdd, 0, 1}, {Do::AwaitPhase, 0, 1}}},
                   "phases", counts);
  Program program({{{Do::Arrive, 0, 0}, {Do::Arrive, 0, 0}}, {{Do::AwaitPhase, 0, 0}}});
  const Ends ends = ends_of(program, true);
  EXPECT_EQ(ends.exploration.verdict, Exploration::Refuted);
  EXPECT_TRUE(std::ranges::any_of(
      ends.ends, [](const std::string& end) { return end.find("deadlock") != std::string::npos; }));
}

// Who begins a run must not be left out because it commutes with what came first: the second load
// of the counter before the store, and the first behind it.
TEST(Exploration, TriesWhoMustGoFirstForAnother) {
  Counts counts;
  expect_same_ends({{{Do::StoreCounter, 0, 1}},
                    {{Do::LoadCounter, 0, 0}, {Do::LoadWord, 0, 0}},
                    {{Do::LoadCounter, 0, 0}, {Do::StoreWord, 0, 1}}},
                   "two loads", counts);
}

TEST(Exploration, EndsAsAllOrdersOfRandomProgramsDo) {
  Counts counts;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 dice(seed);
    const unsigned thread_count = seed % 6 == 0 ? 3 : 2;
    std::vector<std::vector<Instruction>> threads(thread_count);
    const bool has_barriers = seed % 6 < 3 && thread_count == 2;
    for (auto& thread : threads) {
      const unsigned most = thread_count == 3 || has_barriers ? 2 : 4;
      for (unsigned i = 1 + dice() % most; i > 0; --i) {
        thread.push_back({static_cast<Do>(dice() % (has_barriers ? kinds : kinds_without_barriers)),
                          static_cast<unsigned>(dice() % 2), static_cast<unsigned>(dice() % 3)});
      }
    }
    expect_same_ends(std::move(threads), "seed " + std::to_string(seed), counts);
    if (HasFailure()) break;
  }
  EXPECT_LT(20 * (counts.reduced + counts.cut), counts.all);
  std::printf("all orders: %llu runs; reduced: %llu and %llu cut\n",
              static_cast<unsigned long long>(counts.all),
              static_cast<unsigned long long>(counts.reduced),
              static_cast<unsigned long long>(counts.cut));
}

TEST(Exploration, StopsAtItsLimitAndSaysSo) {
  const std::vector<Instruction> add(4, {Do::FetchAdd, 0, 1});
  Program program({add, add});
  ExplorationLimits limits;
  limits.executions = 10;
  const Exploration cut_off =
      vgpu::explore([&](const vgpu::Options& options) { return program.run(options); }, limits);
  EXPECT_EQ(cut_off.verdict, Exploration::Incomplete);
  EXPECT_EQ(cut_off.why, "the limit of 10 executions");
  EXPECT_EQ(ends_of(program, true).exploration.executions, 70u);  // 8 over 4: all their orders
}

TEST(Exploration, ReplaysASchedule) {
  Program program({{{Do::AwaitPhase, 0, 0}, {Do::LoadWord, 0, 0}},
                   {{Do::StoreWord, 0, 3}, {Do::Arrive, 0, 0}, {Do::Arrive, 0, 0}}});
  const auto run = [&](const vgpu::Options& options) { return program.run(options); };
  const Exploration found = vgpu::explore(run, {});
  ASSERT_EQ(found.verdict, Exploration::Refuted);
  const std::string text = vgpu::to_text(found.schedule);
  EXPECT_EQ(vgpu::schedule_of(text), found.schedule);
  const Outcome again = vgpu::replay(run, vgpu::schedule_of(text));
  ASSERT_FALSE(again.report.findings.empty());
  EXPECT_EQ(again.report.findings[0].text, found.refutation.report.findings[0].text);
  EXPECT_THROW((void)vgpu::replay(run, vgpu::schedule_of("9*3")), std::runtime_error);
  for (const char* const wrong : {"", "a", "1*0", "1'0", "1*", "1,,2", "1-2", "1*9999999"}) {
    EXPECT_THROW((void)vgpu::schedule_of(wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace tw::test
