// The 64-bit descriptor through which wgmma finds an operand in shared memory.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"
#include "vgpu/data/swizzle.h"

namespace tw::vgpu {

struct MatrixDescriptor {
  SharedAddress start = 0;  // within the own CTA's window: 18 bits, a multiple of 16
  // K-major: between the two 16-byte chunks of a row; unused if swizzled. Transposed: between
  // blocks of as many elements of m or n as a swizzle span holds.
  std::uint32_t leading_bytes = 0;
  // Between groups of 8 rows or, transposed, of 8 k.
  std::uint32_t stride_bytes = 0;
  std::uint32_t base_offset = 0;
  MapSwizzle swizzle = MapSwizzle::None;
};

// Refuses bits that no field owns: on Hopper they are reserved (Blackwell's version bit is one).
MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits);
// Refuses fields that do not fit.
std::uint64_t encode_matrix_descriptor(const MatrixDescriptor& descriptor);

// The shared address of the 16-byte chunk 0 or 1 of a row, for a K-major operand of 32 bytes a row.
// Rows come in groups of 8; in a group the pitch is the swizzle span (16 bytes without swizzle).
// The swizzle is a function of the address, so that an operand may begin at any line of a pattern.
// Refused as unsupported: a base offset, and groups that are not whole patterns apart.
SharedAddress operand_chunk(const MatrixDescriptor& descriptor, unsigned row, unsigned chunk);

// The shared address of the 16-byte chunk that holds the 16-bit elements 8 * group and following of
// m or n, at this k: for a transposed (MN-major) operand. As many groups of one k as a swizzle span
// has chunks are a line, eight k are a pattern. Without a swizzle a line is one chunk, the stride
// leads to the next group, and the leading offset to the next eight k. Refused: a base offset, and
// patterns that start elsewhere.
SharedAddress transposed_chunk(const MatrixDescriptor& descriptor, unsigned group, unsigned k);

// Chunk `index` of an operand as WgmmaOperands counts them.
inline SharedAddress chunk_at(const MatrixDescriptor& descriptor, bool transposed, unsigned index) {
  return transposed ? transposed_chunk(descriptor, index / 16, index % 16)
                    : operand_chunk(descriptor, index / 2, index % 2);
}

}  // namespace tw::vgpu
