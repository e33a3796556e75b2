// Elements narrower than a byte, packed: element i takes the bits [i * width, (i + 1) * width) of
// the bytes read as one little-endian number. Two fp4 make a byte, the first in the low half; four
// fp6 make three bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/base/require.h"
#include "tilewright/number/traits.h"

namespace tw {

template <class T>
concept SubbyteNumber = Number<T> && is_subbyte<T>;

template <SubbyteNumber T>
constexpr T load_packed(const std::uint8_t* bytes, std::size_t index) {
  constexpr int width = bits_of<T>;
  const std::size_t bit = index * width;
  const int offset = static_cast<int>(bit % 8);
  unsigned window = bytes[bit / 8];
  // The next byte is read only where the element reaches into it: it may lie behind the end.
  if (offset + width > 8) window |= unsigned{bytes[bit / 8 + 1]} << 8;
  return T::from_bits(static_cast<std::uint8_t>(window >> offset & ((1u << width) - 1)));
}

// Writes whole bytes: neighbours in the same byte must not be stored by another thread at once.
template <SubbyteNumber T>
constexpr void store_packed(std::uint8_t* bytes, std::size_t index, T value) {
  constexpr int width = bits_of<T>;
  const std::size_t bit = index * width;
  const int offset = static_cast<int>(bit % 8);
  const unsigned mask = ((1u << width) - 1) << offset;
  const unsigned code = unsigned{value.bits} << offset & mask;
  bytes[bit / 8] = static_cast<std::uint8_t>((bytes[bit / 8] & ~mask) | code);
  if (offset + width > 8) {
    std::uint8_t& next = bytes[bit / 8 + 1];
    next = static_cast<std::uint8_t>((next & ~(mask >> 8)) | (code >> 8));
  }
}

template <SubbyteNumber T, std::size_t num_elements>
struct PackedArray {
  std::uint8_t bytes[packed_bytes<T>(num_elements)];

  static constexpr std::size_t size() { return num_elements; }
  constexpr T get(std::size_t index) const { return load_packed<T>(bytes, index); }
  constexpr void set(std::size_t index, T value) { store_packed<T>(bytes, index, value); }
};

template <SubbyteNumber T>
constexpr void pack(std::span<std::uint8_t> bytes, std::span<const T> elements) {
  require(bytes.size() == packed_bytes<T>(elements.size()),
          "pack: bytes must be as many as the elements fill, the last one rounded up");
  // A ragged last byte keeps nothing of what was there.
  if (!bytes.empty()) bytes.back() = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) store_packed<T>(bytes.data(), i, elements[i]);
}

template <SubbyteNumber T>
constexpr void unpack(std::span<T> elements, std::span<const std::uint8_t> bytes) {
  require(bytes.size() == packed_bytes<T>(elements.size()),
          "unpack: bytes must be as many as the elements fill, the last one rounded up");
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = load_packed<T>(bytes.data(), i);
}

}  // namespace tw
