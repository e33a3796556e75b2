// Words of packed weights as the registers of A of one product.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/packed_arithmetic.h"
#include "tilewright/isa/ptx/permute.h"
#include "tilewright/layout/packed_weights.h"

namespace tw {

// A thread reads the scales of its two rows of a block.
template <PackedWeights packed>
struct ScaleRecord {
  static constexpr unsigned words = packed.record_bytes() / 4;
  std::uint32_t word[words];
};

// Weights are exact: of e2m1 every value times its scale is a number of bf16, or of fp16 where
// packing found it so. Int4 times its scale is rounded once.
//
// Logical operations, shifts and permutations share a pipe of half the others' width, and would be
// what a product of few rows waits for. So bits are moved by multiplications where that is
// possible, by factors that the compiler does not know: of known ones it makes shifts.
template <PackedWeights packed, bool for_bytes = packed.is_for_bytes()>
class FourBitFragments {
  static constexpr ElementType type = packed.activation;
  static constexpr bool is_bf16 = type == ElementType::Bf16;
  static constexpr bool has_zeros = packed.format == WeightFormat::Int4Zeros;
  static_assert(is_bf16 || type == ElementType::Fp16,
                "Weights of four bits become numbers of 16 bits.");

 public:
  static constexpr unsigned words = 1;  // a thread has so many for one product
  // The registers of the product of k = 16 * step onwards of a block.
  static TW_DEVICE void convert(std::uint32_t (&a)[4], const std::uint32_t* all,
                                const ScaleRecord<packed>& record, unsigned step) {
    const std::uint32_t word = *all;
    const unsigned group = 16 * step / packed.group;
    std::uint32_t pairs[4];
    if constexpr (packed.is_e2m1())
      values_of_e2m1(pairs, word);
    else
      values_of_int4(pairs, word, record, group);
    TW_UNROLL
    for (unsigned row = 0; row < 2; ++row) {
      const std::uint32_t scale = scale_of(record, group, row);
      a[row] = isa::multiply_pairs<type>(pairs[row], scale);
      a[row + 2] = isa::multiply_pairs<type>(pairs[row + 2], scale);
    }
  }

 private:
  static constexpr std::uint32_t both(std::uint32_t half) { return half << 16 | half; }

  // Sign and magnitude where a number has its sign, its lowest bits of the exponent and the highest
  // of the fraction. A product moves the two of a pair by different numbers of bits at once.
  static TW_DEVICE void values_of_e2m1(std::uint32_t (&pairs)[4], std::uint32_t word) {
    constexpr std::uint32_t magnitude = both(is_bf16 ? 0x01C0 : 0x0E00), sign = both(0x8000);
    pairs[0] = word & (sign | magnitude);
    pairs[1] = isa::shifted_by_product<3>(word) & (sign | magnitude);
    if constexpr (is_bf16) {
      pairs[2] = (word & both(0x4007)) * (2 + 64) & (sign | magnitude);
      pairs[3] = (word >> 3 & magnitude) | (isa::shifted_by_product<2>(word) & sign);
    } else {
      pairs[2] = (word & both(0x4038)) * (2 + 64) & (sign | magnitude);
      pairs[3] = (word & both(0x2007)) * (4 + 512) & (sign | magnitude);
    }
  }

  // The bias + code is a number whose last bits the code is; less bias + zero point it is exact.
  static TW_DEVICE void values_of_int4(std::uint32_t (&pairs)[4], std::uint32_t word,
                                       const ScaleRecord<packed>& record, unsigned group) {
    constexpr std::uint32_t bias = both(is_bf16 ? 0x4300 : 0x6400);
    TW_UNROLL
    for (unsigned pair = 0; pair < 4; ++pair) {
      std::uint32_t zero = bias + both(0x0008);
      if constexpr (has_zeros) zero = half_of(record, 2 * (2 * group + pair % 2) + 1);
      pairs[pair] = isa::subtract_pairs<type>((word >> 4 * pair & both(0x000F)) | bias, zero);
    }
  }

  // The scale of a row, twice.
  static TW_DEVICE std::uint32_t scale_of(const ScaleRecord<packed>& record, unsigned group,
                                          unsigned row) {
    const unsigned index = 2 * group + row;
    if constexpr (!packed.is_e2m1()) {
      return half_of(record, index * packed.scale_bytes() / 2);
    } else {
      // A word has two groups: bytes 0 and 2 are of the upper row, 1 and 3 of the lower. Those of a
      // row become two numbers at once, each in the half where its byte was.
      constexpr bool is_wide = packed.format == WeightFormat::Nvfp4 && is_bf16;
      constexpr unsigned shift = is_wide ? 4 : 7;
      const std::uint32_t word = record.word[index / 4];
      std::uint32_t scales = index % 2 == 0 ? isa::shifted_by_product<shift>(word & both(0x00FF))
                                            : word >> (8 - shift) & both(0x00FF << shift);
      if constexpr (is_wide) scales += both(0x7000);
      return isa::half_twice(scales, index / 2 % 2);
    }
  }
  static TW_DEVICE std::uint32_t half_of(const ScaleRecord<packed>& record, unsigned index) {
    return isa::half_twice(record.word[index / 2], index % 2);
  }
};

// The same for activations of e4m3. The magnitudes of e2m1 are entries of a table of eight bytes,
// to which a scale adds what it adds to exponents: one permutation takes four weights out of it.
template <PackedWeights packed>
class FourBitFragments<packed, true> {
  static_assert(packed.format == WeightFormat::Mxfp4,
                "Of these formats MXFP4's weights alone are numbers of e4m3.");

 public:
  static constexpr unsigned words = 2;
  // The registers of the product of k = 32 * step onwards of a block: a group's.
  static TW_DEVICE void convert(std::uint32_t (&a)[4], const std::uint32_t* all,
                                const ScaleRecord<packed>& record, unsigned step) {
    TW_UNROLL
    for (unsigned row = 0; row < 2; ++row) {
      const unsigned index = 2 * step + row;
      const std::uint32_t scale = record.word[index / 4] >> index % 4 * 8 & 0xFF;
      // Zero stays zero.
      const std::uint32_t low = 0x14100800 + scale * 0x01010100;
      const std::uint32_t high = 0x24201C18 + scale * 0x01010101;
      const std::uint32_t word = all[row], magnitudes = word & 0x77777777;
      constexpr std::uint32_t signs = 0x80808080;
      a[row] = isa::permute_bytes(low, high, magnitudes) | (word & signs);
      a[row + 2] = isa::permute_bytes(low, high, magnitudes >> 16) |
                   (isa::shifted_by_product<4>(word) & signs);
    }
  }
};

}  // namespace tw
