// The operands of a wgmma as plain arrays, whatever memory and fragment map they come from.
#pragma once

#include <bit>
#include <cstring>

#include "vgpu/data/wgmma.h"

namespace tw::vgpu {

constexpr unsigned wgmma_m = 64;
constexpr unsigned wgmma_max_k = 32;
constexpr unsigned wgmma_max_n = 256;

// Calls set(row, k, bits) for every element of an operand in shared memory; a row is of m or n.
template <class Bits, class Set>
void for_each_chunk_element(const std::byte* const* chunks, unsigned rows, bool transposed,
                            Set&& set) {
  constexpr unsigned per_chunk = 16 / sizeof(Bits);
  for (unsigned index = 0; index < 2 * rows; ++index) {
    Bits elements[per_chunk];
    std::memcpy(elements, chunks[index], sizeof elements);
    for (unsigned i = 0; i < per_chunk; ++i) {
      if (sizeof(Bits) == 2 && transposed) {
        set(index / 16 * per_chunk + i, index % 16, elements[i]);
      } else {
        set(index / 2, index % 2 * per_chunk + i, elements[i]);
      }
    }
  }
}

// Calls set(m, k, bits) for every element of A.
template <class Bits, class Set>
void for_each_a_element(const WgmmaShape& shape, const WgmmaOperands& operands, Set&& set) {
  if (!operands.a_from_registers) {
    for_each_chunk_element<Bits>(operands.a_chunks, wgmma_m, shape.a_transposed != 0, set);
    return;
  }
  constexpr unsigned count = 4 / sizeof(Bits);  // in a register
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned m = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
      const unsigned k = (thread % 4 + i / 2 * 4) * count;
      Bits elements[count];
      std::memcpy(elements, &operands.a_registers[thread][i], sizeof elements);
      for (unsigned j = 0; j < count; ++j) set(m, k + j, elements[j]);
    }
  }
}

// Row m of the accumulators lies in four threads, two columns of eight each: calls
// move(column, pair of registers) for every pair of the row.
template <class Move>
void for_each_row_pair(std::uint32_t* const fragments[128], unsigned m, unsigned n, Move&& move) {
  const unsigned first_thread = m / 16 * 32 + m % 8 * 4;
  const unsigned first_value = m % 16 / 8 * 2;
  for (unsigned quarter = 0; quarter < 4; ++quarter) {
    std::uint32_t* fragment = fragments[first_thread + quarter] + first_value;
    for (unsigned group = 0; group < n / 8; ++group) {
      move(group * 8 + quarter * 2, fragment + group * 4);
    }
  }
}

// Refuses shapes that no wgmma has.
void require_legal(const WgmmaShape& shape);

}  // namespace tw::vgpu
