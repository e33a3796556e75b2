// Which wgmma: m64nNkK, what it multiplies, and how its operands lie in shared memory.
#pragma once

#include "tilewright/number/element_type.h"

namespace tw {

// d (64 x n) = a (64 x k) b (k x n) + (accumulate ? d : 0); k is 32 bytes.
struct WgmmaShape {
  ElementType a = ElementType::Bf16;
  ElementType b = ElementType::Bf16;
  unsigned n = 8;
  // 0: contiguous along k. 1: along m (of a) or n (of b), for 16-bit types only.
  unsigned a_transposed = 0;
  unsigned b_transposed = 0;

  static constexpr unsigned step_bytes = 32;
  constexpr unsigned k() const { return step_bytes / bytes_of(a); }

  constexpr bool has_legal_types() const {
    const auto is_fp8 = [](ElementType t) {
      return t == ElementType::E4m3 || t == ElementType::E5m2;
    };
    const bool alone = a == ElementType::Bf16 || a == ElementType::Fp16 || a == ElementType::Tf32 ||
                       a == ElementType::S8;
    return (is_fp8(a) && is_fp8(b)) || (alone && a == b);
  }
  constexpr bool has_legal_majors() const {
    return bytes_of(a) == 2 || (a_transposed == 0 && b_transposed == 0);
  }
  constexpr bool has_legal_n() const {
    const unsigned step = a == ElementType::S8 && n > 32 ? 16 : 8;
    return n >= 8 && n <= 256 && n % step == 0;
  }
  constexpr bool is_legal() const {
    return has_legal_types() && has_legal_majors() && has_legal_n();
  }

  bool operator==(const WgmmaShape&) const = default;
};

// The type of its accumulators. (A class, because g++ 12 fails on an alias that takes the value.)
template <WgmmaShape shape>
struct WgmmaSums {
  using Value = Element<sum_type(shape.a)>;
};
template <WgmmaShape shape>
using WgmmaSum = typename WgmmaSums<shape>::Value;

}  // namespace tw
