// The 64 bits that tell wgmma how an operand lies in shared memory.
#pragma once

#include <cstdint>

namespace tw::isa {

// An operand consists of patterns of 8 lines of 32, 64 or 128 bytes, whose chunks of 16 bytes are
// swizzled over that many bytes; a line runs along k (K-major), or along m or n (MN-major).
// `stride_bytes` lead to the next pattern: K-major 8 rows further, MN-major 8 of k further;
// `leading_bytes`, MN-major, to the next line's length of m or n. K-major it is not read.
// PTX 8.0, sm_90a: [0,14) start, [16,30) leading, [32,46) stride, in units of 16 bytes, [49,52)
// base offset 0 (patterns are aligned), [62,64) swizzle. Without the start.
constexpr std::uint64_t wgmma_matrix_descriptor(unsigned leading_bytes, unsigned stride_bytes,
                                                unsigned swizzle_bytes) {
  const std::uint64_t swizzle = swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : 3;
  return swizzle << 62 | std::uint64_t{stride_bytes / 16} << 32 |
         std::uint64_t{leading_bytes / 16} << 16;
}

}  // namespace tw::isa
