#include <cstring>
#include <vector>

#include "tilewright/number/ue8m0.h"
#include "vgpu/data/tcgen05.h"
#include "vgpu/data/tcgen05_elements.h"

namespace tw::vgpu {
namespace {

using isa::OperandMajor;

double scale_value(isa::ScaleFormat format, std::uint8_t bits) {
  return format == isa::ScaleFormat::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(bits))
                                           : static_cast<float>(Ue4m3::from_bits(bits & 0x7F));
}

// Calls set(row, k, value) for all elements that one CTA holds of an operand.
template <class Set>
void for_each_element(const TensorProduct& product, std::uint8_t code, OperandMajor major,
                      const std::byte* const* pieces, unsigned rows, Set&& set) {
  const auto& values = byte_values(code);
  const unsigned bits = code_bits(code), per_piece = product.packed ? 32 : 16;
  const unsigned count = major == OperandMajor::K ? 2 * rows : 2 * rows / 16 * 16;
  for (unsigned piece = 0; piece < count; ++piece) {
    for (unsigned i = 0; i < per_piece; ++i) {
      const double value = values[packed_code(pieces[piece], i, bits)];
      if (major == OperandMajor::K) {
        set(piece / 2, piece % 2 * per_piece + i, value);
      } else {
        set(piece % (rows / 16) * 16 + i, piece / (rows / 16), value);
      }
    }
  }
}

}  // namespace

void multiply_scaled(const TensorProduct& product, const TensorProductData& data, bool accumulate) {
  const unsigned rows = product.rows_per_cta(), columns = product.columns_per_cta(), n = product.n;
  const unsigned k_extent = product.packed ? 64 : 32;
  const unsigned block = k_extent / product.scales.per_row;
  const isa::ScaleFormat format = product.scales.format;
  std::vector<double> a(rows * k_extent), b(k_extent * n), sums(n);
  for (unsigned cta = 0; cta < product.cta_group; ++cta) {
    for_each_element(product, product.a_code, product.a_major, data.a[cta], rows,
                     [&](unsigned row, unsigned k, double value) {
                       const std::uint8_t scale = data.a_scales[cta * rows + row][k / block];
                       a[row * k_extent + k] =
                           (product.negate_a ? -value : value) * scale_value(format, scale);
                     });
    // A CTA scales all columns as its own tensor memory says.
    for (unsigned other = 0; other < product.cta_group; ++other) {
      for_each_element(product, product.b_code, product.b_major, data.b[other], columns,
                       [&](unsigned row, unsigned k, double value) {
                         const unsigned column = other * columns + row;
                         const std::uint8_t scale = data.b_scales[cta][column][k / block];
                         b[k * n + column] =
                             (product.negate_b ? -value : value) * scale_value(format, scale);
                       });
    }
    for (unsigned row = 0; row < rows; ++row) {
      std::uint32_t* const d = data.d[cta * rows + row][0];
      float values[256] = {};
      if (accumulate) std::memcpy(values, d, n * sizeof(float));
      for (unsigned i = 0; i < n; ++i) sums[i] = values[i];
      for (unsigned k = 0; k < k_extent; ++k) {
        const double factor = a[row * k_extent + k];
        for (unsigned i = 0; i < n; ++i) sums[i] += factor * b[k * n + i];
      }
      for (unsigned i = 0; i < n; ++i) values[i] = static_cast<float>(sums[i]);
      std::memcpy(d, values, n * sizeof(float));
    }
  }
}

}  // namespace tw::vgpu
