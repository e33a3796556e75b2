// A product to measure.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/number/element_type.h"

namespace tw::bench {

// D = A B^T in bf16 (or fp16) of operands of one type, both K-major.
struct MatmulCase {
  std::int64_t m = 0, n = 0, k = 0;
  ElementType type = ElementType::Bf16;
  std::int64_t pitch_align = 1;  // lines begin at multiples of so many elements
  std::int64_t compared_to = 0;  // also at extents rounded up to multiples of this; 0: not

  static constexpr std::int64_t up(std::int64_t extent, std::int64_t unit) {
    return (extent + unit - 1) / unit * unit;
  }
  std::int64_t k_pitch() const { return up(k, pitch_align); }
  std::int64_t n_pitch() const { return up(n, pitch_align); }
  MatmulCase rounded_up() const {
    return {up(m, compared_to), up(n, compared_to), up(k, compared_to), type, 1, 0};
  }

  ElementType d_type() const {
    return type == ElementType::Fp16 ? ElementType::Fp16 : ElementType::Bf16;
  }
  // Read and written once.
  double bytes() const {
    return double(bytes_of(type)) * (double(m) * k + double(n) * k) + 2.0 * m * n;
  }
  double flops() const { return 2.0 * m * n * k; }
  bool is_decode() const { return m <= 64; }

  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  }
};

}  // namespace tw::bench
