// Bytes of two registers in another order.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"

namespace tw::isa {

// prmt.b32 d, a, b, selector;  PTX 2.0, sm_20
// Bytes 0 to 3 are of `a`, 4 to 7 of `b`: byte i of the result is the one that digit i of
// `selector` names, a hexadecimal digit below 8.
TW_DEVICE std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
#if defined(__CUDACC__)
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
#else
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  }
  return result;
#endif
}

}  // namespace tw::isa
