// An epilogue whose output is quantised with a float32 scale for each 128 columns of a row
// (number/block_scale.h): an operand for products with such scales.
#pragma once

#include "tilewright/epilogue/quantised.h"
#include "tilewright/number/block_scale.h"

namespace tw {

struct RowBlockScales {  // (m,n / 128, rounded up) of each batch
  static constexpr unsigned columns = 128;
  float* data;
  std::int64_t row_pitch;
  std::int64_t block_pitch;
  std::int64_t batch_pitch;
  BlockScale rule;

  TW_DEVICE float of(float amax) const { return block_scale<E4m3>(amax, rule); }
  static TW_DEVICE float inverse(float scale) { return 1.0f / scale; }
  TW_DEVICE float* at(int batch, int row, int block) const {
    return data + batch * batch_pitch + row * row_pitch + block * block_pitch;
  }
};

template <class Of>
using BlockQuantised = Quantised<Of, RowBlockScales>;

}  // namespace tw
