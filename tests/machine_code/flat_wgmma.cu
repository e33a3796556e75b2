// The instance coop_128x256_2x1 as an expert writes it by hand: one function, plain variables,
// address arithmetic, nothing of the library but its instruction wrappers. compare.py holds the
// composed kernel to this one, so the statements stand in the same order.
//
// D = epilogue(A (m by k) B (n by k)^T) of a batch, in tiles of 128 by 256 by 64. The two
// CTAs of a cluster stand above each other: each loads half of the B tile and sends it to both. One
// thread loads through four stages; two warpgroups multiply 64 rows each and store through two
// buffers each.
#include "flat_matrix_epilogue.h"
#include "flat_tiles.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_store.h"
#include "tilewright/isa/ptx/wgmma.h"

namespace isa = tw::isa;
using tw::Bf16;
using tw::SharedAddress;

constexpr unsigned stages = 4;

struct Stage {
  alignas(1024) Bf16 a[128 * 64];  // (m,k) 128-byte swizzle
  alignas(1024) Bf16 b[256 * 64];  // (n,k) 128-byte swizzle
};

struct Shared {
  Stage tiles[stages];
  alignas(1024) unsigned char output[2][2][64 * 64 * 2];  // two buffers per multiplying group
  std::uint64_t full[stages];   // full[s]: arrives the loading thread + bytes of a and b; publishes
                                // tiles[s]; waited by both groups
  std::uint64_t empty[stages];  // empty[s]: arrives one thread per group of both CTAs; publishes
                                // that tiles[s] may be overwritten; waited by the loading thread
};

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    flat_matmul(const __grid_constant__ flat::Params params) {
  Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::mbarrier_init(isa::shared_address(&shared.full[stage]), 1);
      isa::mbarrier_init(isa::shared_address(&shared.empty[stage]), 4);
    }
    isa::fence_mbarrier_init();
  }
  isa::cluster_arrive();
  // Copies of A reach this CTA alone: those of the first tile's first stages need not wait until
  // the cluster has met.
  int begun = 0;
  if (thread == 0) {
    isa::prefetch_tensormap(&params.a);
    isa::prefetch_tensormap(&params.b);
    const int index = blockIdx.x / 2;
    if (index < params.tiles_m * params.tiles_n * params.batches) {
      const flat::Tile tile = flat::tile_at(params, index, isa::cluster_rank());
      begun = params.k_tiles < 3 ? params.k_tiles : 3;
      for (int k = 0; k < begun; ++k) {
        const int a_corner[3] = {k * 64, first_row(params, tile), tile.batch};
        isa::cp_async_bulk_tensor_load(isa::shared_address(shared.tiles[k].a), &params.a,
                                       isa::shared_address(&shared.full[k]), a_corner,
                                       isa::CacheHint::EvictNormal);
      }
    }
  }
  if (thread < 32) begun = static_cast<int>(isa::shuffle(begun, 0));
  isa::cluster_wait();

  const unsigned warp = isa::shuffle(thread / 32, 0);
  if (warp >= 4) {
    isa::setmaxnreg_increase<240>();
    const unsigned group = (warp - 4) / 4;
    const unsigned thread_in_group = thread - 128 - group * 128;
    const unsigned rank = isa::cluster_rank();
    // Threads 0 and 1 of a group let go of a stage: each in the CTA of its number.
    const bool signals = thread_in_group < 2;
    const SharedAddress full = isa::shared_address(shared.full);
    const SharedAddress empty =
        isa::mapa(isa::shared_address(shared.empty), signals ? thread_in_group : 0);
    // Rows of 128 bytes, swizzled over 128 bytes, eight rows every 1024 bytes; units of 16 bytes.
    const std::uint64_t descriptor =
        std::uint64_t{1} << 62 | std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;
    const std::uint32_t first_a =
        isa::shuffle((isa::shared_address(shared.tiles[0].a) + group * (64 * 64 * 2)) >> 4, 0);
    const std::uint32_t first_b = isa::shuffle(isa::shared_address(shared.tiles[0].b) >> 4, 0);
    flat::Group output = {thread_in_group, 1 + group, thread_in_group == 0, shared.output[group],
                          0};
    unsigned slot = 0;
    unsigned lap = 0;
    unsigned late = group * 2;  // the second group starts two stages behind

    for (int index = blockIdx.x / 2; index < params.tiles_m * params.tiles_n * params.batches;
         index += gridDim.x / 2) {
      const flat::Tile tile = flat::tile_at(params, index, rank);
      if (late > 0) {
        if (static_cast<int>(late) < params.k_tiles) {
          while (!isa::mbarrier_try_wait_parity(full + 8 * late, 0)) {
          }
        }
        late = 0;
      }

      flat::prefetch_bias(params.output, first_column(params, tile), thread_in_group);
      float sum[128];
      bool started = false;
      SharedAddress held = 0;  // the barrier of the stage whose products are in flight
      for (int k = 0; k != params.k_tiles; ++k) {
        const unsigned stage = slot;
        while (!isa::mbarrier_try_wait_parity(full + 8 * stage, lap)) {
        }
        if (++slot == stages) {
          slot = 0;
          lap ^= 1;
        }
        const SharedAddress signal = signals ? empty + 8 * stage : 0;
        const std::uint64_t a = descriptor + first_a + stage * unsigned{sizeof(Stage) / 16};
        const std::uint64_t b = descriptor + first_b + stage * unsigned{sizeof(Stage) / 16};
        isa::wgmma_fence();
        isa::wgmma<tw::WgmmaShape{.n = 256}>(sum, a, b, started);
        isa::wgmma<tw::WgmmaShape{.n = 256}>(sum, a + 2, b + 2, true);
        isa::wgmma<tw::WgmmaShape{.n = 256}>(sum, a + 4, b + 4, true);
        isa::wgmma<tw::WgmmaShape{.n = 256}>(sum, a + 6, b + 6, true);
        isa::wgmma_commit_group();
        started = true;
        isa::wgmma_wait_group<1>();
        if (held != 0) isa::mbarrier_arrive_cluster(held);
        held = signal;
      }
      isa::wgmma_wait_group<0>();
      if (!started) {
        TW_UNROLL
        for (unsigned i = 0; i < 128; ++i) sum[i] = 0.0f;
      }
      if (held != 0) isa::mbarrier_arrive_cluster(held);

      flat::store(params.output, output, sum, tile.batch,
                  first_row(params, tile) + static_cast<int>(group * 64),
                  first_column(params, tile), params.m);
    }
    if (output.stores) isa::cp_async_bulk_wait_group_read<0>();
  } else {
    isa::setmaxnreg_decrease<24>();
    if (warp == 0 && isa::elect_one()) {
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
          if (begun > 0) {
            --begun;
          } else {
            isa::cp_async_bulk_tensor_load(a, &params.a, full + 8 * stage, a_corner,
                                           isa::CacheHint::EvictNormal);
          }
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
  }
}
