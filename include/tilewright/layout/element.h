// What a TileTensor holds: whole elements, elements narrower than a byte (packed, element i in the
// bits [i * width, (i + 1) * width) of the bytes read as one little-endian number), and vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tilewright/layout/access.h"

namespace tw {

// The narrow floating-point types satisfy this: fp4 and fp6 are packed in memory.
template <class T>
concept PackedElement = requires(T element) {
  T::from_bits(std::uint8_t{});
  element.bits;
  requires T::format.bits() < 7;
};

template <class T>
inline constexpr int element_bits = 8 * static_cast<int>(sizeof(T));
template <PackedElement T>
inline constexpr int element_bits<T> = T::format.bits();

// What the pointer of a tensor of T points to.
template <class T>
struct Storage {
  using Type = T;
};
template <class T>
requires PackedElement<std::remove_const_t<T>>
struct Storage<T> {
  using Type = std::conditional_t<std::is_const_v<T>, const std::uint8_t, std::uint8_t>;
};

// Where a packed element lies: `shift` bits up in its byte, perhaps reaching into the next.
template <int bits>
struct PackedPlace {
  std::size_t byte;
  unsigned shift;

  static constexpr unsigned mask = (1u << bits) - 1;

  static constexpr PackedPlace of(unsigned index) {
    if constexpr (8 % bits == 0) {
      return {index / (8 / bits), index % (8 / bits) * bits};
    } else {
      std::size_t bit = std::size_t{index} * bits;
      return {bit / 8, static_cast<unsigned>(bit % 8)};
    }
  }
  // The next byte is touched only where the element reaches into it: it may lie behind the end.
  constexpr bool reaches_next() const { return 8 % bits != 0 && shift + bits > 8; }
};

template <Space space, PackedElement T, class Byte>
TW_HOST_DEVICE inline T load_packed_element(Byte* bytes, unsigned index) {
  using Place = PackedPlace<element_bits<T>>;
  const Place place = Place::of(index);
  unsigned window = load_element<space>(bytes + place.byte);
  if (place.reaches_next()) window |= unsigned{load_element<space>(bytes + place.byte + 1)} << 8;
  return T::from_bits(static_cast<std::uint8_t>(window >> place.shift & Place::mask));
}

// Writes whole bytes: neighbours in the same byte must not be stored by another thread at once.
template <Space space, PackedElement T>
TW_HOST_DEVICE inline void store_packed_element(std::uint8_t* bytes, unsigned index, T value) {
  using Place = PackedPlace<element_bits<T>>;
  const Place place = Place::of(index);
  const unsigned mask = Place::mask << place.shift;
  const unsigned code = unsigned{value.bits} << place.shift & mask;
  auto replace = [&](std::uint8_t* byte, unsigned cleared, unsigned set) {
    const unsigned kept = load_element<space>(byte) & ~cleared;
    store_element<space>(byte, static_cast<std::uint8_t>(kept | set));
  };
  replace(bytes + place.byte, mask, code);
  if (place.reaches_next()) replace(bytes + place.byte + 1, mask >> 8, code >> 8);
}

// The largest power of two that divides `bytes`, at most 16: what one instruction can move.
constexpr std::size_t vector_alignment(std::size_t bytes) {
  std::size_t alignment = bytes & ~(bytes - 1);
  return alignment < 16 ? alignment : 16;
}

// `count` neighbouring elements that are loaded and stored at once.
template <class T, int count>
struct alignas(vector_alignment(count * sizeof(T))) Vector {
  T elements[count];

  constexpr T get(int index) const { return elements[index]; }
  constexpr void set(int index, T value) { elements[index] = value; }
};

template <PackedElement T, int count>
struct alignas(vector_alignment(count* element_bits<T> / 8)) Vector<T, count> {
  static_assert(count * element_bits<T> % 8 == 0, "A vector of packed elements fills whole bytes.");
  std::uint8_t bytes[count * element_bits<T> / 8];

  constexpr T get(int index) const {
    const auto place = PackedPlace<element_bits<T>>::of(static_cast<unsigned>(index));
    unsigned window = bytes[place.byte];
    if (place.reaches_next()) window |= unsigned{bytes[place.byte + 1]} << 8;
    return T::from_bits(static_cast<std::uint8_t>(window >> place.shift & place.mask));
  }
  constexpr void set(int index, T value) {
    const auto place = PackedPlace<element_bits<T>>::of(static_cast<unsigned>(index));
    const unsigned mask = place.mask << place.shift;
    const unsigned code = unsigned{value.bits} << place.shift & mask;
    bytes[place.byte] = static_cast<std::uint8_t>((bytes[place.byte] & ~mask) | code);
    if (place.reaches_next()) {
      std::uint8_t& next = bytes[place.byte + 1];
      next = static_cast<std::uint8_t>((next & ~(mask >> 8)) | code >> 8);
    }
  }
};

}  // namespace tw
