// Tensor maps in words: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take.
#pragma once

#include <string_view>

#include "vgpu/data/tile_map.h"
#include "vgpu/ptx/use/array.h"

namespace tw::vgpu::ptx {

// "type=bf16,dims=64x128,strides=128,box=64x32,swizzle=128" of the array. Dimension 0 is the
// innermost; strides are bytes, of dimension 1 and on. Type, dims and strides are the array's
// where nobody says them. "pixels=32,lower=-1x-1,upper=0x0,steps=1x1" makes it im2col, whose box
// has the channels alone. Throws Refusal.
TensorMap map_of(std::string_view words, const Array& array);

}  // namespace tw::vgpu::ptx
