// The 64-bit descriptor through which wgmma finds a K-major operand in shared memory.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"
#include "vgpu/data/swizzle.h"

namespace tw::vgpu {

struct MatrixDescriptor {
  SharedAddress start = 0;          // within the own CTA's window: 18 bits, a multiple of 16
  std::uint32_t leading_bytes = 0;  // between the two 16-byte chunks of a row; unused if swizzled
  std::uint32_t stride_bytes = 0;   // between groups of 8 rows
  std::uint32_t base_offset = 0;
  MapSwizzle swizzle = MapSwizzle::None;
};

// Refuses bits that no field owns: on Hopper they are reserved (Blackwell's version bit is one).
MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits);
// Refuses fields that do not fit.
std::uint64_t encode_matrix_descriptor(const MatrixDescriptor& descriptor);

// The shared address of the 16-byte chunk 0 or 1 of a row, for a K-major operand of 16 bf16 a row.
// Rows come in groups of 8; in a group the pitch is the swizzle span (16 bytes without swizzle).
// Refused as unsupported: a base offset, and groups that do not start where the swizzle pattern
// does, because they need one.
SharedAddress operand_chunk(const MatrixDescriptor& descriptor, unsigned row, unsigned chunk);

}  // namespace tw::vgpu
