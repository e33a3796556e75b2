// The instance blackwell_bf16 in clusters of two as an expert writes it by hand: one function,
// plain variables, address arithmetic, nothing of the library but its instruction wrappers.
// compare.py holds the composed kernel to this one, so the statements stand in the same order.
//
// D = epilogue(A (m by k) B (n by k)^T) of a batch, in tiles of 128 by 256 by 64. The two
// CTAs of a cluster stand above each other: each loads half of the B tile and sends it to both. One
// thread loads through four stages; one multiplies into two sums in tensor memory, in turns; four
// warps read the other sum and store through two buffers.
#include "flat_row_epilogue.h"
#include "flat_tiles.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_store.h"

namespace isa = tw::isa;
using tw::Bf16;
using tw::SharedAddress;
using tw::TensorAddress;

constexpr unsigned stages = 4;

struct Stage {
  alignas(1024) Bf16 a[128 * 64];  // (m,k) 128-byte swizzle
  alignas(1024) Bf16 b[256 * 64];  // (n,k) 128-byte swizzle
};

struct Shared {
  Stage tiles[stages];
  alignas(1024) unsigned char output[2][128 * 128];
  std::uint64_t full[stages];   // full[s]: arrives the loading thread + bytes of a and b; publishes
                                // tiles[s]; waited by the multiplying thread
  std::uint64_t empty[stages];  // empty[s]: arrives the tensor core of both CTAs; publishes that
                                // tiles[s] may be overwritten; waited by the loading thread
  std::uint64_t sum_full[2];    // sum_full[s]: arrives the tensor core; publishes sum s; waited by
                                // the storing warps
  std::uint64_t sum_empty[2];   // sum_empty[s]: arrives each storing warp; publishes that sum s may
                                // be overwritten; waited by the multiplying thread
  std::uint32_t sums;           // where they are in tensor memory
};

// n / 8, m / 16, B and A are bf16, sums are fp32.
constexpr std::uint32_t instruction = 256 / 8 << 17 | 128 / 16 << 24 | 1 << 10 | 1 << 7 | 1 << 4;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(192, 1)
    flat_matmul(const __grid_constant__ flat::Params params) {
  Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::mbarrier_init(isa::shared_address(&shared.full[stage]), 1);
      isa::mbarrier_init(isa::shared_address(&shared.empty[stage]), 2);
    }
    for (unsigned sum = 0; sum < 2; ++sum) {
      isa::mbarrier_init(isa::shared_address(&shared.sum_full[sum]), 1);
      isa::mbarrier_init(isa::shared_address(&shared.sum_empty[sum]), 4);
    }
    isa::fence_mbarrier_init();
  }
  isa::cluster_arrive();
  isa::cluster_wait();

  const unsigned warp = isa::shuffle(thread / 32, 0);
  if (warp == 5) {
    isa::tcgen05_alloc<1>(isa::shared_address(&shared.sums), 512);
    isa::tcgen05_relinquish_alloc_permit<1>();
    isa::tcgen05_fence_before_thread_sync();
    isa::barrier_sync(2, 160);
    const TensorAddress sums = isa::load_shared_4(isa::shared_address(&shared.sums));
    if (isa::elect_one()) {
      const SharedAddress full = isa::shared_address(shared.full);
      const SharedAddress empty = isa::shared_address(shared.empty);
      const SharedAddress sum_full = isa::shared_address(shared.sum_full);
      const SharedAddress sum_empty = isa::shared_address(shared.sum_empty);
      // Rows of 128 bytes, swizzled over 128 bytes, eight rows every 1024 bytes; units of 16 bytes.
      const std::uint64_t descriptor = std::uint64_t{2} << 61 | std::uint64_t{1} << 46 |
                                       std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;
      // Without the CTA's rank, which stands above the address in a cluster.
      const std::uint32_t first_a = (isa::shared_address(shared.tiles[0].a) & 0x3ffff) >> 4;
      unsigned slot = 0;
      unsigned lap = 0;
      unsigned sum_slot = 0;
      unsigned sum_lap = 0;
      for (int index = blockIdx.x / 2; index < params.tiles_m * params.tiles_n * params.batches;
           index += gridDim.x / 2) {
        const unsigned sum_stage = sum_slot;
        while (!isa::mbarrier_try_wait_parity(sum_empty + 8 * sum_stage, sum_lap ^ 1)) {
        }
        isa::tcgen05_fence_after_thread_sync();
        if (++sum_slot == 2) {
          sum_slot = 0;
          sum_lap ^= 1;
        }
        const TensorAddress sum = sums + sum_stage * 256;
        bool started = false;
        for (int k = 0; k != params.k_tiles; ++k) {
          const unsigned stage = slot;
          while (!isa::mbarrier_try_wait_parity(full + 8 * stage, lap)) {
          }
          if (++slot == stages) {
            slot = 0;
            lap ^= 1;
          }
          const std::uint64_t a = descriptor + (first_a + stage * unsigned{sizeof(Stage) / 16});
          const std::uint64_t b = a + sizeof(Stage::a) / 16;
          constexpr tw::MmaKind kind = tw::MmaKind::F16;
          isa::tcgen05_mma<kind, 1>(sum, a, b, instruction, started);
          isa::tcgen05_mma<kind, 1>(sum, a + 2, b + 2, instruction, true);
          isa::tcgen05_mma<kind, 1>(sum, a + 4, b + 4, instruction, true);
          isa::tcgen05_mma<kind, 1>(sum, a + 6, b + 6, instruction, true);
          started = true;
          isa::tcgen05_commit_multicast<1>(empty + 8 * stage, 0b11);
        }
        isa::tcgen05_commit<1>(sum_full + 8 * sum_stage);
      }
      // The sums are freed below: the storing warps must have read them.
      for (unsigned sum = 0; sum < 2; ++sum) {
        while (!isa::mbarrier_try_wait_parity(sum_empty + 8 * sum_slot, sum_lap ^ 1)) {
        }
        if (++sum_slot == 2) {
          sum_slot = 0;
          sum_lap ^= 1;
        }
      }
      isa::tcgen05_fence_after_thread_sync();
    }
    isa::warp_sync();
    isa::tcgen05_dealloc<1>(sums, 512);
  } else {
    if (warp == 4 && isa::elect_one()) {
      const unsigned rank = isa::cluster_rank();
      isa::prefetch_tensormap(&params.a);
      isa::prefetch_tensormap(&params.b);
      const SharedAddress full = isa::shared_address(shared.full);
      const SharedAddress empty = isa::shared_address(shared.empty);
      const SharedAddress tiles = isa::shared_address(shared.tiles);
      unsigned slot = 0;
      unsigned lap = 0;
      for (int index = blockIdx.x / 2; index < params.tiles_m * params.tiles_n * params.batches;
           index += gridDim.x / 2) {
        const flat::Tile tile = flat::tile_at(params, index, rank);
        for (int k = 0; k != params.k_tiles; ++k) {
          const unsigned stage = slot;
          while (!isa::mbarrier_try_wait_parity(empty + 8 * stage, lap ^ 1)) {
          }
          if (++slot == stages) {
            slot = 0;
            lap ^= 1;
          }
          const SharedAddress a = tiles + stage * unsigned{sizeof(Stage)};
          const SharedAddress b = a + sizeof(Stage::a) + rank * (sizeof(Stage::b) / 2);
          const int a_corner[3] = {k * 64, first_row(params, tile), tile.batch};
          const int b_corner[3] = {
              k * 64, first_column(params, tile) + static_cast<int>(rank * 128), tile.batch};
          isa::cp_async_bulk_tensor_load(a, &params.a, full + 8 * stage, a_corner,
                                         isa::CacheHint::EvictNormal);
          isa::cp_async_bulk_tensor_load_multicast(b, &params.b, full + 8 * stage, b_corner, 0b11,
                                                   isa::CacheHint::EvictNormal);
          isa::mbarrier_arrive_expect_tx(full + 8 * stage, sizeof(Stage));
        }
      }
      // The other CTA still signals these barriers: stay until it has let go of every stage.
      for (unsigned stage = 0; stage < stages; ++stage) {
        while (!isa::mbarrier_try_wait_parity(empty + 8 * slot, lap ^ 1)) {
        }
        if (++slot == stages) {
          slot = 0;
          lap ^= 1;
        }
      }
    }
    if (warp < 4) {
      const unsigned rank = isa::cluster_rank();
      const SharedAddress sum_full = isa::shared_address(shared.sum_full);
      const SharedAddress sum_empty = isa::shared_address(shared.sum_empty);
      flat::Group output = {thread, 1, thread == 0, shared.output, 0};
      isa::barrier_sync(2, 160);
      isa::tcgen05_fence_after_thread_sync();
      // A warp reaches the lanes of its place.
      const TensorAddress sums =
          isa::load_shared_4(isa::shared_address(&shared.sums)) + (thread / 32 * 32 << 16);
      unsigned slot = 0;
      unsigned lap = 0;
      for (int index = blockIdx.x / 2; index < params.tiles_m * params.tiles_n * params.batches;
           index += gridDim.x / 2) {
        const flat::Tile tile = flat::tile_at(params, index, rank);
        flat::prefetch_bias(params.output, first_column(params, tile), thread);
        const unsigned stage = slot;
        while (!isa::mbarrier_try_wait_parity(sum_full + 8 * stage, lap)) {
        }
        isa::tcgen05_fence_after_thread_sync();
        if (++slot == 2) {
          slot = 0;
          lap ^= 1;
        }
        flat::store(params.output, output, sums + stage * 256, sum_empty + 8 * stage,
                    params.k_tiles > 0, tile.batch, first_row(params, tile),
                    first_column(params, tile), params.m);
      }
      if (output.stores) isa::cp_async_bulk_wait_group_read<0>();
    }
  }
}
