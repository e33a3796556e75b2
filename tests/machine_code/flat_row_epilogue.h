// The epilogue of a 128 by 256 tile of sums in tensor memory, as an expert writes it by hand for
// one warpgroup, of which each thread has a row: plain variables and address arithmetic, nothing of
// the library but its instruction wrappers and the struct of arguments.
#pragma once

#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"

namespace flat {

constexpr int rows = 128;
constexpr int group_columns = 32;
constexpr int row_step(unsigned) { return 0; }
constexpr int column_step(unsigned pair) { return static_cast<int>(2 * pair); }

}  // namespace flat

#include "flat_output.h"

namespace flat {

// 32 columns, times alpha. A sum of no products is not in tensor memory.
__device__ __forceinline__ void load(float (&value)[32], tw::TensorAddress sum, bool multiplied,
                                     float alpha) {
  std::uint32_t bits[32] = {};
  if (multiplied) {
    isa::tcgen05_load<32>(bits, sum);
    isa::tcgen05_wait_load();
  }
  TW_UNROLL
  for (unsigned i = 0; i < 32; ++i) value[i] = __uint_as_float(bits[i]) * alpha;
}

// `own` is where the thread's row begins in the buffer, as the swizzle has it.
__device__ __forceinline__ void write_pieces(SharedAddress own, unsigned column_bytes,
                                             const float (&value)[32]) {
  TW_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const float* const v = value + 8 * i;
    const std::uint32_t words[4] = {isa::cvt_bf16x2(v[0], v[1]), isa::cvt_bf16x2(v[2], v[3]),
                                    isa::cvt_bf16x2(v[4], v[5]), isa::cvt_bf16x2(v[6], v[7])};
    isa::store_shared_16(own ^ (column_bytes + i * 16), words);
  }
}

// Behind a gate, the lower value of each pair alone.
__device__ __forceinline__ void write_gated(SharedAddress own, unsigned column_bytes,
                                            const float (&value)[32]) {
  TW_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    const float* const v = value + 16 * i;
    const std::uint32_t words[4] = {isa::cvt_bf16x2(v[0], v[2]), isa::cvt_bf16x2(v[4], v[6]),
                                    isa::cvt_bf16x2(v[8], v[10]), isa::cvt_bf16x2(v[12], v[14])};
    isa::store_shared_16(own ^ (column_bytes + i * 16), words);
  }
}

__device__ __forceinline__ SharedAddress row_in(const unsigned char* buffer, const Group& group) {
  return isa::shared_address(buffer) + group.thread * 128 + group.thread % 8 * 16;
}

// The sum may be overwritten as soon as its last columns are read, before they are stored.
__device__ __forceinline__ void let_go(SharedAddress empty, unsigned thread) {
  isa::tcgen05_fence_before_thread_sync();
  isa::warp_sync();
  if (thread % 32 == 0) isa::mbarrier_arrive(empty);
}

__device__ __forceinline__ void store(const Output& params, Group& group, tw::TensorAddress sum,
                                      SharedAddress empty, bool multiplied, int batch, int row,
                                      int first_column, int m_end) {
  const tw::EpilogueArguments& epilogue = params.epilogue;
  const bool plain = is_plain(epilogue);
  if (plain) {
    TW_UNROLL
    for (unsigned chunk = 0; chunk < 4; ++chunk) {
      unsigned char* const buffer = open(group);
      const SharedAddress own = row_in(buffer, group);
      TW_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        float value[32];
        load(value, sum + chunk * 64 + half * 32, multiplied, epilogue.alpha);
        write_pieces(own, half * 64, value);
      }
      if (chunk == 3) let_go(empty, group.thread);
      close(params, group, buffer, batch, row, first_column + static_cast<int>(chunk * 64), m_end,
            params.n, 64);
    }
    return;
  }
  std::uint32_t largest = 0;
  TW_ROLL
  for (unsigned chunk = 0; chunk < 4; ++chunk) {
    const int column = first_column + static_cast<int>(chunk * 64);
    const bool gated = epilogue.gated;
    unsigned char* const buffer = open(group);
    const SharedAddress own = row_in(buffer, group);
    TW_ROLL
    for (unsigned half = 0; half < 2; ++half) {
      float value[32];
      load(value, sum + chunk * 64 + half * 32, multiplied, epilogue.alpha);
      const int own_column = column + static_cast<int>(half * 32);
      const Columns at = {
          batch, row + static_cast<int>(group.thread), own_column, own_column, m_end, params.n};
      mix(epilogue, at, value, largest);
      if (gated) {
        write_gated(own, half * 32, value);
      } else {
        write_pieces(own, half * 64, value);
      }
    }
    if (chunk == 3) let_go(empty, group.thread);
    close(params, group, buffer, batch, row, gated ? column >> 1 : column, m_end,
          gated ? params.n >> 1 : params.n, gated ? 32 : 64);
  }
  raise_amax(epilogue, largest, group.thread % 32);
}

}  // namespace flat
