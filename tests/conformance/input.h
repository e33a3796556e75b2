// Inputs from a fixed integer hash, the same with every compiler and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tw::conformance {

constexpr std::uint32_t hash(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

enum class Fill {
  Bits,              // any
  Bf16Integers,      // -8 to 8
  Bf16Normals,       // within 2^9 of 1
  Bf16Tiny,          // subnormals, and pairs whose products lie around the smallest f32
  Bf16Huge,          // pairs whose products lie around the largest f32
  Bf16Special,       // any bits, some infinities, NaN and zeros
  FloatIntegers,     // -1024 to 1024
  FloatNormals,      // within 2^16 of 1
  FloatTiny,         // subnormals and small normals
  FloatHuge,         // within 2^16 of the largest
  FloatSpecial,      // any bits, some infinities, NaN and zeros
  FloatTies,         // halfway between two bf16, and next to it
  FloatNearLargest,  // where bf16 rounds up to infinity, or just does not
  Tf32Integers,      // -8 to 8, with anything in the 13 bits that tf32 does not have
  Fp16Integers,      // -8 to 8
  Fp16Normals,       // within 2^9 of 1
  Fp16Tiny,          // subnormals and small normals
  E4m3Integers,      // -4 to 4
  E4m3Finite,        // any but NaN
  E4m3Special,       // any, some NaN
  E5m2Integers,      // -4 to 4
  E5m2Finite,        // any but infinities and NaN
  E5m2Special,       // any, some infinities and NaN
  PowersOfTwo,       // a half, 1 or 2, as ue8m0
  E4m3Scales,        // 1, 2 or 3
  // Chosen by their place; `seed` is no seed. They make sums of 2^14 and units, smaller by half
  // from row to row.
  Constant,        // the byte `seed`
  LargeRows,       // e4m3, K-major: 128 once, and behind a step of 32 the units
  LargeColumns,    // e4m3, K-major: 128 in the first step, and behind it 1
  LargeExponents,  // ue8m0, `seed` of them to a step: so large that a step of ones sums up to 2^14
  LargeScales      // the same as ue4m3, of 64 ones
};

constexpr unsigned bytes_of(Fill fill) {
  if (fill >= Fill::E4m3Integers) return 1;
  if (fill >= Fill::Fp16Integers) return 2;
  return fill >= Fill::Bf16Integers && fill <= Fill::Bf16Special ? 2 : 4;
}

struct Segment {
  Fill fill;
  std::size_t bytes;  // a multiple of 4
  std::uint32_t seed;
};

namespace detail {

// Sign, exponent in [low, low + count), fraction.
constexpr std::uint32_t float_bits(std::uint32_t random, std::uint32_t low, std::uint32_t count) {
  return (random & 0x807fffff) | (low + hash(random) % count) << 23;
}

constexpr std::uint32_t integer_as_float(int value) {
  if (value == 0) return 0;
  std::uint32_t magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
  std::uint32_t exponent = 127 + 23;
  while ((magnitude & 0x800000) == 0) {
    magnitude <<= 1;
    --exponent;
  }
  return (value < 0 ? 0x80000000u : 0u) | exponent << 23 | (magnitude & 0x7fffff);
}

constexpr std::uint32_t special(std::uint32_t random, std::uint32_t one_in) {
  constexpr std::uint32_t values[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc10000,
                                      0x7f810001, 0x00000000, 0x80000000, 0x00010000};
  const std::uint32_t chosen = hash(random + 1);
  return chosen % one_in == 0 ? values[chosen / one_in % 8] : random;
}

// -4 to 4 from the codes of 0 to 4.
constexpr std::uint32_t small_integer(std::uint32_t random, const std::uint8_t (&codes)[5]) {
  const std::uint32_t magnitude = random % 5;
  return codes[magnitude] | (random & 0x100 && magnitude != 0 ? 0x80u : 0u);
}

// One code in 128 is the one with these bits, or its negative.
constexpr std::uint32_t or_rarely(std::uint32_t random, std::uint32_t special, std::uint32_t code) {
  return hash(random + 1) % 128 == 0 ? special | (random & 0x80) : code;
}

// The code of a fill of 8 bits; e4m3 keeps its last exponent but for one fraction, e5m2 does not.
constexpr std::uint32_t code_of(Fill fill, std::uint32_t random) {
  constexpr std::uint8_t e4m3[5] = {0, 0x38, 0x40, 0x44, 0x48},
                         e5m2[5] = {0, 0x3c, 0x40, 0x42, 0x44};
  const std::uint32_t e4m3_finite = (random & 0x7f) == 0x7f ? random & 0x80 : random & 0xff;
  const std::uint32_t e5m2_finite = (random & 0x7c) == 0x7c ? random & 0x83 : random & 0xff;
  switch (fill) {
    case Fill::E4m3Integers: return small_integer(random, e4m3);
    case Fill::E4m3Finite: return e4m3_finite;
    case Fill::E4m3Special: return or_rarely(random, 0x7f, e4m3_finite);
    case Fill::E5m2Integers: return small_integer(random, e5m2);
    case Fill::E5m2Finite: return e5m2_finite;
    case Fill::PowersOfTwo: return 126 + random % 3;
    case Fill::E4m3Scales: return e4m3[1 + random % 3];
    default: return or_rarely(random, 0x7c | (random >> 8 & 3), e5m2_finite);
  }
}

// 2^-(row % 10), the last of which float32 still adds to 2^14: as e4m3, and as ue8m0.
constexpr std::uint32_t unit_e4m3(std::uint32_t row) {
  const std::uint32_t halvings = row % 10;
  return halvings <= 6 ? (7 - halvings) << 3 : 4u >> (halvings - 7);
}
constexpr std::uint32_t unit_ue8m0(std::uint32_t row) { return 127 - row % 10; }

// Byte i of an operand whose rows of 128 bytes lie swizzled, or of blocks of scales.
constexpr std::uint32_t placed(Fill fill, std::uint32_t i, std::uint32_t seed) {
  const std::uint32_t line = i / 128, k = (i / 16 % 8 ^ line % 8) * 16 + i % 16;
  // 128 rows by four scales: 32 lines of 16 bytes, each with four rows 32 apart.
  const std::uint32_t scale_row = i % 512 / 16 + i % 16 / 4 * 32;
  const std::uint32_t scale = i / 512 * 4 + i % 4;
  switch (fill) {
    case Fill::LargeRows: return k >= 32 ? unit_e4m3(line) : k == 0 ? 0x70 : 0;
    case Fill::LargeColumns: return k >= 32 ? 0x38 : 0x70;
    case Fill::LargeExponents: return scale >= seed ? unit_ue8m0(scale_row) : 127 + 10 - seed;
    case Fill::LargeScales: return scale >= seed ? unit_e4m3(scale_row) : 0x78;
    default: return seed;
  }
}

// The upper bits of a float as fp16 of the same value.
constexpr std::uint32_t float_as_fp16(std::uint32_t bits) {
  if ((bits & 0x7fffffff) == 0) return 0;
  return (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff);
}

// The value of a fill as f32 bits (bf16 fills use the upper half), or its code.
constexpr std::uint32_t value_of(Fill fill, std::uint32_t random) {
  constexpr std::uint32_t around_tie[] = {0x8000, 0x7fff, 0x8001, 0x0000, 0xffff, 0x0001};
  const std::uint32_t chosen = hash(random ^ 0x5bd1e995u);
  switch (fill) {
    case Fill::Bits: return random;
    case Fill::Bf16Integers: return integer_as_float(static_cast<int>(random % 17) - 8);
    case Fill::Bf16Normals: return float_bits(random, 118, 18);
    case Fill::Bf16Tiny:
      if (chosen % 4 == 0) return random & 0x807fffff;
      if (chosen % 4 == 1) return float_bits(random, 120, 80);
      return float_bits(random, 50, 26);
    case Fill::Bf16Huge: return float_bits(random, 170, 24);
    case Fill::Bf16Special: return special(random, 128);
    case Fill::FloatIntegers: return integer_as_float(static_cast<int>(random % 2049) - 1024);
    case Fill::FloatNormals: return float_bits(random, 111, 32);
    case Fill::FloatTiny: return chosen % 2 == 0 ? random & 0x807fffff : float_bits(random, 1, 40);
    case Fill::FloatHuge: return float_bits(random, 239, 16);
    case Fill::FloatSpecial: return special(random, 16);
    case Fill::FloatTies: return (random & 0xffff0000) | around_tie[chosen % 6];
    case Fill::FloatNearLargest: return (random & 0x80000000) | 0x7f7f0000 | around_tie[chosen % 6];
    case Fill::Tf32Integers:
      return integer_as_float(static_cast<int>(random % 17) - 8) | (chosen & 0x1fff);
    case Fill::Fp16Integers:
      return float_as_fp16(integer_as_float(static_cast<int>(random % 17) - 8));
    case Fill::Fp16Normals: return float_as_fp16(float_bits(random, 118, 18));
    case Fill::Fp16Tiny: return random & 0x8fff;
    default: return code_of(fill, random);
  }
}

}  // namespace detail

inline std::vector<unsigned char> make_input(const std::vector<Segment>& segments) {
  std::vector<unsigned char> bytes;
  for (const Segment& segment : segments) {
    const bool is_bf16 = segment.fill >= Fill::Bf16Integers && segment.fill <= Fill::Bf16Special;
    const unsigned width = bytes_of(segment.fill);
    if (segment.fill >= Fill::Constant) {
      for (std::uint32_t i = 0; i < segment.bytes; ++i) {
        bytes.push_back(static_cast<unsigned char>(detail::placed(segment.fill, i, segment.seed)));
      }
      continue;
    }
    for (std::uint32_t i = 0; i < segment.bytes / width; ++i) {
      std::uint32_t value = detail::value_of(segment.fill, hash(segment.seed * 0x9e3779b9u + i));
      if (is_bf16) value >>= 16;
      for (unsigned byte = 0; byte < width; ++byte) {
        bytes.push_back(static_cast<unsigned char>(value >> (8 * byte)));
      }
    }
  }
  return bytes;
}

}  // namespace tw::conformance
