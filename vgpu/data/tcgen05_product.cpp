#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "tilewright/number/narrow_float.h"
#include "vgpu/data/tcgen05.h"
#include "vgpu/data/tcgen05_elements.h"

namespace tw::vgpu {
namespace {

using isa::OperandMajor;

constexpr unsigned max_m = 256, max_n = 256;
// Rows that share the loads of b, and columns that share those of a. n may end in half a block.
constexpr unsigned blocked_rows = 4, blocked_columns = 16;

float fp16_value(std::uint16_t bits) {
  static const auto table = [] {
    auto values = std::make_unique<float[]>(1 << 16);
    for (unsigned code = 0; code < 1 << 16; ++code) {
      values[code] = static_cast<float>(Fp16::from_bits(static_cast<std::uint16_t>(code)));
    }
    return values;
  }();
  return table[bits];
}

// How a kind of product computes. Integers are unsigned because their sums wrap.
template <MmaKind kind>
using Value = std::conditional_t<kind == MmaKind::I8, std::uint32_t, float>;

constexpr unsigned elements_per_piece(MmaKind kind) {
  return kind == MmaKind::F16 ? 8 : kind == MmaKind::Tf32 ? 4 : 16;
}

// Calls set(index in the piece, value) for the elements of one piece.
template <MmaKind kind, class Set>
void for_each_element(unsigned code, const std::byte* piece, Set&& set) {
  if constexpr (kind == MmaKind::F16) {
    std::uint16_t bits[8];
    std::memcpy(bits, piece, 16);
    for (unsigned i = 0; i < 8; ++i) {
      set(i, code == 1 ? std::bit_cast<float>(std::uint32_t{bits[i]} << 16) : fp16_value(bits[i]));
    }
  } else if constexpr (kind == MmaKind::Tf32) {
    std::uint32_t bits[4];
    std::memcpy(bits, piece, 16);
    for (unsigned i = 0; i < 4; ++i) set(i, std::bit_cast<float>(bits[i] & 0xFFFF'E000));
  } else if constexpr (kind == MmaKind::F8F6F4) {
    const auto& values = byte_values(code);
    for (unsigned i = 0; i < 16; ++i) set(i, values[packed_code(piece, i, code_bits(code))]);
  } else {
    for (unsigned i = 0; i < 16; ++i) {
      const auto bits = std::to_integer<std::uint8_t>(piece[i]);
      set(i, code == 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(bits))
                       : std::uint32_t{bits});
    }
  }
}

// Calls set(row, k, value) for all elements that one CTA holds of an operand.
template <MmaKind kind, class Set>
void for_each_operand_element(unsigned code, OperandMajor major, const std::byte* const* pieces,
                              unsigned rows, Set&& set) {
  constexpr unsigned per_piece = elements_per_piece(kind);
  if (major == OperandMajor::K) {
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned half = 0; half < 2; ++half) {
        for_each_element<kind>(code, pieces[2 * row + half], [&](unsigned i, Value<kind> value) {
          set(row, half * per_piece + i, value);
        });
      }
    }
    return;
  }
  for (unsigned k = 0; k < 2 * per_piece; ++k) {
    for (unsigned row = 0; row < rows; row += per_piece) {
      for_each_element<kind>(code, *pieces++,
                             [&](unsigned i, Value<kind> value) { set(row + i, k, value); });
    }
  }
}

// Adds the products of four rows, a few columns at a time so that the sums stay in registers. Every
// column adds in order of k.
template <unsigned k_extent, class Number>
void add_rows(Number (&sums)[blocked_rows][max_n], const Number (*__restrict a)[k_extent],
              const Number (*__restrict b)[max_n], unsigned n) {
  using Vector [[gnu::vector_size(16)]] = Number;
  constexpr unsigned vectors = blocked_columns / 4;
  for (unsigned column = 0; column < n; column += blocked_columns) {
    Vector sum[blocked_rows][vectors];
    for (unsigned row = 0; row < blocked_rows; ++row) {
      std::memcpy(sum[row], &sums[row][column], sizeof sum[row]);
    }
    for (unsigned k = 0; k < k_extent; ++k) {
      Vector factors[vectors];
      std::memcpy(factors, &b[k][column], sizeof factors);
      for (unsigned row = 0; row < blocked_rows; ++row) {
        for (unsigned i = 0; i < vectors; ++i) sum[row][i] += a[row][k] * factors[i];
      }
    }
    for (unsigned row = 0; row < blocked_rows; ++row) {
      std::memcpy(&sums[row][column], sum[row], sizeof sum[row]);
    }
  }
}

template <MmaKind kind>
void multiply_as(const TensorProduct& product, const TensorProductData& data, bool accumulate) {
  using Number = Value<kind>;
  constexpr unsigned k_extent = 2 * elements_per_piece(kind);
  Number a[max_m][k_extent];
  Number b[k_extent][max_n];  // columns contiguous, for the vector loop
  for (auto& row : b)
    std::fill_n(&row[product.n & ~15u], product.n % blocked_columns * 2, Number{});
  const unsigned rows = product.rows_per_cta(), columns = product.columns_per_cta();
  for (unsigned cta = 0; cta < product.cta_group; ++cta) {
    for_each_operand_element<kind>(product.a_code, product.a_major, data.a[cta], rows,
                                   [&](unsigned row, unsigned k, Number value) {
                                     a[cta * rows + row][k] = product.negate_a ? -value : value;
                                   });
    for_each_operand_element<kind>(product.b_code, product.b_major, data.b[cta], columns,
                                   [&](unsigned column, unsigned k, Number value) {
                                     b[k][cta * columns + column] =
                                         product.negate_b ? -value : value;
                                   });
  }
  const unsigned part = product.part_columns();
  for (unsigned m = 0; m < product.m; m += blocked_rows) {
    Number sums[blocked_rows][max_n] = {};
    for (unsigned row = 0; accumulate && row < blocked_rows; ++row) {
      for (unsigned i = 0; i < product.parts(); ++i) {
        std::memcpy(&sums[row][i * part], data.d[m + row][i], part * sizeof(Number));
      }
    }
    add_rows<k_extent>(sums, &a[m], b, product.n);
    for (unsigned row = 0; row < blocked_rows; ++row) {
      for (unsigned i = 0; i < product.parts(); ++i) {
        std::memcpy(data.d[m + row][i], &sums[row][i * part], part * sizeof(Number));
      }
    }
  }
}

}  // namespace

void multiply(const TensorProduct& product, const TensorProductData& data, bool accumulate) {
  switch (product.kind) {
    case MmaKind::F16: return multiply_as<MmaKind::F16>(product, data, accumulate);
    case MmaKind::Tf32: return multiply_as<MmaKind::Tf32>(product, data, accumulate);
    case MmaKind::F8F6F4: return multiply_as<MmaKind::F8F6F4>(product, data, accumulate);
    case MmaKind::I8: return multiply_as<MmaKind::I8>(product, data, accumulate);
  }
}

}  // namespace tw::vgpu
