// Sums in the registers of one warpgroup: `blocks` blocks of 64 rows by n columns.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"

namespace tw {

// Immovable: while a product is in flight the tensor core owns these registers.
template <unsigned blocks, unsigned n>
class RegisterAccumulator {
 public:
  static constexpr unsigned fragment_size = n / 2;

  RegisterAccumulator() = default;
  RegisterAccumulator(const RegisterAccumulator&) = delete;
  RegisterAccumulator& operator=(const RegisterAccumulator&) = delete;
  TW_DEVICE ~RegisterAccumulator() { touch(); }

  // Only a TileOp asks for the registers themselves, to hand them to the instruction.
  TW_DEVICE float (&fragment(unsigned block))[fragment_size] { return values_[block]; }

  // False until the first product: that one overwrites, so nothing has to be zeroed beforehand.
  TW_DEVICE bool started() const { return started_ != 0; }
  TW_DEVICE void start() { started_ = 1; }

  // The sum of no products.
  TW_DEVICE void clear() {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] = 0.0f;
    }
  }

  // Value i of this thread in a block stands at row_of(i), column_of(i) of the block.
  TW_DEVICE float value(unsigned block, unsigned i) const {
    isa::fragment_access(&values_[block][i], 1);
    return values_[block][i];
  }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    return 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return 2 * (thread % 4) + i % 2 + 8 * (i / 4);
  }

 private:
  TW_DEVICE void touch() {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      isa::fragment_access(values_[block], fragment_size);
    }
  }

  float values_[blocks][fragment_size];
  // Not bool: as a byte it would be widened, tested and voted on in every round of the k loop.
  unsigned started_ = 0;
};

}  // namespace tw
