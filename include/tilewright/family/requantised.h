// Blockwise FP8 whose D is quantised again, e4m3 with a scale for each 128 columns of a row, so
// that it is the A of the next product: the same with another epilogue.
#pragma once

#include "tilewright/epilogue/block_quantised.h"
#include "tilewright/family/blockwise_fp8.h"

namespace tw {

// `Family` is BlockwiseFp8, or what is made of it.
template <class Family>
struct Requantised : Family {
  static constexpr MatmulConfig config = Family::config;
  static_assert(config.d_type == ElementType::E4m3, "What is quantised again is e4m3.");
  static_assert(config.tiling.n % 128 == 0 && Family::Side::column_step % 128 == 0,
                "Tiles must begin and end with whole blocks of 128 columns.");
  using Epilogue = FragmentLoop<BlockQuantised<RuntimeEpilogue>, typename Family::Store>;
};

}  // namespace tw
