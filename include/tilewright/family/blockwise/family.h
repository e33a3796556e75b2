// FP8 with scales of blocks: the description of its problem.
#pragma once

#include "tilewright/family/blockwise/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/scaled_product_fields.h"

namespace tw {

struct BlockwiseFamily : ScaledProductFields<tw_blockwise_problem> {
  static constexpr auto numbers =
      joined(ScaledProductFields::numbers,
             {flag<&Problem::powers_of_two>("powers_of_two", "scales are powers of two")});
  static constexpr Description description = {"blockwise",
                                              "FP8 with scales of blocks of 128",
                                              "computes this product with scales of blocks",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              {},
                                              true};
};

}  // namespace tw
