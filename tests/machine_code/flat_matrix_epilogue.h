// The epilogue of a 64 by 256 tile of sums in registers, as an expert writes it by hand for one
// warpgroup: plain variables and address arithmetic, nothing of the library but its instruction
// wrappers and the struct of arguments.
#pragma once

namespace flat {

constexpr int rows = 64;
constexpr int group_columns = 64;
constexpr int row_step(unsigned pair) { return static_cast<int>(8 * (pair % 2)); }
constexpr int column_step(unsigned pair) { return static_cast<int>(8 * (pair / 2)); }

}  // namespace flat

#include "flat_output.h"

namespace flat {

__device__ __forceinline__ void write_pairs(const Group& group, const unsigned char* buffer,
                                            const float (&value)[32]) {
  const unsigned lane = group.thread % 32;
  const unsigned row = 16 * (group.thread / 32) + lane % 16;
  const SharedAddress own =
      isa::shared_address(buffer) + row * 128 + ((lane / 16) ^ (row % 8)) * 16;
  TW_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const float* const v = value + 8 * i;
    isa::stmatrix_x4(own ^ (i * 32), isa::cvt_bf16x2(v[0], v[1]), isa::cvt_bf16x2(v[2], v[3]),
                     isa::cvt_bf16x2(v[4], v[5]), isa::cvt_bf16x2(v[6], v[7]));
  }
}

__device__ __forceinline__ void store(const Output& params, Group& group, const float (&sum)[128],
                                      int batch, int row, int first_column, int m_end) {
  const tw::EpilogueArguments& epilogue = params.epilogue;
  const bool plain = is_plain(epilogue);
  if (plain) {
    TW_UNROLL
    for (unsigned chunk = 0; chunk < 4; ++chunk) {
      unsigned char* const buffer = open(group);
      float value[32];
      TW_UNROLL
      for (unsigned i = 0; i < 32; ++i) value[i] = epilogue.alpha * sum[chunk * 32 + i];
      write_pairs(group, buffer, value);
      close(params, group, buffer, batch, row, first_column + static_cast<int>(chunk * 64), m_end,
            params.n, 64);
    }
    return;
  }
  const unsigned lane = group.thread % 32;
  std::uint32_t largest = 0;
  // The code of a mix stands once: the sums of the chunk are fetched to where it works on them.
  TW_ROLL
  for (unsigned chunk = 0; chunk < 4; ++chunk) {
    const int column = first_column + static_cast<int>(chunk * 64);
    unsigned char* const buffer = open(group);
    float value[32];
    TW_UNROLL
    for (unsigned other = 0; other < 4; ++other) {
      if (other != chunk) continue;
      TW_UNROLL
      for (unsigned i = 0; i < 32; ++i) value[i] = epilogue.alpha * sum[other * 32 + i];
    }
    const unsigned own_row = 16 * (group.thread / 32) + lane / 4;
    const Columns at = {batch,
                        row + static_cast<int>(own_row),
                        column + static_cast<int>(2 * (lane % 4)),
                        column,
                        m_end,
                        params.n};
    mix(epilogue, at, value, largest);
    if (epilogue.gated) {
      // Neighbours belong to different lanes now.
      const unsigned own = own_row * 128 + (lane % 4 * 2 ^ own_row % 8 * 16);
      TW_UNROLL
      for (unsigned pair = 0; pair < 16; ++pair) {
        const std::uint32_t two = isa::cvt_bf16x2(value[2 * pair], value[2 * pair + 1]);
        unsigned char* const to = buffer + ((own + pair % 2 * 1024) ^ (pair / 2 * 8));
        *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(two);
      }
    } else {
      write_pairs(group, buffer, value);
    }
    const bool gated = epilogue.gated;
    close(params, group, buffer, batch, row, gated ? column >> 1 : column, m_end,
          gated ? params.n >> 1 : params.n, gated ? 32 : 64);
  }
  raise_amax(epilogue, largest, lane);
}

}  // namespace flat
