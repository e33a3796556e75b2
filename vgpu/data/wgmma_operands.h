// The operands of a wgmma as plain arrays, whatever memory and fragment map they come from.
#pragma once

#include <bit>
#include <cstring>

#include "vgpu/data/wgmma.h"

namespace tw::vgpu {

constexpr unsigned wgmma_m = 64;
constexpr unsigned wgmma_k = 16;
constexpr unsigned wgmma_max_n = 256;

inline float bf16_value(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

// Calls set(row, k, bf16 bits) for every element of a K-major operand in shared memory.
template <class Set>
void for_each_chunk_element(const std::byte* const (*chunks)[2], unsigned rows, Set&& set) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
      std::uint16_t elements[8];
      std::memcpy(elements, chunks[row][chunk], sizeof elements);
      for (unsigned i = 0; i < 8; ++i) set(row, 8 * chunk + i, elements[i]);
    }
  }
}

// Calls set(m, k, bf16 bits) for every element of A.
template <class Set>
void for_each_a_element(const WgmmaOperands& operands, Set&& set) {
  if (!operands.a_from_registers) {
    for_each_chunk_element(operands.a_chunks, wgmma_m, set);
    return;
  }
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned m = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
      const unsigned k = thread % 4 * 2 + i / 2 * 8;
      const std::uint32_t pair = operands.a_registers[thread][i];
      set(m, k, pair & 0xffff);
      set(m, k + 1, pair >> 16);
    }
  }
}

// Row m of the accumulators lies in four threads, two columns of eight each: calls
// move(column, pair of floats) for every pair of the row.
template <class Move>
void for_each_row_pair(float* const fragments[128], unsigned m, unsigned n, Move&& move) {
  const unsigned first_thread = m / 16 * 32 + m % 8 * 4;
  const unsigned first_value = m % 16 / 8 * 2;
  for (unsigned quarter = 0; quarter < 4; ++quarter) {
    float* fragment = fragments[first_thread + quarter] + first_value;
    for (unsigned group = 0; group < n / 8; ++group) {
      move(group * 8 + quarter * 2, fragment + group * 4);
    }
  }
}

void require_wgmma_n(unsigned n);

}  // namespace tw::vgpu
