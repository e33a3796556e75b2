// Sums in registers, and beside them the partial sum of the latest products. Hopper's tensor core
// keeps 14 bits of a sum of fp8 products; partial sums of few, added up in float32, keep the rest.
#pragma once

#include "tilewright/accumulator/registers.h"

namespace tw {

// Only the tensor core sees the partial sum; whoever reads the sums finds a RegisterAccumulator.
template <unsigned block_count, unsigned n, class SumValue>
class PromotedAccumulator : public RegisterAccumulator<block_count, n, SumValue> {
 public:
  using Partial = RegisterAccumulator<block_count, n, SumValue>;

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
