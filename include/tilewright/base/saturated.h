// Products of counts that a caller gives: what 64 bits do not hold is refused, and never overflows.
#pragma once

#include <cstdint>
#include <limits>

namespace tw {

// The largest number where the product does not fit.
template <class... Counts>
constexpr std::int64_t saturated_product(std::int64_t first, Counts... others) {
  std::int64_t product = first;
  const bool fits = (!__builtin_mul_overflow(product, others, &product) && ...);
  return fits ? product : std::numeric_limits<std::int64_t>::max();
}

}  // namespace tw
