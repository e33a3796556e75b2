// The elements of 8, 6 and 4 bits that tcgen05 products read, as values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/number/narrow_float.h"

namespace tw::vgpu {

template <class Code>
const std::array<float, 256>& table_of() {
  static const auto table = [] {
    std::array<float, 256> values;
    constexpr unsigned codes = 1u << Code::format.bits();
    for (unsigned code = 0; code < 256; ++code) {
      values[code] = static_cast<float>(Code::from_bits(static_cast<std::uint8_t>(code % codes)));
    }
    return values;
  }();
  return table;
}

// By the format's code in an instruction descriptor of the kind f8f6f4.
inline const std::array<float, 256>& byte_values(unsigned code) {
  switch (code) {
    case 0: return table_of<E4m3>();
    case 1: return table_of<E5m2>();
    case 3: return table_of<E2m3>();
    case 4: return table_of<E3m2>();
    default: return table_of<E2m1>();
  }
}

constexpr unsigned code_bits(unsigned code) { return code <= 1 ? 8 : code == 5 ? 4 : 6; }

// Elements of 4 and 6 bits lie packed at the begin of their 16 bytes; the rest is padding.
inline unsigned packed_code(const std::byte* piece, unsigned index, unsigned bits) {
  const unsigned at = index * bits;
  std::uint16_t pair;
  std::memcpy(&pair, piece + std::min(at / 8, 14u), 2);
  return pair >> (at - 8 * std::min(at / 8, 14u)) & ((1u << bits) - 1);
}

}  // namespace tw::vgpu
