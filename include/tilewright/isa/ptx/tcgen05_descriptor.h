// The numbers that a tcgen05.mma takes: 64 bits that say how an operand lies in shared memory, and
// 32 bits that say what is multiplied.
#pragma once

#include <cstdint>

#include "tilewright/isa/model/tensor_memory.h"

namespace tw::isa {

// The 16-byte chunks of so many bytes change places: bits [4, 4+b) of the address ^= bits [7, 7+b).
enum class OperandSwizzle : std::uint8_t { None = 0, Bytes128 = 2, Bytes64 = 4, Bytes32 = 6 };

constexpr unsigned span_of(OperandSwizzle swizzle) {
  switch (swizzle) {
    case OperandSwizzle::Bytes128: return 128;
    case OperandSwizzle::Bytes64: return 64;
    case OperandSwizzle::Bytes32: return 32;
    case OperandSwizzle::None: break;
  }
  return 16;
}

constexpr OperandSwizzle operand_swizzle(unsigned span_bytes) {
  switch (span_bytes) {
    case 128: return OperandSwizzle::Bytes128;
    case 64: return OperandSwizzle::Bytes64;
    case 32: return OperandSwizzle::Bytes32;
    default: return OperandSwizzle::None;
  }
}

// Which index of an operand is contiguous: k, or the row of A (the column of B).
enum class OperandMajor : std::uint8_t { K = 0, MN = 1 };

// An operand consists of patterns of 8 rows of span_of(swizzle) bytes; a row runs along k (K-major)
// or along m or n (MN-major). Two distances say where the next patterns are:
//                          stride_bytes                     leading_bytes
//   K-major, swizzled      8 rows of m or n further         unused: the 32 bytes are in one row
//   K-major, None          8 rows of m or n further         the second 16 bytes of a row
//   MN-major, swizzled     8 rows of k further              the next span along m or n
//   MN-major, None         the next 16 bytes along m or n   8 rows of k further
// PTX 8.6, sm_100a: [0,14) start, [16,30) leading, [32,46) stride, in units of 16 bytes, [46,48)
// version 1, [49,52) base offset 0 (patterns are aligned), [61,64) swizzle.
constexpr std::uint64_t tcgen05_matrix_descriptor(SharedAddress start, unsigned leading_bytes,
                                                  unsigned stride_bytes, OperandSwizzle swizzle) {
  return std::uint64_t{(start & 0x3FFFF) >> 4} | std::uint64_t{leading_bytes >> 4} << 16 |
         std::uint64_t{stride_bytes >> 4} << 32 | std::uint64_t{1} << 46 |
         std::uint64_t{static_cast<std::uint8_t>(swizzle)} << 61;
}

// A swizzled K-major operand whose groups of 8 rows follow one another, as a TMA box with an inner
// extent of one span leaves it.
constexpr std::uint64_t tcgen05_k_major_descriptor(SharedAddress start, OperandSwizzle swizzle) {
  return tcgen05_matrix_descriptor(start, 16, 8 * span_of(swizzle), swizzle);
}

// An MN-major operand, swizzled. The patterns of one span of m or n lie `leading_bytes` apart from
// those of the next, and follow one another along k: `count` TMA boxes with an inner extent of one
// span and `k` rows, each 8-aligned, have leading_bytes = k * span.
constexpr std::uint64_t tcgen05_mn_major_descriptor(SharedAddress start, unsigned leading_bytes,
                                                    OperandSwizzle swizzle) {
  return tcgen05_matrix_descriptor(start, leading_bytes, 8 * span_of(swizzle), swizzle);
}

// The operand that starts so many bytes (a multiple of 16) further, for instance at the next k.
constexpr std::uint64_t tcgen05_advance(std::uint64_t descriptor, unsigned bytes) {
  return descriptor + (bytes >> 4);
}

// Element formats of A and B, with the kind of instruction that multiplies them.
struct MmaFormat {
  MmaKind kind;
  std::uint8_t code;
};
namespace mma_format {
inline constexpr MmaFormat fp16{MmaKind::F16, 0}, bf16{MmaKind::F16, 1};
inline constexpr MmaFormat tf32{MmaKind::Tf32, 2};
inline constexpr MmaFormat e4m3{MmaKind::F8F6F4, 0}, e5m2{MmaKind::F8F6F4, 1};
inline constexpr MmaFormat e2m3{MmaKind::F8F6F4, 3}, e3m2{MmaKind::F8F6F4, 4};
inline constexpr MmaFormat e2m1{MmaKind::F8F6F4, 5};
inline constexpr MmaFormat u8{MmaKind::I8, 0}, s8{MmaKind::I8, 1};
}  // namespace mma_format

enum class MmaAccumulator : std::uint8_t { F16 = 0, F32 = 1, S32 = 2 };

struct MmaFields {
  unsigned m, n;
  MmaFormat a, b;
  MmaAccumulator accumulator = MmaAccumulator::F32;
  OperandMajor a_major = OperandMajor::K, b_major = OperandMajor::K;
  bool negate_a = false, negate_b = false;
};

// PTX 8.6, sm_100a: [4,6) accumulator, [7,10) a, [10,13) b, 13 and 14 negate, 15 and 16 major,
// [17,23) n / 8, [24,29) m / 16. m and n are those of the whole product: of both CTAs in group 2.
constexpr std::uint32_t tcgen05_instruction_descriptor(const MmaFields& fields) {
  return std::uint32_t{static_cast<std::uint8_t>(fields.accumulator)} << 4 |
         std::uint32_t{fields.a.code} << 7 | std::uint32_t{fields.b.code} << 10 |
         std::uint32_t{fields.negate_a} << 13 | std::uint32_t{fields.negate_b} << 14 |
         std::uint32_t{static_cast<std::uint8_t>(fields.a_major)} << 15 |
         std::uint32_t{static_cast<std::uint8_t>(fields.b_major)} << 16 | (fields.n >> 3) << 17 |
         (fields.m >> 4) << 24;
}

// Fields of block-scaled kinds. Scale ids name the byte of the 32-bit column that holds a scale.
enum class ScaleFormat : std::uint8_t { Ue4m3 = 0, Ue8m0 = 1 };
struct ScaledMmaFields {
  unsigned m, n;
  std::uint8_t a_code, b_code;  // mxf8f6f4: as MmaFormat; mxf4 and mxf4nvf4: 1 for e2m1
  ScaleFormat scale = ScaleFormat::Ue8m0;
  unsigned a_scale_id = 0, b_scale_id = 0;
  OperandMajor a_major = OperandMajor::K, b_major = OperandMajor::K;
};
constexpr std::uint32_t tcgen05_scaled_instruction_descriptor(const ScaledMmaFields& fields) {
  return fields.b_scale_id << 4 | std::uint32_t{fields.a_code} << 7 |
         std::uint32_t{fields.b_code} << 10 |
         std::uint32_t{static_cast<std::uint8_t>(fields.a_major)} << 15 |
         std::uint32_t{static_cast<std::uint8_t>(fields.b_major)} << 16 | (fields.n >> 3) << 17 |
         std::uint32_t{static_cast<std::uint8_t>(fields.scale)} << 23 | (fields.m >> 4) << 24 |
         fields.a_scale_id << 29;
}

}  // namespace tw::isa
