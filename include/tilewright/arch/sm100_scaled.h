// Blackwell for elements with block scales: Sm100 with columns of tensor memory beside the sums.
#pragma once

#include "tilewright/arch/sm100.h"
#include "tilewright/op/scale_columns.h"

namespace tw {

struct Sm100Scaled : Sm100 {
  // Two sums may share a chunk of the output where the epilogue itself reads C.
  template <auto config, class Op, class Trace>
  using Accumulators =
      AccumulatorsWithScales<config.tiling.n, config.tiling.group, Trace, Op::slot_columns,
                             config.c_stages == 0 ? 128 / bytes_of(config.d_type) : 0>;
};

}  // namespace tw
