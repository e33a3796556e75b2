#include "vgpu/data/warp_product.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tilewright/number/narrow_float.h"

namespace tw::vgpu {
namespace {

constexpr unsigned rows = 16, columns = 8, most_k = 32;

double value_of(MmaElement element, std::uint32_t bits) {
  switch (element) {
    case MmaElement::Bf16: return std::bit_cast<float>(bits << 16);
    case MmaElement::F16:
      return static_cast<float>(Fp16::from_bits(static_cast<std::uint16_t>(bits)));
    case MmaElement::Tf32: return static_cast<float>(Tf32::from_bits(bits));
    case MmaElement::E4m3:
      return static_cast<float>(E4m3::from_bits(static_cast<std::uint8_t>(bits)));
    case MmaElement::E5m2:
      return static_cast<float>(E5m2::from_bits(static_cast<std::uint8_t>(bits)));
    case MmaElement::S8: return static_cast<std::int8_t>(bits);
    case MmaElement::U8: return bits;
  }
  return 0;
}

// Calls set(row or column, k, value); of a every second register belongs to the lower eight rows.
template <class Set>
void for_each_element(MmaElement element, const std::uint32_t* const registers[32], unsigned count,
                      bool is_a, const Set& set) {
  const unsigned bits = 8 * bytes_of(element), elements = 32 / bits;
  const std::uint32_t mask = elements == 1 ? ~0u : (1u << bits) - 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned outer = lane / 4 + (is_a ? i % 2 * 8 : 0);
      const unsigned k = elements * (lane % 4 + 4 * (is_a ? i / 2 : i));
      for (unsigned e = 0; e < elements; ++e) {
        set(outer, k + e, value_of(element, registers[lane][i] >> (e * bits) & mask));
      }
    }
  }
}

// Doubles hold every sum of integers here exactly; modulo 2^32 they wrap.
std::uint32_t integer_of(double sum, bool saturates) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (saturates) sum = std::clamp<double>(sum, Limits::min(), Limits::max());
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

std::uint32_t float_of(double sum) {
  const auto rounded = static_cast<float>(sum);
  return float32::is_nan(rounded) ? float32::canonical_nan : std::bit_cast<std::uint32_t>(rounded);
}

}  // namespace

void multiply(const WarpProduct& product, const MmaLanes& lanes) {
  double a[rows][most_k], b[columns][most_k];
  for_each_element(product.a, lanes.a, product.a_registers(), true,
                   [&](unsigned row, unsigned k, double value) { a[row][k] = value; });
  for_each_element(product.b, lanes.b, product.b_registers(), false,
                   [&](unsigned column, unsigned k, double value) { b[column][k] = value; });
  const bool is_integer = product.a == MmaElement::S8 || product.a == MmaElement::U8;
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto* const d = static_cast<std::uint32_t*>(lanes.d[lane]);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      const unsigned shift = i % 2 * 16;
      std::uint32_t& word = product.half_sums ? d[i / 2] : d[i];
      const double before = is_integer ? static_cast<double>(static_cast<std::int32_t>(word))
                            : product.half_sums ? value_of(MmaElement::F16, word >> shift)
                                                : static_cast<double>(std::bit_cast<float>(word));
      double sum = 0;
      for (unsigned k = 0; k < product.k; ++k) sum += a[row][k] * b[column][k];
      sum += before;
      if (product.half_sums) {
        const std::uint32_t half = Fp16(static_cast<float>(sum)).bits;
        word = (word & ~(0xffffu << shift)) | half << shift;
      } else {
        word = is_integer ? integer_of(sum, product.saturates) : float_of(sum);
      }
    }
  }
}

}  // namespace tw::vgpu
