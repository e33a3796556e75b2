#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tilewright/base/require.h"
#include "vgpu/data/wgmma.h"
#include "vgpu/data/wgmma_operands.h"

namespace tw::vgpu {
namespace {

constexpr unsigned wgmma_k = 16;

float bf16_value(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

constexpr int kept_fraction_bits = 25;
// Alignment never goes below this exponent: measured on an H200 with tiny products.
constexpr int lowest_exponent = -133;

// value = significand * 2^(exponent - fraction bits of its type). Subnormals keep the exponent of
// the smallest normal number, as in hardware.
struct Unpacked {
  std::int32_t significand;
  std::int32_t exponent;
};

Unpacked unpack(std::uint32_t bits, unsigned fraction_bits) {
  const auto magnitude = bits & 0x7fff'ffff;
  const auto biased = static_cast<std::int32_t>(magnitude >> 23);
  auto significand =
      static_cast<std::int32_t>((magnitude & 0x7f'ffff) | (biased ? 0x80'0000 : 0)) >>
      (23 - fraction_bits);
  return {bits >> 31 ? -significand : significand, std::max(biased, 1) - 127};
}

// To a unit of 2^-25 below the largest exponent, toward zero.
std::int64_t aligned(std::int64_t significand, unsigned fraction_bits, int shift) {
  if (significand == 0) return 0;  // its exponent may exceed the largest, and the shift be negative
  const std::int64_t fixed = std::abs(significand) << (kept_fraction_bits - fraction_bits);
  const std::int64_t kept = fixed >> std::min(shift, 63);
  return significand < 0 ? -kept : kept;
}

// sum * 2^(exponent - 25), rounded toward zero; what exceeds f32 becomes infinite, and what rounds
// to zero becomes a positive zero.
float rounded(std::int64_t sum, int exponent) {
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
  const std::uint32_t sign = sum < 0 ? 0x8000'0000 : 0;
  const int lowest = exponent - kept_fraction_bits;
  const int top = lowest + static_cast<int>(std::bit_width(magnitude)) - 1;
  if (top > 127) return std::bit_cast<float>(sign | 0x7f80'0000);
  const int shift = std::max(top, -126) - 23 - lowest;  // to the unit of the result
  const auto significand =
      static_cast<std::uint32_t>(shift >= 0 ? magnitude >> shift : magnitude << -shift);
  if (significand == 0) return 0.0f;
  const std::uint32_t biased = top >= -126 ? static_cast<std::uint32_t>(top + 127) : 0;
  return std::bit_cast<float>(sign | biased << 23 | (significand & 0x7f'ffff));
}

// Infinities and NaN: the sum in double is infinite or NaN exactly when the hardware's is.
float special_sum(const std::uint16_t* a, const std::uint16_t* b, float c) {
  double sum = c;
  for (unsigned k = 0; k < wgmma_k; ++k) sum += double{bf16_value(a[k])} * bf16_value(b[k]);
  return std::isnan(sum) ? std::bit_cast<float>(0x7fff'ffffu) : static_cast<float>(sum);
}

// A row of A or a column of B.
struct Vector {
  std::uint16_t bits[wgmma_k];
  Unpacked values[wgmma_k];
  bool is_finite = true;

  void set(unsigned k, std::uint32_t element) {
    bits[k] = static_cast<std::uint16_t>(element);
    values[k] = unpack(element << 16, 7);
    is_finite &= (element & 0x7f80) != 0x7f80;
  }
};

float product_sum(const Vector& a, const Vector& b, float c) {
  if (!a.is_finite || !b.is_finite || !std::isfinite(c)) return special_sum(a.bits, b.bits, c);
  const Unpacked addend = unpack(std::bit_cast<std::uint32_t>(c), 23);
  int largest = addend.significand == 0 ? lowest_exponent : addend.exponent;
  for (unsigned k = 0; k < wgmma_k; ++k) {
    if (a.values[k].significand == 0 || b.values[k].significand == 0) continue;
    largest = std::max(largest, a.values[k].exponent + b.values[k].exponent);
  }
  std::int64_t sum = aligned(addend.significand, 23, largest - addend.exponent);
  for (unsigned k = 0; k < wgmma_k; ++k) {
    const std::int64_t product = a.values[k].significand * b.values[k].significand;
    sum += aligned(product, 14, largest - a.values[k].exponent - b.values[k].exponent);
  }
  return rounded(sum, largest);
}

}  // namespace

void wgmma_m64_exact(const WgmmaShape& shape, std::uint32_t* const fragments[128],
                     const WgmmaOperands& operands, bool accumulate) {
  require_legal(shape);
  require(shape.a == ElementType::Bf16, "wgmma: the exact arithmetic is known for bf16 only.");
  Vector a[wgmma_m];
  Vector b[wgmma_max_n];
  for_each_a_element<std::uint16_t>(
      shape, operands, [&](unsigned m, unsigned k, std::uint32_t bits) { a[m].set(k, bits); });
  for_each_chunk_element<std::uint16_t>(
      operands.b_chunks, shape.n, shape.b_transposed != 0,
      [&](unsigned column, unsigned k, std::uint32_t bits) { b[column].set(k, bits); });
  for (unsigned m = 0; m < wgmma_m; ++m) {
    for_each_row_pair(fragments, m, shape.n, [&](unsigned column, std::uint32_t* pair) {
      for (unsigned i = 0; i < 2; ++i) {
        const float addend = accumulate ? std::bit_cast<float>(pair[i]) : 0.0f;
        pair[i] = std::bit_cast<std::uint32_t>(product_sum(a[m], b[column + i], addend));
      }
    });
  }
}

}  // namespace tw::vgpu
