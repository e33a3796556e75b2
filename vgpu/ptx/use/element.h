// Types of elements and of numbers, by the names that PTX and numpy give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tw::vgpu::ptx {

struct Element {
  enum Kind : std::uint8_t { Unsigned, Signed, Half, Bfloat, Float, Bits };
  Kind kind;
  unsigned bytes;
  unsigned packed_bits = 0;  // 4 or 6: sixteen of them take 16 bytes of shared memory
  bool nibbles = false;      // two of them share a byte in both memories
};

// Null: nothing has this name. "b32" is Bits.
const Element* find_element(std::string_view name);

// The bits of a number in the element's type: "-3", "0x10", "1.5", "inf". Throws Refusal.
std::uint64_t bits_of(std::string_view number, std::string_view type_name);

}  // namespace tw::vgpu::ptx
