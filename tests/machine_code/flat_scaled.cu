// The instance mxfp8 as an expert writes its main loop by hand: one function, plain variables,
// address arithmetic, nothing of the library but its instruction wrappers. scaled_loop.py holds the
// composed kernel's k loop to this one, so its statements stand in the same order.
//
// D = A (m by k) B (n by k)^T of e4m3 with a ue8m0 scale for each 32 of k, in tiles of 128 by 128
// by 128. One thread loads elements and scales through five stages; one copies the scales of a
// stage into columns of tensor memory that only this stage uses, and multiplies into two sums, in
// turns; four warps store the other sum. Tiles are whole, and D's rows contiguous bf16.
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_scaled.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"

namespace isa = tw::isa;
using tw::SharedAddress;
using tw::TensorAddress;

constexpr unsigned stages = 5;
constexpr unsigned scale_bytes = 512;  // 128 rows and 128 of k

struct Params {
  tw::TensorMap a, b, a_scales, b_scales;
  uint4* d;  // eight elements each
  int tiles_m, tiles_n, k_tiles;
};

struct Stage {
  alignas(1024) unsigned char a[128 * 128];  // (m,k) 128-byte swizzle
  alignas(1024) unsigned char b[128 * 128];  // (n,k) 128-byte swizzle
  unsigned char a_scales[scale_bytes];
  unsigned char b_scales[scale_bytes];
};

struct Shared {
  Stage tiles[stages];
  std::uint64_t full[stages];  // full[s]: arrives the loading thread + bytes of tiles[s]; publishes
                               // tiles[s]; waited by the multiplying thread
  std::uint64_t empty[stages];  // empty[s]: arrives the tensor core; publishes that tiles[s] and
                                // its columns may be overwritten; waited by the loading thread
  std::uint64_t sum_full[2];    // sum_full[s]: arrives the tensor core; publishes sum s; waited by
                                // the storing warps
  std::uint64_t sum_empty[2];   // sum_empty[s]: arrives each storing warp; publishes that sum s may
                                // be overwritten; waited by the multiplying thread
  std::uint32_t scales;         // where they are in tensor memory
  std::uint32_t sums;
};

// Scales of ue8m0, n / 8, m / 16; both operands are e4m3. `id`: the byte of a column that is scaled
// with.
constexpr std::uint32_t instruction(unsigned id) {
  return id << 29 | 128 / 16 << 24 | 1 << 23 | 128 / 8 << 17 | id << 4;
}

__device__ void step(unsigned& slot, unsigned& lap, unsigned slots) {
  if (++slot == slots) {
    slot = 0;
    lap ^= 1;
  }
}

extern "C" __global__ void __launch_bounds__(192, 1)
    flat_scaled(const __grid_constant__ Params params) {
  Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::mbarrier_init(isa::shared_address(&shared.full[stage]), 1);
      isa::mbarrier_init(isa::shared_address(&shared.empty[stage]), 1);
    }
    for (unsigned sum = 0; sum < 2; ++sum) {
      isa::mbarrier_init(isa::shared_address(&shared.sum_full[sum]), 1);
      isa::mbarrier_init(isa::shared_address(&shared.sum_empty[sum]), 4);
    }
    isa::fence_mbarrier_init();
  }
  isa::barrier_sync(0, 192);

  const SharedAddress full = isa::shared_address(shared.full);
  const SharedAddress empty = isa::shared_address(shared.empty);
  const SharedAddress sum_full = isa::shared_address(shared.sum_full);
  const SharedAddress sum_empty = isa::shared_address(shared.sum_empty);
  const int tiles = params.tiles_m * params.tiles_n;
  const unsigned warp = isa::shuffle(thread / 32, 0);
  if (warp == 5) {
    isa::tcgen05_alloc<1>(isa::shared_address(&shared.scales), 256);
    isa::tcgen05_alloc<1>(isa::shared_address(&shared.sums), 256);
    isa::tcgen05_relinquish_alloc_permit<1>();
    isa::tcgen05_fence_before_thread_sync();
    isa::barrier_sync(2, 160);
    const TensorAddress sums = isa::load_shared_4(isa::shared_address(&shared.sums));
    const TensorAddress scales = isa::load_shared_4(isa::shared_address(&shared.scales));
    if (isa::elect_one()) {
      // Rows of 128 bytes, swizzled over 128 bytes, eight rows every 1024 bytes; units of 16 bytes.
      const std::uint64_t descriptor = std::uint64_t{2} << 61 | std::uint64_t{1} << 46 |
                                       std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;
      // Rows of 16 bytes, eight of them every 128 bytes.
      const std::uint64_t plain =
          std::uint64_t{1} << 46 | std::uint64_t{128 / 16} << 32 | std::uint64_t{1} << 16;
      const std::uint32_t first_a = (isa::shared_address(shared.tiles[0].a) & 0x3ffff) >> 4;
      const std::uint32_t first_scales =
          (isa::shared_address(shared.tiles[0].a_scales) & 0x3ffff) >> 4;
      unsigned slot = 0, lap = 0, sum_slot = 0, sum_lap = 0;
      for (int index = blockIdx.x; index < tiles; index += gridDim.x) {
        const unsigned sum_stage = sum_slot;
        while (!isa::mbarrier_try_wait_parity(sum_empty + 8 * sum_stage, sum_lap ^ 1)) {
        }
        isa::tcgen05_fence_after_thread_sync();
        step(sum_slot, sum_lap, 2);
        const TensorAddress sum = sums + sum_stage * 128;
        bool started = false;
        for (int k = 0; k != params.k_tiles; ++k) {
          const unsigned stage = slot;
          while (!isa::mbarrier_try_wait_parity(full + 8 * stage, lap)) {
          }
          isa::tcgen05_fence_after_thread_sync();
          step(slot, lap, stages);
          const unsigned distance = stage * unsigned{sizeof(Stage) / 16};
          const TensorAddress a_scales = scales + stage * 8;
          const TensorAddress b_scales = a_scales + 4;
          const std::uint64_t from = plain + (first_scales + distance);
          isa::tcgen05_cp_32x128b_warpx4<1>(a_scales, from);
          isa::tcgen05_cp_32x128b_warpx4<1>(b_scales, from + scale_bytes / 16);
          const std::uint64_t a = descriptor + (first_a + distance);
          const std::uint64_t b = a + sizeof(Stage::a) / 16;
          constexpr tw::ScaledMmaKind kind = tw::ScaledMmaKind::Mxf8f6f4;
          isa::tcgen05_mma_scaled<kind, 1>(sum, a, b, instruction(0), a_scales, b_scales, started);
          isa::tcgen05_mma_scaled<kind, 1>(sum, a + 2, b + 2, instruction(1), a_scales, b_scales,
                                           true);
          isa::tcgen05_mma_scaled<kind, 1>(sum, a + 4, b + 4, instruction(2), a_scales, b_scales,
                                           true);
          isa::tcgen05_mma_scaled<kind, 1>(sum, a + 6, b + 6, instruction(3), a_scales, b_scales,
                                           true);
          started = true;
          isa::tcgen05_commit<1>(empty + 8 * stage);
        }
        isa::tcgen05_commit<1>(sum_full + 8 * sum_stage);
      }
      // The sums are freed below: the storing warps must have read them.
      for (unsigned sum = 0; sum < 2; ++sum) {
        while (!isa::mbarrier_try_wait_parity(sum_empty + 8 * sum_slot, sum_lap ^ 1)) {
        }
        step(sum_slot, sum_lap, 2);
      }
      isa::tcgen05_fence_after_thread_sync();
    }
    isa::warp_sync();
    isa::tcgen05_dealloc<1>(sums, 256);
    isa::tcgen05_dealloc<1>(scales, 256);
  } else if (warp == 4) {
    if (!isa::elect_one()) return;
    const SharedAddress first = isa::shared_address(shared.tiles);
    unsigned slot = 0, lap = 0;
    for (int index = blockIdx.x; index < tiles; index += gridDim.x) {
      const int row = index / params.tiles_n * 128, column = index % params.tiles_n * 128;
      for (int k = 0; k != params.k_tiles; ++k) {
        const SharedAddress signal = full + 8 * slot;
        while (!isa::mbarrier_try_wait_parity(empty + 8 * slot, lap ^ 1)) {
        }
        const SharedAddress to = first + slot * unsigned{sizeof(Stage)};
        step(slot, lap, stages);
        const int a_at[3] = {k * 128, row, 0}, b_at[3] = {k * 128, column, 0};
        const int a_scales_at[3] = {0, k, row / 128}, b_scales_at[3] = {0, k, column / 128};
        constexpr auto hint = isa::CacheHint::EvictNormal;
        isa::cp_async_bulk_tensor_load(to, &params.a, signal, a_at, hint);
        isa::cp_async_bulk_tensor_load(to + offsetof(Stage, b), &params.b, signal, b_at, hint);
        isa::cp_async_bulk_tensor_load(to + offsetof(Stage, a_scales), &params.a_scales, signal,
                                       a_scales_at, hint);
        isa::cp_async_bulk_tensor_load(to + offsetof(Stage, b_scales), &params.b_scales, signal,
                                       b_scales_at, hint);
        isa::mbarrier_arrive_expect_tx(signal, 2 * 128 * 128 + 2 * scale_bytes);
      }
    }
  } else {
    isa::barrier_sync(2, 160);
    isa::tcgen05_fence_after_thread_sync();
    const TensorAddress sums =
        isa::load_shared_4(isa::shared_address(&shared.sums)) + (thread / 32 * 32 << 16);
    unsigned slot = 0, lap = 0;
    for (int index = blockIdx.x; index < tiles; index += gridDim.x) {
      const unsigned stage = slot;
      while (!isa::mbarrier_try_wait_parity(sum_full + 8 * stage, lap)) {
      }
      isa::tcgen05_fence_after_thread_sync();
      step(slot, lap, 2);
      const int row = index / params.tiles_n * 128 + static_cast<int>(thread);
      uint4* const to = params.d + (row * params.tiles_n + index % params.tiles_n) * 16;
      TW_ROLL
      for (unsigned column = 0; column < 128; column += 32) {
        std::uint32_t bits[32];
        isa::tcgen05_load<32>(bits, sums + stage * 128 + column);
        isa::tcgen05_wait_load();
        TW_UNROLL
        for (unsigned i = 0; i < 32; i += 8) {
          std::uint32_t words[4];
          TW_UNROLL
          for (unsigned j = 0; j < 4; ++j) {
            words[j] = isa::cvt_bf16x2(__uint_as_float(bits[i + 2 * j]),
                                       __uint_as_float(bits[i + 2 * j + 1]));
          }
          to[(column + i) / 8] = {words[0], words[1], words[2], words[3]};
        }
      }
      isa::tcgen05_fence_before_thread_sync();
      isa::warp_sync();
      if (thread % 32 == 0) isa::mbarrier_arrive(sum_empty + 8 * stage);
    }
  }
}
