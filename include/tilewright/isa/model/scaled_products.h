// What the virtual GPU must implement for Blackwell's products of elements with block scales.
#pragma once

#include <cstdint>

#include "tilewright/isa/model/tensor_memory.h"

namespace tw {

// The .kind of a block-scaled tcgen05.mma. Mxf8f6f4: elements of 8, 6 or 4 bits, each operand's
// own, a ue8m0 scale for every 32 of k. Mxf4: packed e2m1, a ue8m0 scale for every 32. Mxf4nvf4:
// packed e2m1, a ue4m3 scale for every 16.
enum class ScaledMmaKind : std::uint8_t { Mxf8f6f4, Mxf4, Mxf4nvf4 };

// Scales that one instruction, which takes 32 bytes of a row in shared memory, reads for the row.
constexpr unsigned scales_per_row(ScaledMmaKind kind) {
  return kind == ScaledMmaKind::Mxf8f6f4 ? 1 : kind == ScaledMmaKind::Mxf4 ? 2 : 4;
}

}  // namespace tw

#if !defined(__CUDACC__)
namespace tw::model {

void tcgen05_mma_scaled(ScaledMmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                        std::uint64_t b, std::uint32_t instruction, TensorAddress a_scales,
                        TensorAddress b_scales, bool accumulate);

}  // namespace tw::model
#endif
