// Sums in the registers of one warpgroup: blocks of 64 rows by `columns`.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"

namespace tw {

// `SumValue` is float or std::int32_t. Immovable: while a product is in flight the tensor core owns
// these registers.
template <unsigned block_count, unsigned n, class SumValue = float>
class RegisterAccumulator {
 public:
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = block_count;
  static constexpr unsigned block_rows = 64;
  static constexpr unsigned columns = n;
  static constexpr unsigned fragment_size = n / 2;  // of a thread, for each block

  // Not defaulted: RegisterAccumulator() would then fill the registers with zeros.
  TW_DEVICE RegisterAccumulator() {}
  RegisterAccumulator(const RegisterAccumulator&) = delete;
  RegisterAccumulator& operator=(const RegisterAccumulator&) = delete;
  TW_DEVICE ~RegisterAccumulator() { touch(); }

  // Only a TileOp asks for the registers themselves, to hand them to the instruction.
  TW_DEVICE Value (&fragment(unsigned block))[fragment_size] { return values_[block]; }

  // False until the first product: that one overwrites, so nothing has to be zeroed beforehand.
  TW_DEVICE bool started() const { return started_ != 0; }
  TW_DEVICE void start() { started_ = 1; }
  TW_DEVICE void start_over() { started_ = 0; }

  // The sum of no products.
  TW_DEVICE void clear() {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] = Value{};
    }
  }

  // Adds the sums of `other`, value by value.
  TW_DEVICE void add(const RegisterAccumulator& other) {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      isa::fragment_access(other.values_[block], fragment_size);
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] += other.values_[block][i];
    }
  }

  // Value i of this thread in a block stands at row_of(i), column_of(i) of the block.
  TW_DEVICE Value value(unsigned block, unsigned i) const {
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

  Value values_[blocks][fragment_size];
  // Not bool: as a byte it would be widened, tested and voted on in every round of the k loop.
  unsigned started_ = 0;
};

}  // namespace tw
