// A stage has two parts, which two roles bring in two ways: a thread lets TMA copy a tile, a warp
// computes a weight for each row. Two warps add up columns with these weights.
#pragma once

#include <tilewright/isa/ptx/tma.h>
#include <tilewright/layout/shared_tile.h>
#include <tilewright/layout/text.h>
#include <tilewright/number/narrow_float.h>
#include <tilewright/pipeline/mbarrier.h>
#include <tilewright/pipeline/ring.h>

using namespace tw;
constexpr unsigned rows = 32, columns = 64, tiles = 8, m = rows * tiles, stages = 3, threads = 128;
constexpr Role weigh = "weigh", add = "add";
constexpr Layout layout = parse_layout("Sw<3,3,3> o (32,64):(64,1)"), line = parse_layout("32:1");

struct Payload {
  static constexpr Space space = Space::Shared;
  static constexpr const char *name = "input", *full_name = "input.full",
                              *empty_name = "input.empty";
  struct Tiles {
    alignas(1024) Bf16 a[rows * columns];
    float weights[rows];
  };
  struct StageTensors {  // as TMA sees a stage
    TW_DEVICE explicit StageTensors(SharedAddress first) : a(first) {}
    SharedTile<Bf16, layout> a;
  };
  // Bytes, how they are announced, who loads and who reads them, with how many arrivals. That
  // `full` expects 2 arrivals and 4096 bytes, and `empty` 2 arrivals, follows.
  static constexpr Part parts[2] = {
      {sizeof(Tiles::a), Completion::TransactionBytes, {Role::Load, 1}, {{add, READERS}}},
      {sizeof(Tiles::weights), Completion::WarpsArrive, {weigh, 1}, {{add, READERS}}}};
};
using InputRing = tw::Ring<Payload, stages, Mbarriers>;
struct Shared {
  Payload::Tiles tiles[stages];
  InputRing::Barriers input;
};

TW_DEVICE void run(const TensorMap& a, float* sums) {
  Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
  const unsigned thread = isa::thread_index(), warp = isa::shuffle(thread / 32, 0);
  const NoTrace trace({}, 0, false);
  start_together<false>(thread, threads, [&] { InputRing::init(shared.input, shared.tiles); });
  if (warp == 0 && isa::elect_one()) {
    isa::describe_role("load");
    Producer<InputRing, Role::Load, NoTrace> input(shared.input, shared.tiles, trace);
    for (unsigned tile = 0; tile < tiles; ++tile) {
      const auto stage = input.produce();
      const int at[3] = {0, static_cast<int>(tile * rows), 0};
      isa::cp_async_bulk_tensor_load(stage.tensors().a.address(), &a, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
    input.drain();
  } else if (warp == 1) {
    isa::describe_role(weigh.name);
    Producer<InputRing, weigh, NoTrace> input(shared.input, shared.tiles, trace);
    for (unsigned tile = 0; tile < tiles; ++tile) {
      const auto stage = input.produce();
      const TileTensor<float, Space::Shared, line> weights(shared.tiles[stage.slot()].weights);
      weights.store(static_cast<float>(1 + (tile * rows + thread % 32) % 3), thread % 32);
    }
    input.drain();
  } else if (warp > 1) {
    isa::describe_role(add.name);
    Consumer<InputRing, Release::Warp, NoTrace> input(shared.input, thread % 32, trace);
    float sum = 0;
    for (unsigned tile = 0; tile < tiles; ++tile) {
      const auto stage = input.consume();
      const TileTensor<Bf16, Space::Shared, layout> values(shared.tiles[stage.slot()].a);
      const TileTensor<float, Space::Shared, line> weights(shared.tiles[stage.slot()].weights);
      for (unsigned i = 0; i < rows; ++i) {
        sum += weights.load(i) * static_cast<float>(values.load(i, thread - 64));
      }
    }
    store_element<Space::Global>(sums + thread - 64, sum);
  }
}
