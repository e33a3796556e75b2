// Sums of the columns of a bf16 matrix, on the virtual GPU over 40 schedules: one thread loads
// tiles by TMA into a ring, two warps add them up.
#include <tilewright/isa/ptx/tma.h>
#include <tilewright/layout/shared_tile.h>
#include <tilewright/layout/text.h>
#include <tilewright/number/narrow_float.h>
#include <tilewright/pipeline/mbarrier.h>
#include <tilewright/pipeline/ring.h>
#include <vgpu/schedules.h>

using namespace tw;
constexpr unsigned rows = 64, columns = 64, m = 10 * rows, stages = 3, threads = 96;
constexpr Role add = "add";
// (row,column), in lines of 128 bytes, swizzled as TMA writes them.
constexpr Layout layout = parse_layout("Sw<3,3,3> o (64,64):(64,1)");

struct Payload {
  static constexpr Space space = Space::Shared;
  static constexpr const char *name = "input", *full_name = "input.full",
                              *empty_name = "input.empty";
  struct Tiles {
    alignas(1024) Bf16 a[rows * columns];
  };
  using StageTensors = SharedTile<Bf16, layout>;  // what the loader sees of a stage
  // TMA counts the bytes of a tile, and each of two warps arrives when it has read it.
  static constexpr Part parts[1] = {
      {sizeof(Tiles), Completion::TransactionBytes, {Role::Load, 1}, {{add, 2}}}};
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
    for (int at[3] = {}; at[1] < int{m}; at[1] += rows) {
      const auto stage = input.produce();
      isa::cp_async_bulk_tensor_load(stage.tensors().address(), &a, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
    input.drain();
  } else if (warp > 0) {
    isa::describe_role(add.name);
    Consumer<InputRing, Release::Warp, NoTrace> input(shared.input, thread % 32, trace);
    float sum = 0;
    for (unsigned row = 0; row < m; row += rows) {
      auto stage = input.consume();
      const TileTensor<Bf16, Space::Shared, layout> tile(shared.tiles[stage.slot()].a);
      for (unsigned i = 0; i < rows; ++i) {
        if (i == ROWS_HELD) auto gone = std::move(stage);  // the token dies, and signals
        sum += static_cast<float>(tile.load(i, thread - 32));
      }
    }
    store_element<Space::Global>(sums + thread - 32, sum);
  }
}

alignas(128) static Bf16 a[m * columns];
static float sums[columns], right[columns];
int main() {
  for (unsigned i = 0; i < m * columns; ++i) {
    a[i] = Bf16(static_cast<float>(i * 7 % 11));
    right[i % columns] += static_cast<float>(a[i]);
  }
  auto map = map_for_virtual({a, ElementType::Bf16, columns, m, 1, 2 * columns, 0, columns, rows});
  const vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                      {sums, sizeof sums, "sums", false, true}};
  const vgpu::Launch launch = {1, 1, threads, sizeof(Shared), [&] { run(map, sums); }};
  return vgpu::check_schedules(40, launch, memory, [] { return std::ranges::equal(sums, right); });
}
