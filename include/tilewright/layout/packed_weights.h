// Weights of four bits as products with A from registers take them: packed once, in blocks that a
// plain copy brings with their scales, and of which one load of 16 bytes is a lane's fragments.
//
// A block is 64 features (rows of wgmma's A) by 128 of k: codes first, then scales. Blocks of 64
// features follow each other along k; then come the next 64 features. What lies beyond n or k is
// code 0 with a finite scale.
//
// Codes. Of a block, span s of 64 of k is 2,048 bytes, of which thread t of the warpgroup has the
// 16 at 16 * t: a word for each product of 16 of k. A word's four pairs are the four registers of
// A: pair p is of row 16 * (t / 32) + t % 32 / 4 + 8 * (p % 2) and k = 2 * (t % 4) + 8 * (p / 2)
// onwards; the even k is in the lower half of the word. Pairs are taken out by a mask, or by a
// shift and a mask:
//   e2m1 for bf16   signs at bits 15, 12, 14, 13 of a half, magnitudes from bits 6, 3, 0, 9
//   e2m1 for fp16   signs at bits 15, 12, 14, 13, magnitudes from bits 9, 6, 3, 0
//   int4            from bits 0, 4, 8, 12
// so that pair 0 of e2m1, masked, is a number: the value times 2^-126 as bf16, 2^-14 as fp16.
//
// For activations of e4m3 a product has 32 of k and its registers have four elements each. Of a
// thread's 16 bytes each product has two words, that of the upper row first. The lower half of a
// word are the elements of k = 4 * (t % 4) onwards, the upper half those of 16 more: magnitudes are
// nibbles that select bytes of a table, signs of the lower half are at bits 7, 15, 23, 31, those of
// the upper half four bits below.
//
// Scales. A record for each two rows r and r + 8 of a warp's 16, in the order of warps and rows:
// group by group along k, of each group first the scale of the upper row.
//   mxfp4, bf16   a byte: code of ue8m0 + 126 - exponent, at most 254; NaN: 255, and codes are 0
//   mxfp4, fp16   a byte: 8 * (code of ue8m0 - 98 - exponent), at most 240; NaN: 255
//   mxfp4, e4m3   a byte: 8 * (code of ue8m0 - 122 - exponent), at most 88, which is added to the
//                 table 00 08 10 14 18 1C 20 24 of e2m1 times 2^-5, but not to its zero; NaN: 91,
//                 and codes are 7
//   nvfp4         a byte: 5 bits of the exponent + 21 of the scale, then 3 of its fraction, so that
//                 subnormal scales are written as others; NaN: 255; where the scale is 0, codes are
//                 0 and the byte is any number's
//   int4          two bytes: the scale in the type of the activations
//   int4 with zero points   four: the scale, then bias + zero point, in that type; the bias is
//                 128 for bf16, 1,024 for fp16
// `exponent` is a number of the packed tensor that a caller chooses (0 where no scale of mxfp4 is
// above 2): sums are of weights times 2^-exponent, and the product's alpha makes up for it. Of
// nvfp4 it is 8.
#pragma once

#include <cstdint>

#include "tilewright/number/element_type.h"

namespace tw {

enum class WeightFormat : unsigned { Mxfp4, Nvfp4, Int4, Int4Zeros };

struct PackedWeights {
  WeightFormat format = WeightFormat::Mxfp4;
  ElementType activation = ElementType::Bf16;  // what they are multiplied by: or Fp16, E4m3
  unsigned group = 32;  // so many of k share a scale: mxfp4 32, nvfp4 16, int4 32, 64 or 128

  static constexpr unsigned rows = 64;  // a block's, and its k
  static constexpr unsigned k = 128;
  static constexpr unsigned span_k = 64;
  static constexpr unsigned span_bytes = rows * span_k / 2;
  static constexpr unsigned code_bytes = rows * k / 2;

  constexpr bool is_e2m1() const {
    return format == WeightFormat::Mxfp4 || format == WeightFormat::Nvfp4;
  }
  constexpr bool is_for_bytes() const { return activation == ElementType::E4m3; }
  constexpr unsigned step_k() const { return is_for_bytes() ? 32 : 16; }  // a product has so many
  constexpr unsigned scale_bytes() const {                                // one scale's
    return is_e2m1() ? 1 : format == WeightFormat::Int4 ? 2 : 4;
  }
  constexpr unsigned groups() const { return k / group; }  // a block's, in each row
  constexpr unsigned record_bytes() const { return 2 * groups() * scale_bytes(); }
  constexpr unsigned block_bytes() const { return code_bytes + rows / 2 * record_bytes(); }

  static constexpr std::int64_t row_blocks(std::int64_t n) { return (n + rows - 1) / rows; }
  static constexpr std::int64_t k_blocks(std::int64_t of_k) { return (of_k + k - 1) / k; }
  constexpr std::int64_t bytes(std::int64_t n, std::int64_t of_k) const {
    return row_blocks(n) * k_blocks(of_k) * block_bytes();
  }
  // Where the block with feature `row` and `at_k` begins in a tensor of `of_k`.
  constexpr std::int64_t block_at(std::int64_t row, std::int64_t at_k, std::int64_t of_k) const {
    return (row / rows * k_blocks(of_k) + at_k / k) * block_bytes();
  }

  // Where the scale of a row and a group of k lies in a block.
  constexpr unsigned scale_at(unsigned row, unsigned in_group) const {
    const unsigned record = row / 16 * 8 + row % 8;
    return code_bytes + record * record_bytes() + (2 * in_group + row / 8 % 2) * scale_bytes();
  }

  // The word of a block that holds a code, and which of its parts that is: a pair and its half, or
  // for e4m3 a half of the word and its element.
  struct Place {
    unsigned byte;  // the word's first
    unsigned part;
    unsigned element;
  };
  constexpr Place place_of(unsigned row, unsigned at_k) const {
    const unsigned lane_k = step_k() / 8;  // one register has so many
    const unsigned thread = row / 16 * 32 + row % 8 * 4 + at_k % (4 * lane_k) / lane_k;
    const unsigned byte =
        at_k / span_k * span_bytes + thread * 16 + at_k % span_k / step_k() * (step_k() / 4);
    const unsigned lower = row / 8 % 2, later = at_k / (4 * lane_k) % 2;
    if (is_for_bytes()) return {byte + 4 * lower, later, at_k % 4};
    return {byte, lower + 2 * later, at_k % 2};
  }
  // The inverse: row and k of a part and element of the word at a byte of the codes.
  struct Coordinate {
    unsigned row;
    unsigned k;
  };
  constexpr Coordinate coordinate_of(unsigned byte, unsigned part, unsigned element) const {
    const unsigned thread = byte % span_bytes / 16, word = byte % 16 / 4;
    const unsigned row = thread / 32 * 16 + thread % 32 / 4, k_of_span = byte / span_bytes * span_k;
    if (is_for_bytes()) {
      return {row + word % 2 * 8, k_of_span + word / 2 * 32 + thread % 4 * 4 + part * 16 + element};
    }
    return {row + part % 2 * 8, k_of_span + word * 16 + thread % 4 * 2 + part / 2 * 8 + element};
  }

  // The lowest bit of a pair's magnitude (of int4, of its code) in a half, and the bit of its sign.
  constexpr unsigned low_bit(unsigned pair) const {
    if (!is_e2m1()) return 4 * pair;
    constexpr unsigned for_bf16[4] = {6, 3, 0, 9}, for_fp16[4] = {9, 6, 3, 0};
    return activation == ElementType::Bf16 ? for_bf16[pair] : for_fp16[pair];
  }
  static constexpr unsigned sign_bit(unsigned pair) {
    constexpr unsigned bits[4] = {15, 12, 14, 13};
    return bits[pair];
  }
  // The bits that a code has in its word, to be joined with those of the others.
  constexpr std::uint32_t placed(unsigned code, unsigned part, unsigned element) const {
    if (is_for_bytes()) {
      return (code & 7) << (16 * part + 4 * element) | (code >> 3) << (8 * element + 7 - 4 * part);
    }
    const std::uint32_t bits = is_e2m1()
                                   ? (code & 7) << low_bit(part) | (code >> 3) << sign_bit(part)
                                   : code << low_bit(part);
    return bits << 16 * element;
  }
  // The code that a word has there.
  constexpr unsigned code_in(std::uint32_t word, unsigned part, unsigned element) const {
    if (is_for_bytes()) {
      return (word >> (16 * part + 4 * element) & 7) | (word >> (8 * element + 7 - 4 * part) & 1)
                                                           << 3;
    }
    const std::uint32_t bits = word >> 16 * element & 0xFFFF;
    return is_e2m1() ? (bits >> low_bit(part) & 7) | (bits >> sign_bit(part) & 1) << 3
                     : bits >> low_bit(part) & 15;
  }
};

}  // namespace tw
