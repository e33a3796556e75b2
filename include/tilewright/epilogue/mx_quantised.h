// An epilogue whose output is quantised as MXFP8: a ue8m0 scale for each 32 columns of a row
// (number/mx.h), in blocks as the tensor core takes them, so that the output is the A of the next
// product with block scales.
#pragma once

#include "tilewright/epilogue/quantised.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

struct MxScales {
  static constexpr unsigned columns = mx_block;
  std::uint8_t* data;
  ScaleExtent extent;  // one matrix of the batch

  TW_DEVICE std::uint8_t of(float amax) const {
    return mx_block_scale<E4m3>(amax, MxScale::rceil).bits;
  }
  static TW_DEVICE float inverse(std::uint8_t scale) {
    return static_cast<float>(Ue8m0::from_bits(scale).inverse());
  }
  TW_DEVICE std::uint8_t* at(int batch, int row, int block) const {
    return data + batch * extent.bytes() + extent.place(row, block);
  }
};

template <class Of>
using MxQuantised = Quantised<Of, MxScales>;

}  // namespace tw
