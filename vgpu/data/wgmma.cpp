#include "vgpu/data/wgmma.h"

#include <algorithm>
#include <vector>

#include "tilewright/base/require.h"
#include "vgpu/data/wgmma_operands.h"

namespace tw::vgpu {
namespace {

// What the tensor core adds up: floats, or integers that wrap around.
template <ElementType type>
using Number = std::conditional_t<is_integer(type), std::uint32_t, float>;

template <ElementType type>
using Bits =
    std::conditional_t<bytes_of(type) == 1, std::uint8_t,
                       std::conditional_t<bytes_of(type) == 2, std::uint16_t, std::uint32_t>>;

// All values of a narrow type: decoding one by one would cost more than the products.
template <ElementType type>
const float* values_of() {
  constexpr std::size_t codes = std::size_t{1} << (8 * bytes_of(type));
  static const auto table = [] {
    std::vector<float> values(codes);
    for (std::size_t code = 0; code < codes; ++code) {
      values[code] = static_cast<float>(Element<type>::from_bits(static_cast<Bits<type>>(code)));
    }
    return values;
  }();
  return table.data();
}

// Calls use(decode), where decode turns an element's bits into a number.
template <ElementType type, class Use>
void with_decoder(Use&& use) {
  if constexpr (type == ElementType::Bf16) {
    use([](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); });
  } else if constexpr (type == ElementType::Tf32) {
    use([](std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffff'e000); });
  } else if constexpr (type == ElementType::S8) {
    use([](std::uint8_t bits) {
      return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(bits)});
    });
  } else {
    use([values = values_of<type>()](Bits<type> bits) { return values[bits]; });
  }
}

// sums += a b over one row. The compiler unrolls k and vectorises the columns, so every column
// still adds in order of k.
template <unsigned k_count, class Number>
void add_row_product(Number* __restrict sums, const Number* __restrict a,
                     const Number (*__restrict b)[wgmma_max_n], unsigned n) {
  for (unsigned column = 0; column < n; ++column) {
    Number sum = sums[column];
    for (unsigned k = 0; k < k_count; ++k) sum += a[k] * b[k][column];
    sums[column] = sum;
  }
}

template <ElementType a_type, ElementType b_type>
void multiply(const WgmmaShape& shape, std::uint32_t* const fragments[128],
              const WgmmaOperands& operands, bool accumulate) {
  constexpr unsigned k_count = WgmmaShape{.a = a_type}.k();
  using Value = Number<a_type>;
  Value a[wgmma_m][k_count];
  Value b[k_count][wgmma_max_n];  // columns contiguous, for the vector loop
  with_decoder<a_type>([&](auto decode) {
    for_each_a_element<Bits<a_type>>(
        shape, operands, [&](unsigned m, unsigned k, auto bits) { a[m][k] = decode(bits); });
  });
  with_decoder<b_type>([&](auto decode) {
    for_each_chunk_element<Bits<b_type>>(
        operands.b_chunks, shape.n, shape.b_transposed != 0,
        [&](unsigned column, unsigned k, auto bits) { b[k][column] = decode(bits); });
  });
  for (unsigned m = 0; m < wgmma_m; ++m) {
    Value sums[wgmma_max_n];
    if (accumulate) {
      for_each_row_pair(fragments, m, shape.n, [&](unsigned column, const std::uint32_t* pair) {
        std::memcpy(&sums[column], pair, 8);
      });
    } else {
      std::fill_n(sums, shape.n, Value{});
    }
    add_row_product<k_count>(sums, a[m], b, shape.n);
    for_each_row_pair(fragments, m, shape.n, [&](unsigned column, std::uint32_t* pair) {
      std::memcpy(pair, &sums[column], 8);
    });
  }
}

}  // namespace

void require_legal(const WgmmaShape& shape) {
  require(shape.has_legal_types(), "wgmma: there is no product of these types.");
  require(shape.has_legal_majors(), "wgmma: only 16-bit types may lie along m or n.");
  require(shape.has_legal_n(),
          "wgmma: n must be a multiple of 8 up to 256; with s8, of 16 from 32 on.");
}

void wgmma_m64(const WgmmaShape& shape, std::uint32_t* const fragments[128],
               const WgmmaOperands& operands, bool accumulate) {
  require_legal(shape);
  require(!operands.a_from_registers || bytes_of(shape.a) <= 2,
          "wgmma: A from registers is modelled for elements of 8 and 16 bits only.");
  const auto run = [&](auto product) { product(shape, fragments, operands, accumulate); };
  switch (shape.a) {
    case ElementType::Bf16: return run(multiply<ElementType::Bf16, ElementType::Bf16>);
    case ElementType::Fp16: return run(multiply<ElementType::Fp16, ElementType::Fp16>);
    case ElementType::Tf32: return run(multiply<ElementType::Tf32, ElementType::Tf32>);
    case ElementType::S8: return run(multiply<ElementType::S8, ElementType::S8>);
    case ElementType::E4m3:
      return shape.b == ElementType::E4m3 ? run(multiply<ElementType::E4m3, ElementType::E4m3>)
                                          : run(multiply<ElementType::E4m3, ElementType::E5m2>);
    default:
      return shape.b == ElementType::E4m3 ? run(multiply<ElementType::E5m2, ElementType::E4m3>)
                                          : run(multiply<ElementType::E5m2, ElementType::E5m2>);
  }
}

}  // namespace tw::vgpu
