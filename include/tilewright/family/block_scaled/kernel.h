// Block-scaled products: matmul with scales that the tensor core or waves multiply by (bind/
// block_scaled_by.h, bind/wave_block_scaled_by.h), or of elements that are converted to bf16.
#pragma once

#include "tilewright/bind/converted_by.h"
#include "tilewright/bind/wave_block_scaled_by.h"
#include "tilewright/isa/has_ptx.h"
#if TW_HAS_PTX
#include "tilewright/bind/block_scaled_by.h"
#include "tilewright/bind/quantised_d.h"
#endif

namespace tw {

template <Tiling tiling, unsigned warps, Completion how>
using OwnConversion = ScaledConversion<tiling, warps, how>;
using ConvertedRecipe = ConvertedBy<OwnConversion>;
// The same by waves of 64 lanes.
template <Tiling tiling, unsigned waves, Completion how>
using WaveConversion = ScaledConversion<tiling, waves, how, false, 64>;
using WaveConvertedRecipe = ConvertedBy<WaveConversion>;

using BlockScaledConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using BlockScaled = Kernel<Page, Recipe, Named>;

}  // namespace tw
