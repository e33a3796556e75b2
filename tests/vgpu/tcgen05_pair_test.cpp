// tcgen05 by the two CTAs of a pair: each loads its halves, the leader multiplies for both, and
// each reads its rows.
#include <gtest/gtest-spi.h>

#include <bit>

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/isa/ptx/tma_pair.h"

namespace tw::test {
namespace {

constexpr unsigned threads = 160;  // warps 0 to 3 read the accumulators, warp 4 loads or multiplies
constexpr unsigned k_extent = 64;  // one swizzled row
constexpr unsigned a_at = 0, b_at = 16 << 10;
constexpr unsigned full_at = 32 << 10, empty_at = full_at + 8, sum_full_at = full_at + 16,
                   sum_empty_at = full_at + 24, address_slot = full_at + 64;
constexpr unsigned columns = 64;
constexpr std::uint16_t both = 0b11;

struct Matrices {
  unsigned m, n, tiles;
  std::vector<std::uint16_t> a, b;  // (m, tiles * k), (n, tiles * k), row-major
  TensorMap a_map, b_map;

  Matrices(unsigned m_, unsigned n_, unsigned tiles_)
      : m(m_), n(n_), tiles(tiles_), a(m * pitch()), b(n * pitch()) {
    for (unsigned i = 0; i < a.size(); ++i) a[i] = bits(a_value(i / pitch(), i % pitch()));
    for (unsigned i = 0; i < b.size(); ++i) b[i] = bits(b_value(i / pitch(), i % pitch()));
    a_map = map(a, m, m / 2);
    b_map = map(b, n, n / 2);
  }
  unsigned pitch() const { return tiles * k_extent; }
  static std::uint16_t bits(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  }
  static float a_value(unsigned row, unsigned k) { return static_cast<float>((row + k) % 7); }
  static float b_value(unsigned row, unsigned k) { return static_cast<float>((row * 3 + k) % 5); }
  float expected(unsigned row, unsigned column, unsigned tile) const {
    float sum = 0;
    for (unsigned k = tile * k_extent; k < (tile + 1) * k_extent; ++k) {
      sum += a_value(row, k) * b_value(column, k);
    }
    return sum;
  }
  TensorMap map(std::vector<std::uint16_t>& matrix, unsigned rows, unsigned box_rows) const {
    vgpu::TileMap tile;
    tile.base = matrix.data();
    tile.element_bytes = 2;
    tile.rank = 2;
    tile.extents[0] = pitch();
    tile.extents[1] = rows;
    tile.pitch_bytes[0] = 2 * pitch();
    tile.box[0] = k_extent;
    tile.box[1] = box_rows;
    tile.swizzle = vgpu::MapSwizzle::Bytes128;
    return vgpu::encode(tile);
  }
  std::vector<vgpu::GlobalRange> ranges() const {
    return {{a.data(), 2 * a.size(), "a"}, {b.data(), 2 * b.size(), "b"}};
  }
};

struct Planted {
  bool no_wait_for_empty = false;      // the loader overwrites operands
  bool own_full = false;               // the follower signals its own barrier
  bool no_wait_for_sums = false;       // the multiplier overwrites accumulators
  bool no_fence_before = false;        // the follower's epilogue hands on without it
  bool commit_to_leader_only = false;  // the follower never learns
};

void init_barriers() {
  if (isa::thread_index() == 0) {
    isa::mbarrier_init(address_at(full_at), 1);
    isa::mbarrier_init(address_at(empty_at), 1);
    isa::mbarrier_init(address_at(sum_full_at), 1);
    isa::mbarrier_init(address_at(sum_empty_at), 2 * 128);
    isa::fence_mbarrier_init();
  }
  isa::cluster_arrive();
  isa::cluster_wait();
}

void load(const Matrices& matrices, unsigned tile, const Planted& planted) {
  const unsigned rank = isa::cluster_rank();
  const SharedAddress full =
      planted.own_full ? address_at(full_at) : isa::leader_barrier(address_at(full_at));
  if (rank == 0) {
    // Both CTAs' bytes arrive here.
    isa::mbarrier_arrive_expect_tx(address_at(full_at), 2 * k_extent * (matrices.m + matrices.n));
  }
  const int a_place[2] = {static_cast<int>(tile * k_extent),
                          static_cast<int>(rank * matrices.m / 2)};
  const int b_place[2] = {static_cast<int>(tile * k_extent),
                          static_cast<int>(rank * matrices.n / 2)};
  isa::cp_async_bulk_tensor_load_pair(address_at(a_at), &matrices.a_map, full, a_place,
                                      isa::CacheHint::EvictNormal);
  isa::cp_async_bulk_tensor_load_pair(address_at(b_at), &matrices.b_map, full, b_place,
                                      isa::CacheHint::EvictNormal);
}

void multiply(TensorAddress d, const Matrices& matrices) {
  const std::uint32_t instruction = isa::tcgen05_instruction_descriptor(
      {.m = matrices.m, .n = matrices.n, .a = isa::mma_format::bf16, .b = isa::mma_format::bf16});
  for (unsigned k = 0; k < k_extent; k += 16) {
    const auto operand = [&](unsigned at) {
      return isa::tcgen05_k_major_descriptor(address_at(at + 2 * k), isa::OperandSwizzle::Bytes128);
    };
    isa::tcgen05_mma<MmaKind::F16, 2>(d, operand(a_at), operand(b_at), instruction, k != 0);
  }
}

void check_rows(TensorAddress d, const Matrices& matrices, unsigned tile) {
  const unsigned lane = isa::thread_index(), rank = isa::cluster_rank();
  std::uint32_t values[32];
  isa::tcgen05_load(values, d | (lane / 32 * 32) << 16);
  isa::tcgen05_wait_load();
  // 256 rows: lane = row. 128 rows: the upper lanes hold the upper half of the columns.
  const bool folded = matrices.m == 128;
  const unsigned row = rank * matrices.m / 2 + (folded ? lane % 64 : lane);
  const unsigned first = folded ? lane / 64 * matrices.n / 2 : 0;
  for (unsigned i = 0; i < std::min(32u, folded ? matrices.n / 2 : matrices.n); ++i) {
    EXPECT_EQ(std::bit_cast<float>(values[i]), matrices.expected(row, first + i, tile));
  }
}

void kernel_body(const Matrices& matrices, const Planted& planted) {
  const unsigned rank = isa::cluster_rank();
  const bool epilogue = isa::thread_index() < 128;
  isa::describe_role(epilogue ? "epilogue" : "multiply");
  init_barriers();
  if (!epilogue) isa::tcgen05_alloc<2>(address_at(address_slot), columns);
  isa::barrier_sync(0, threads);
  const TensorAddress d = load_shared(shared_at<TensorAddress>(address_slot));
  for (unsigned tile = 0; tile < matrices.tiles; ++tile) {
    if (isa::thread_index() == 128) {
      if (tile > 0 && !planted.no_wait_for_empty) wait(address_at(empty_at), (tile - 1) % 2);
      load(matrices, tile, planted);
      if (rank == 0) {
        wait(address_at(full_at), tile % 2);
        if (tile > 0 && !planted.no_wait_for_sums) wait(address_at(sum_empty_at), (tile - 1) % 2);
        isa::tcgen05_fence_after_thread_sync();
        multiply(d, matrices);
        isa::tcgen05_commit_multicast<2>(address_at(empty_at), both);
        isa::tcgen05_commit_multicast<2>(address_at(sum_full_at),
                                         planted.commit_to_leader_only ? 1 : both);
      }
    }
    if (epilogue) {
      wait(address_at(sum_full_at), tile % 2);
      isa::tcgen05_fence_after_thread_sync();
      check_rows(d, matrices, tile);
      if (!planted.no_fence_before || rank == 0) isa::tcgen05_fence_before_thread_sync();
      isa::mbarrier_arrive_cluster(isa::mapa(address_at(sum_empty_at), 0));
    }
  }
  isa::barrier_sync(0, threads);
  isa::cluster_arrive();  // nobody leaves while the peer may still signal it
  isa::cluster_wait();
  if (epilogue) return;
  isa::tcgen05_relinquish_alloc_permit<2>();
  isa::tcgen05_dealloc<2>(d, columns);
}

struct Tcgen05PairTest : ::testing::TestWithParam<std::tuple<Landing, unsigned>> {
  Kernel kernel{.threads = threads,
                .ctas = 2,
                .cluster_size = 2,
                .options = {.landing = std::get<0>(GetParam()), .seed = std::get<1>(GetParam())}};

  Report run(unsigned m, unsigned n, unsigned tiles, const Planted& planted = {}) {
    const Matrices matrices(m, n, tiles);
    kernel.memory = matrices.ranges();
    return kernel.run([&] { kernel_body(matrices, planted); });
  }
};

TEST_P(Tcgen05PairTest, MultipliesTwoHundredFiftySixRows) {
  EXPECT_TRUE(clean(run(256, 32, 3)));
  EXPECT_TRUE(clean(run(256, 64, 2)));
}

TEST_P(Tcgen05PairTest, FoldsOneHundredTwentyEightRows) { EXPECT_TRUE(clean(run(128, 64, 3))); }

// Each planted kernel computes wrong numbers, too: only the finding counts.
#define EXPECT_FOUND(PLANTED, CHECKER, WORDS)                                                     \
  {                                                                                               \
    ::testing::TestPartResultArray failures;                                                      \
    Report report;                                                                                \
    {                                                                                             \
      ::testing::ScopedFakeTestPartResultReporter reporter(                                       \
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures); \
      report = run(256, 32, 3, PLANTED);                                                          \
    }                                                                                             \
    EXPECT_TRUE(found(report, CHECKER, WORDS));                                                   \
  }

TEST_P(Tcgen05PairTest, OperandsOfBothCtasAreGuarded) {
  EXPECT_FOUND({.no_wait_for_empty = true}, Checker::OverwriteWhileRead, "TMA load writes");
}

TEST_P(Tcgen05PairTest, TheLeaderMustHearOfTheFollowersBytes) {
  EXPECT_FOUND({.own_full = true}, Checker::TransactionBytes, "");
}

TEST_P(Tcgen05PairTest, AccumulatorsOfBothCtasAreGuarded) {
  EXPECT_FOUND({.no_wait_for_sums = true}, Checker::OverwriteWhileRead, "tcgen05.ld");
  EXPECT_FOUND({.no_fence_before = true}, Checker::MissingTensorFence,
               "tensor memory of CTA 1, after tcgen05.ld");
}

TEST_P(Tcgen05PairTest, AFollowerWithoutTheCommitWaitsForEver) {
  EXPECT_FOUND({.commit_to_leader_only = true}, Checker::Deadlock, "epilogue in CTA 1");
}

TEST_P(Tcgen05PairTest, BothCtasMustAllocate) {
  const Report report = kernel.run([] {
    if (isa::thread_index() < 128 || isa::cluster_rank() == 1) return;
    isa::tcgen05_alloc<2>(address_at(address_slot), columns);
  });
  EXPECT_TRUE(found(report, Checker::Deadlock, "peer CTA"));
}

TEST_P(Tcgen05PairTest, MulticastSignalsTheLeaderOfEachPair) {
  std::vector<std::uint8_t> source(8 * 32, 7);
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  kernel.ctas = kernel.cluster_size = 4;
  kernel.options.sm_count = 4;
  kernel.threads = 32;
  kernel.memory = {range_of(source, "source")};
  EXPECT_TRUE(clean(kernel.run([&] {
    if (isa::thread_index() == 0) {
      isa::mbarrier_init(address_at(full_at), 1);
      isa::fence_mbarrier_init();
    }
    isa::cluster_arrive();
    isa::cluster_wait();
    const unsigned rank = isa::cluster_rank();
    if (isa::thread_index() == 0 && rank % 2 == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(full_at), 512);  // its own and its peer's
    }
    if (isa::thread_index() == 0 && rank == 1) {
      const int at[2] = {0, 0};
      isa::cp_async_bulk_tensor_load_pair_multicast(address_at(0), &map,
                                                    isa::leader_barrier(address_at(full_at)), at,
                                                    0b1111, isa::CacheHint::EvictNormal);
    }
    if (rank % 2 == 0) {
      wait(address_at(full_at), 0);
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(isa::thread_index())), 7);
    }
    isa::cluster_arrive();
    isa::cluster_wait();
  })));
}

TEST_P(Tcgen05PairTest, OnlyThePeersBarrierIsInReach) {
  std::vector<std::uint8_t> source(8 * 32, 7);
  const TensorMap map = byte_map(source, 8, 32, 8, 32);
  kernel.ctas = kernel.cluster_size = 4;
  kernel.threads = 32;
  kernel.memory = {range_of(source, "source")};
  const Report report = kernel.run([&] {
    if (isa::thread_index() != 0 || isa::cluster_rank() != 3) return;
    const int at[2] = {0, 0};
    isa::cp_async_bulk_tensor_load_pair(address_at(0), &map, isa::mapa(address_at(full_at), 0), at,
                                        isa::CacheHint::EvictNormal);
  });
  EXPECT_TRUE(found(report, Checker::Bounds, "or in the peer there"));
}

INSTANTIATE_TEST_SUITE_P(, Tcgen05PairTest,
                         ::testing::Combine(::testing::ValuesIn(every_landing),
                                            ::testing::Values(1u, 2u, 3u)),
                         [](const auto& info) {
                           return std::string(vgpu::name_of(std::get<0>(info.param))) +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tw::test
