// Sums in registers that partial sums of few products join.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw {

// Sums in registers, and beside them the partial sum of the latest products. Hopper's tensor core
// keeps 14 bits of a sum of fp8 products; partial sums of few, added up in float32, keep the rest.
// Only the tensor core sees the partial sum; whoever reads the sums finds those.
template <class Sums>
class PromotedAccumulator : public Sums {
 public:
  using Partial = Sums;

  // No product writes the sums themselves, so they start at zero.
  TW_DEVICE PromotedAccumulator() {
    this->clear();
    this->start();
  }

  TW_DEVICE Partial& partial() { return partial_; }

  // Counts a stage whose products are in the partial sum; true when there are `limit`.
  TW_DEVICE bool is_full_after_stage(unsigned limit) { return ++stages_ == limit; }

  // No product may be in flight.
  TW_DEVICE void promote() {
    this->add(partial_);
    partial_.start_over();
    stages_ = 0;
  }

 private:
  Partial partial_;
  unsigned stages_ = 0;
};

}  // namespace tw
