// What a decision depends on, as numbers that are compared and hashed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tw::library {

// All zero is equal to no key of a problem.
template <std::size_t count>
struct KeyWords {
  std::array<std::int64_t, count> words = {};

  bool operator==(const KeyWords&) const = default;
  std::uint64_t hash() const {
    std::uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (const std::int64_t word : words) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0xBF58476D1CE4E5B9ull;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// Of an address only its alignment counts; 0: null.
constexpr std::int64_t alignment_word(const void* address) {
  if (address == nullptr) return 0;
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

constexpr std::int64_t letters_word(const char* word) {
  std::int64_t packed = 0;
  for (; word != nullptr && *word != 0; ++word) packed = packed << 8 | *word;
  return packed;
}

}  // namespace tw::library
