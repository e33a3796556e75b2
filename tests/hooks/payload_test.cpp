// A stage whose parts come from two roles in two ways, and go to two roles: A by TMA from one
// thread of Role::Load, B through registers by two warps of Role::Source; Role::Multiply reads both
// by wgmma, Role::Epilogue both by plain loads. Nobody writes a count: the payload names who takes
// part, and the ring adds up. (One role that brings several parts in one way: bind/recipe.h.)
#include "tests/hooks/schedules.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/pipeline/mbarrier.h"
#include "vgpu/tensor_map.h"

namespace tw::hooks {
namespace {

using test::clean;
using test::found;

constexpr Tiling tiling = {.m = 64, .n = 8};
constexpr unsigned stages = 2, k_tiles = 5, k = k_tiles * tiling.k();
constexpr unsigned load_warp = 4, source_warp = 5, source_warps = 2, epilogue_warp = 7;
constexpr unsigned threads = 256;

template <Completion by_threads, unsigned epilogue_arrivals>
struct MixedPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "input";
  static constexpr const char* full_name = "input.full";
  static constexpr const char* empty_name = "input.empty";
  using Tiles = OperandTiles<tiling>;
  using StageTensors = OperandTensors<tiling>;
  using RingTensors = OperandTensors<tiling, sizeof(Tiles)>;
  static constexpr RoleArrivals multiplies = {Role::Multiply, 1};
  static constexpr RoleArrivals finishes = {Role::Epilogue, epilogue_arrivals};
  static constexpr Part parts[2] = {
      {sizeof(Tiles::a), Completion::TransactionBytes, {Role::Load, 1}, {multiplies, finishes}},
      {sizeof(Tiles::b), by_threads, {Role::Source, source_warps}, {multiplies, finishes}},
  };
};

template <class Payload>
struct MixedKernel {
  using Ring = tw::Ring<Payload, stages, Mbarriers>;
  using Tiles = typename Payload::Tiles;
  using Op = WgmmaOp<tiling, 64, sizeof(Tiles)>;
  struct Storage {
    Tiles tiles[stages];
    typename Ring::Barriers barriers;
  };
  static NoTrace trace() { return NoTrace({}, 0, false); }

  const Bf16* b;
  TensorMap a_map;
  std::vector<float>& products;  // by the multiply role: (64, 8)
  std::vector<float>& checks;    // by the epilogue role: of row r, column r % 8

  void run() const {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index(), warp = thread / 32;
    start_together<false>(thread, threads, [&] { Ring::init(storage.barriers, storage.tiles); });
    if (warp < 4) multiply(storage, thread);
    if (warp == load_warp && isa::elect_one()) load(storage);
    if (warp - source_warp < source_warps) bring(storage, thread - source_warp * 32);
    if (warp == epilogue_warp) check(storage, thread % 32);
  }

  void load(Storage& storage) const {
    isa::describe_role("load");
    Producer<Ring, Role::Load, NoTrace> input(storage.barriers, storage.tiles, trace());
    for (unsigned i = 0; i < k_tiles; ++i) {
      const auto stage = input.produce();
      const int at[3] = {static_cast<int>(i * tiling.k()), 0, 0};
      isa::cp_async_bulk_tensor_load(stage.tensors().a.address(), &a_map, stage.full(), at,
                                     isa::CacheHint::EvictNormal);
    }
    input.drain();
  }
  // A thread has a chunk of 16 bytes.
  void bring(Storage& storage, unsigned thread) const {
    isa::describe_role("source");
    Producer<Ring, Role::Source, NoTrace> input(storage.barriers, storage.tiles, trace());
    const unsigned row = thread / 8, chunk = thread % 8;
    for (unsigned i = 0; i < k_tiles; ++i) {
      const auto stage = input.produce();
      const Bf16* from = b + row * k + i * tiling.k() + chunk * 8;
      PlainCopy::chunk(stage.tensors().b.template chunks<16>().address(row, chunk, 0u),
                       reinterpret_cast<const std::uint16_t*>(from), 1, 8, 16);
    }
    input.drain();
  }
  void multiply(Storage& storage, unsigned thread) const {
    isa::describe_role("multiply");
    using Input = Consumer<Ring, Op::release, NoTrace>;
    Input input(storage.barriers, thread, trace());
    Op op(Ring::tensors(storage.tiles), 0, thread);
    typename Op::Accumulator sum;
    {
      Held<typename Input::Token, Op::stages_held> held;
      for (unsigned i = 0; i < k_tiles; ++i) {
        auto stage = input.consume();
        op.multiply(sum, stage);
        held.keep(std::move(stage));
      }
      op.finish(sum);
    }
    for (unsigned i = 0; i < Op::Accumulator::fragment_size; ++i) {
      products[Op::Accumulator::row_of(thread, i) * 8 + Op::Accumulator::column_of(thread, i)] =
          sum.value(0, i);
    }
  }
  void check(Storage& storage, unsigned lane) const {
    isa::describe_role("epilogue");
    Consumer<Ring, Release::Warp, NoTrace> input(storage.barriers, lane, trace());
    for (unsigned i = 0; i < k_tiles; ++i) {
      const auto stage = input.consume();
      const Tiles& tiles = storage.tiles[stage.slot()];
      for (unsigned row = lane; row < 64; row += 32) {
        for (unsigned column = 0; column < tiling.k(); ++column) {
          const unsigned at = (column / 8 ^ row % 8) * 16 + column % 8 * 2;
          checks[row] += read(tiles.a + row * 128 + at) * read(tiles.b + row % 8 * 128 + at);
        }
      }
    }
  }
  static float read(const unsigned char* at) {
    return float{Bf16::from_bits(test::load_shared(reinterpret_cast<const std::uint16_t*>(at)))};
  }
};

// Sums that are right, of small integers.
template <class Payload>
vgpu::Report run_mixed(const vgpu::Options& options, bool compares) {
  std::vector<Bf16> a(64 * k), b(8 * k);
  for (unsigned i = 0; i < a.size(); ++i) a[i] = Bf16(float(int(i * 7 % 9) - 4));
  for (unsigned i = 0; i < b.size(); ++i) b[i] = Bf16(float(int(i * 5 % 7) - 3));
  std::vector<float> products(64 * 8), checks(64);
  MixedKernel<Payload> kernel = {b.data(), {}, products, checks};
  const Status status = encode_for_virtual(kernel.a_map, {.base = a.data(),
                                                          .inner = k,
                                                          .outer = 64,
                                                          .pitch_bytes = k * 2,
                                                          .box_inner = 64,
                                                          .box_outer = 64});
  EXPECT_TRUE(status.is_good()) << status.sentence();
  const std::vector<vgpu::GlobalRange> memory = {{a.data(), a.size() * 2, "A", true, false},
                                                 {b.data(), b.size() * 2, "B", true, false}};
  const vgpu::Report report = vgpu::run(
      {1, 1, threads, sizeof(typename MixedKernel<Payload>::Storage), [&] { kernel.run(); }},
      memory, options);
  for (unsigned row = 0; compares && row < 64; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      float wanted = 0;
      for (unsigned i = 0; i < k; ++i) wanted += float(a[row * k + i]) * float(b[column * k + i]);
      EXPECT_EQ(products[row * 8 + column], wanted) << row << ", " << column;
      if (column == row % 8) {
        EXPECT_EQ(checks[row], wanted) << row;
      }
    }
  }
  return report;
}

using Right = MixedPayload<Completion::WarpsArriveFenced, 1>;
using Counts = PayloadCounts<Right>;
static_assert(Counts::full_arrivals == 1 + source_warps);  // one thread and its bytes, two warps
static_assert(Counts::empty_arrivals == 1 + 1);            // a warpgroup and a warp
static_assert(Counts::bytes_by(Role::Load) == tiling.a_bytes());
static_assert(Counts::bytes_by(Role::Source) == 0);
static_assert(Counts::completion_by(Role::Source) == Completion::WarpsArriveFenced);

TEST(HookPayload, PartsOfTwoRolesAreReadByTwoRoles) {
  under_every_schedule(
      [](const vgpu::Options& options) { ASSERT_TRUE(clean(run_mixed<Right>(options, true))); });
}

// wgmma reads what threads wrote: their completion must be the fenced one.
TEST(HookPayload, FindsThePartWithTheWrongCompletion) {
  under_every_schedule([](const vgpu::Options& options) {
    const vgpu::Report report = run_mixed<MixedPayload<Completion::WarpsArrive, 1>>(options, false);
    ASSERT_TRUE(found(report, vgpu::Checker::MissingProxyFence));
  });
}

// A role that reads and is not named arrives all the same.
TEST(HookPayload, FindsTheReaderThatNoPartNames) {
  using Forgets = MixedPayload<Completion::WarpsArriveFenced, 0>;
  static_assert(PayloadCounts<Forgets>::empty_arrivals == 1);
  under_every_schedule([](const vgpu::Options& options) {
    ASSERT_TRUE(found(run_mixed<Forgets>(options, false), vgpu::Checker::OverwriteWhileRead));
  });
}

}  // namespace
}  // namespace tw::hooks
