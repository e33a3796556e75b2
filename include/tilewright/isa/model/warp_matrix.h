// What the virtual GPU must implement for isa/ptx/warp_matrix.h.
#pragma once

#include "tilewright/isa/model.h"

namespace tw {

// The element types that mma.sync multiplies. The sum of S8 is s32, the others' is f32.
enum class MmaType : std::uint8_t { Bf16, F16, Tf32, S8 };

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

// Every lane gives the address of one 16-byte row, and gets its share of four 8x8 matrices of b16.
void ldmatrix_x4(std::uint32_t* registers, SharedAddress row, bool transposed);
// d += a b of 16 x 8 x (32 bytes of k). `d` is four floats, or four s32 for S8.
void mma_sync(MmaType type, void* d, const std::uint32_t* a, const std::uint32_t* b);

}  // namespace tw::model
#endif
