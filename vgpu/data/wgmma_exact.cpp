#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tilewright/base/require.h"
#include "vgpu/data/wgmma.h"
#include "vgpu/data/wgmma_operands.h"

namespace tw::vgpu {
namespace {

// Alignment never goes below this exponent: measured on an H200 with tiny products of bf16.
constexpr int lowest_exponent = -133;

// value = significand * 2^(exponent - fraction bits of its type). Subnormals keep the exponent of
// the smallest normal number, as in hardware.
struct Unpacked {
  std::int32_t significand;
  std::int32_t exponent;
};

// How the bits of an element are split; the sign stands above.
struct Format {
  unsigned exponent_bits;
  unsigned fraction_bits;
  bool has_infinity;         // otherwise only the code of all ones is not finite
  unsigned unread_bits = 0;  // below the fraction

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t code(std::uint32_t bits) const { return bits >> unread_bits; }

  constexpr Unpacked unpack(std::uint32_t bits) const {
    const std::uint32_t fraction = code(bits) & ((1u << fraction_bits) - 1);
    const auto biased =
        static_cast<std::int32_t>(code(bits) >> fraction_bits & ((1u << exponent_bits) - 1));
    const auto significand =
        static_cast<std::int32_t>(fraction | (biased != 0 ? 1u << fraction_bits : 0));
    const bool is_negative = (code(bits) >> (exponent_bits + fraction_bits) & 1) != 0;
    return {is_negative ? -significand : significand, std::max(biased, 1) - bias()};
  }
  constexpr bool is_finite(std::uint32_t bits) const {
    const std::uint32_t exponent_mask = ((1u << exponent_bits) - 1) << fraction_bits;
    const std::uint32_t mask =
        has_infinity ? exponent_mask : exponent_mask | ((1u << fraction_bits) - 1);
    return (code(bits) & mask) != mask;
  }
  // Only asked of elements that are not finite, and of those beside them.
  double value(std::uint32_t bits) const {
    const Unpacked parts = unpack(bits);
    if (!is_finite(bits)) {
      const bool is_nan = !has_infinity || (code(bits) & ((1u << fraction_bits) - 1)) != 0;
      return is_nan ? NAN : std::copysign(INFINITY, parts.significand);
    }
    return std::ldexp(parts.significand, parts.exponent - static_cast<int>(fraction_bits));
  }
};

constexpr Format float_format = {8, 23, true};

constexpr Format format_of(ElementType type) {
  switch (type) {
    case ElementType::Bf16: return {8, 7, true};
    case ElementType::Fp16: return {5, 10, true};
    case ElementType::Tf32: return {8, 10, true, 13};
    case ElementType::E5m2: return {5, 2, true};
    default: return {4, 3, false};
  }
}

// To `kept_bits` fractional bits below the largest exponent, toward zero.
std::int64_t aligned(std::int64_t significand, unsigned fraction_bits, unsigned kept_bits,
                     int shift) {
  if (significand == 0) return 0;  // its exponent may exceed the largest, and the shift be negative
  const std::int64_t fixed = std::abs(significand) << kept_bits;
  const std::int64_t kept = fixed >> std::min<int>(shift + static_cast<int>(fraction_bits), 63);
  return significand < 0 ? -kept : kept;
}

// sum * 2^(exponent - kept_bits), rounded toward zero to `result_bits` of fraction; what exceeds
// f32 becomes infinite, and what rounds to zero becomes a positive zero.
std::uint32_t rounded(std::int64_t sum, int exponent, unsigned kept_bits, unsigned result_bits) {
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
  const std::uint32_t sign = sum < 0 ? 0x8000'0000 : 0;
  const int lowest = exponent - static_cast<int>(kept_bits);
  const int top = lowest + static_cast<int>(std::bit_width(magnitude)) - 1;
  if (top > 127) return sign | 0x7f80'0000;
  const int shift = std::max(top, -126) - 23 - lowest;  // to the unit of the result
  auto significand =
      static_cast<std::uint32_t>(shift >= 0 ? magnitude >> shift : magnitude << -shift);
  significand = significand >> (23 - result_bits) << (23 - result_bits);
  if (significand == 0) return 0;
  const std::uint32_t biased = top >= -126 ? static_cast<std::uint32_t>(top + 127) : 0;
  return sign | biased << 23 | (significand & 0x7f'ffff);
}

// A row of A or a column of B.
struct Vector {
  std::uint32_t bits[wgmma_max_k];
  Unpacked values[wgmma_max_k];
  bool is_finite = true;

  void set(const Format& format, unsigned k, std::uint32_t element) {
    bits[k] = element;
    values[k] = format.unpack(element);
    is_finite &= format.is_finite(element);
  }
};

class Adder {
 public:
  explicit Adder(const WgmmaShape& shape)
      : a_(format_of(shape.a)), b_(format_of(shape.b)), k_(shape.k()) {
    const bool is_fp8 = bytes_of(shape.a) == 1;
    kept_bits_ = is_fp8 ? 13 : 25;
    result_bits_ = is_fp8 ? 13 : 23;
  }

  std::uint32_t add(const Vector& a, const Vector& b, std::uint32_t c) const {
    if (!a.is_finite || !b.is_finite || !float_format.is_finite(c)) return special(a, b, c);
    const Unpacked addend = float_format.unpack(c);
    int largest = addend.significand == 0 ? lowest_exponent : addend.exponent;
    for (unsigned k = 0; k < k_; ++k) {
      if (a.values[k].significand == 0 || b.values[k].significand == 0) continue;
      largest = std::max(largest, a.values[k].exponent + b.values[k].exponent);
    }
    std::int64_t sum = aligned(addend.significand, 23, kept_bits_, largest - addend.exponent);
    const unsigned fraction_bits = a_.fraction_bits + b_.fraction_bits;
    for (unsigned k = 0; k < k_; ++k) {
      const std::int64_t product = std::int64_t{a.values[k].significand} * b.values[k].significand;
      sum += aligned(product, fraction_bits, kept_bits_,
                     largest - a.values[k].exponent - b.values[k].exponent);
    }
    return rounded(sum, largest, kept_bits_, result_bits_);
  }

 private:
  // Infinities and NaN: the sum in double is infinite or NaN exactly when the hardware's is.
  std::uint32_t special(const Vector& a, const Vector& b, std::uint32_t c) const {
    double sum = std::bit_cast<float>(c);
    for (unsigned k = 0; k < k_; ++k) sum += a_.value(a.bits[k]) * b_.value(b.bits[k]);
    if (std::isnan(sum)) return 0x7fff'ffff;
    return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  }

  Format a_, b_;
  unsigned k_;
  unsigned kept_bits_, result_bits_;
};

template <class Bits>
void add_products(const WgmmaShape& shape, std::uint32_t* const fragments[128],
                  const WgmmaOperands& operands, bool accumulate) {
  const Adder adder(shape);
  const Format a_format = format_of(shape.a), b_format = format_of(shape.b);
  Vector a[wgmma_m];
  Vector b[wgmma_max_n];
  for_each_a_element<Bits>(shape, operands, [&](unsigned m, unsigned k, std::uint32_t bits) {
    a[m].set(a_format, k, bits);
  });
  for_each_chunk_element<Bits>(
      operands.b_chunks, shape.n, shape.b_transposed != 0,
      [&](unsigned column, unsigned k, std::uint32_t bits) { b[column].set(b_format, k, bits); });
  for (unsigned m = 0; m < wgmma_m; ++m) {
    for_each_row_pair(fragments, m, shape.n, [&](unsigned column, std::uint32_t* pair) {
      for (unsigned i = 0; i < 2; ++i) {
        pair[i] = adder.add(a[m], b[column + i], accumulate ? pair[i] : 0);
      }
    });
  }
}

}  // namespace

void wgmma_m64_exact(const WgmmaShape& shape, std::uint32_t* const fragments[128],
                     const WgmmaOperands& operands, bool accumulate) {
  require_legal(shape);
  if (is_integer(shape.a)) {  // there is nothing to round
    wgmma_m64(shape, fragments, operands, accumulate);
  } else if (bytes_of(shape.a) == 1) {
    add_products<std::uint8_t>(shape, fragments, operands, accumulate);
  } else if (bytes_of(shape.a) == 2) {
    add_products<std::uint16_t>(shape, fragments, operands, accumulate);
  } else {
    add_products<std::uint32_t>(shape, fragments, operands, accumulate);
  }
}

}  // namespace tw::vgpu
