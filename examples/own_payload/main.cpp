// A stage has two parts, which two roles bring in two ways: a thread lets TMA copy a tile, a warp
// computes a weight for each row. Two warps add up columns with these weights; 40 schedules.
#include <tilewright/isa/ptx/tma.h>
#include <tilewright/layout/shared_tile.h>
#include <tilewright/layout/text.h>
#include <tilewright/number/narrow_float.h>
#include <tilewright/pipeline/mbarrier.h>
#include <tilewright/pipeline/ring.h>
#include <vgpu/schedules.h>
using namespace tw;
constexpr unsigned rows = 32, columns = 64, m = 8 * rows, stages = 3, threads = 128;
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
  using StageTensors = SharedTile<Bf16, layout>;  // what TMA sees of a stage
  // Bytes, how they are announced, who loads and who reads them, with how many arrivals.
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
    Producer<InputRing, Role::Load, NoTrace> input(shared.input, shared.tiles, trace);
    for (int at[3] = {}; at[1] < int{m}; at[1] += rows) {
      const auto stage = input.produce();
      isa::cp_async_bulk_tensor_load(stage.tensors().address(), &a, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
    input.drain();
  } else if (warp == 1) {
    Producer<InputRing, weigh, NoTrace> input(shared.input, shared.tiles, trace);
    for (unsigned row = thread % 32; row < m; row += rows) {
      const auto stage = input.produce();
      const TileTensor<float, Space::Shared, line> weights(shared.tiles[stage.slot()].weights);
      weights.store(static_cast<float>(1 + row % 3), thread % 32);
    }
    input.drain();
  } else if (warp > 1) {
    isa::describe_role(add.name);
    Consumer<InputRing, Release::Warp, NoTrace> input(shared.input, thread % 32, trace);
    float sum = 0;
    for (unsigned row = 0; row < m; row += rows) {
      const auto stage = input.consume();
      const TileTensor<Bf16, Space::Shared, layout> tile(shared.tiles[stage.slot()].a);
      const TileTensor<float, Space::Shared, line> weights(shared.tiles[stage.slot()].weights);
      for (unsigned i = 0; i < rows; ++i) sum += weights.load(i) * float{tile.load(i, thread - 64)};
    }
    store_element<Space::Global>(sums + thread - 64, sum);
  }
}
alignas(128) static Bf16 a[m * columns];
static float sums[columns], right[columns];
int main() {
  for (unsigned i = 0; i < m * columns; ++i) {
    a[i] = Bf16(static_cast<float>(i * 7 % 11));
    right[i % columns] += (1.0f + i / columns % 3) * static_cast<float>(a[i]);
  }
  auto map = map_for_virtual({a, ElementType::Bf16, columns, m, 1, 2 * columns, 0, columns, rows});
  const vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                      {sums, sizeof sums, "sums", false, true}};
  const vgpu::Launch launch = {1, 1, threads, sizeof(Shared), [&] { run(map, sums); }};
  return vgpu::check_schedules(40, launch, memory, [] { return std::ranges::equal(sums, right); });
}
