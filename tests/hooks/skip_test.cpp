// Consumer::skip: two readers take the tiles of one ring in turns, and step over each other's. The
// whole kernel does this in every ping-pong instance (tests/families), and tests/planted has skips
// that are wrong; here are the bare ring, all three signals, and tiles of any length: none, within
// a lap, over several.
#include "tests/hooks/schedules.h"
#include "tilewright/pipeline/counter.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/pipeline/turns.h"

namespace tw::hooks {
namespace {

using test::clean;
using test::found;

constexpr unsigned stages = 3, threads = 96;
// In stages. Several tiles of nothing in a row: only the turns themselves keep the lanes together.
constexpr unsigned lengths[] = {2, 4, 0, 7, 1, 3, 9, 0, 2, 5, 0, 0, 0, 0, 0, 0, 4, 1};

struct SkipPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "input";
  static constexpr const char* full_name = "input.full";
  static constexpr const char* empty_name = "input.empty";
  struct Tiles {
    std::uint32_t words[32];
  };
  // A stage has one reader, whichever it is.
  static constexpr Part parts[1] = {
      {sizeof(Tiles), Completion::WarpsArrive, {Role::Load, 1}, {{Role::Multiply, 1}}}};
};

// Returns how many words were not those of their step.
template <class Signal, class Order>
unsigned run_skips(const vgpu::Options& options, vgpu::Report& report) {
  using Ring = tw::Ring<SkipPayload, stages, Signal>;
  struct Storage {
    SkipPayload::Tiles tiles[stages];
    typename Ring::Barriers barriers;
    typename Order::Barriers turns;
  };
  unsigned wrong = 0, read = 0, total = 0;
  for (const unsigned length : lengths) total += length * 32;
  const auto body = [&] {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned warp = isa::thread_index() / 32, lane = isa::thread_index() % 32;
    const NoTrace trace({}, 0, false);
    start_together<false>(isa::thread_index(), threads, [&] {
      Ring::init(storage.barriers, storage.tiles);
      Order::init(storage.turns);
    });
    if (warp == 0) {
      isa::describe_role("load");
      Producer<Ring, Role::Load, NoTrace> input(storage.barriers, storage.tiles, trace);
      unsigned step = 0;
      for (const unsigned length : lengths) {
        for (unsigned i = 0; i < length; ++i, ++step) {
          const auto stage = input.produce();
          test::store_shared(&storage.tiles[stage.slot()].words[lane], step * 32 + lane);
        }
      }
      input.drain();
      return;
    }
    const unsigned group = warp - 1;
    isa::describe_role(group == 0 ? "multiply 0" : "multiply 1");
    Consumer<Ring, Release::Warp, NoTrace> input(storage.barriers, lane, trace);
    Order order(storage.turns, group, lane);
    unsigned step = 0, whose = 0;
    for (const unsigned length : lengths) {
      const bool mine = whose == group;
      whose ^= 1;
      if (!mine) {
        input.skip(length);
        step += length;
        continue;
      }
      const auto turn = order.take();
      for (unsigned i = 0; i < length; ++i, ++step) {
        const auto stage = input.consume();
        wrong += test::load_shared(&storage.tiles[stage.slot()].words[lane]) != step * 32 + lane;
        ++read;
      }
    }
  };
  report = vgpu::run({1, 1, threads, sizeof(Storage), body}, {}, options);
  return wrong + (total - read);
}

template <class Signal, class Order>
void expect_turns() {
  under_every_schedule([](const vgpu::Options& options) {
    vgpu::Report report;
    const unsigned wrong = run_skips<Signal, Order>(options, report);
    ASSERT_TRUE(clean(report));
    ASSERT_EQ(wrong, 0u);
  });
}

TEST(HookSkip, ReadersOfBarriersTakeTurns) { expect_turns<Mbarriers, Turns<2, 1>>(); }

// A count tells every lap from every other: readers of counters need no turns.
TEST(HookSkip, ReadersOfCountersNeedNoTurns) {
  expect_turns<SingleCounters, NoTurns>();
  expect_turns<SplitCounters, NoTurns>();
}

// A parity does not: sooner or later a reader takes a stage of the wrong lap, and all stand still.
TEST(HookSkip, FindsReadersOfBarriersWithoutTurns) {
  under_every_schedule([](const vgpu::Options& options) {
    vgpu::Report report;
    run_skips<Mbarriers, NoTurns>(options, report);
    ASSERT_TRUE(found(report, vgpu::Checker::Deadlock, "input.full"));
  });
}

// Skipping is stepping, many times at once.
template <class Signal>
void expect_skips_like_steps() {
  for (unsigned start = 0; start < 7; ++start) {
    for (unsigned count = 0; count < 20; ++count) {
      RingPosition<stages, Signal> skipped, stepped;
      for (unsigned i = 0; i < start; ++i) skipped.step(), stepped.step();
      skipped.skip(count);
      for (unsigned i = 0; i < count; ++i) stepped.step();
      ASSERT_EQ(skipped.slot, stepped.slot) << start << ", " << count;
      ASSERT_EQ(skipped.lap, stepped.lap) << start << ", " << count;
      ASSERT_EQ(skipped.steps, stepped.steps) << start << ", " << count;
    }
  }
}
TEST(HookSkip, IsManySteps) {
  expect_skips_like_steps<Mbarriers>();
  expect_skips_like_steps<SingleCounters>();
  expect_skips_like_steps<SplitCounters>();
}

}  // namespace
}  // namespace tw::hooks
