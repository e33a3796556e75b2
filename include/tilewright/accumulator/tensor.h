// A sum in tensor memory, as the epilogue reads it: lane l of warp w has row 32 w + l.
#pragma once

#include <bit>
#include <type_traits>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_access.h"

namespace tw {

template <unsigned n, class SumValue>
struct TensorSums {
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Row;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned block_rows = 128;
  static constexpr unsigned columns = n;
  static constexpr unsigned load_columns = 32;

  TensorAddress address;  // the first column's, in this warp's lanes
  bool multiplied;        // false: the sum of no products, and tensor memory holds something else

  // Loads of `by` columns each are all on their way before they are awaited.
  template <unsigned count, unsigned by = count>
  TW_DEVICE void load(int first_column, Value (&values)[count]) const {
    std::uint32_t bits[count / by][by] = {};
    if (multiplied) {
      const TensorAddress first = address + static_cast<unsigned>(first_column);
      TW_UNROLL
      for (unsigned i = 0; i < count / by; ++i) isa::tcgen05_load<by>(bits[i], first + i * by);
      isa::tcgen05_wait_load();
    }
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) values[i] = value_of(bits[i / by][i % by]);
  }

 private:
  static TW_DEVICE Value value_of(std::uint32_t bits) {
    if constexpr (std::is_same_v<Value, std::int32_t>)
      return static_cast<std::int32_t>(bits);
    else
      return std::bit_cast<float>(bits);
  }
};

// Partial sums of tensor memory, added up in registers: a thread has a whole row. They come by
// steps of 32 columns, each awaited once. Where a step is two loads of 16, ptxas begins the next
// before it has added up this one, and takes fewer registers than by loads of 32.
template <unsigned n, class SumValue, unsigned loaded = 32>
class PromotedRow {
  static constexpr unsigned step = 32;
  static_assert(n <= 128, "A promoted row must fit the registers of a thread: 128 columns.");

 public:
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Row;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned block_rows = 128;
  static constexpr unsigned columns = n;
  static constexpr bool in_registers = true;

  TW_DEVICE void add(const TensorSums<n, Value>& partial) {
    TW_UNROLL
    for (unsigned first = 0; first < n; first += step) {
      Value values[step];
      partial.load(static_cast<int>(first), values);
      TW_UNROLL
      for (unsigned i = 0; i < step; ++i) values_[first + i] += values[i];
    }
  }
  // The same, each value times a factor; `factors(first_column, values)` gives those of a step.
  template <class Factors>
  TW_DEVICE void add(const TensorSums<n, Value>& partial, const Factors& factors) {
    TW_UNROLL
    for (unsigned first = 0; first < n; first += step) {
      Value values[step], by[step];
      partial.template load<step, loaded>(static_cast<int>(first), values);
      factors(first, by);
      TW_UNROLL
      for (unsigned i = 0; i < step; ++i) values_[first + i] += values[i] * by[i];
    }
  }
  TW_DEVICE void load(int first_column, Value (&values)[32]) const {
    TW_UNROLL
    for (unsigned i = 0; i < 32; ++i) values[i] = values_[static_cast<unsigned>(first_column) + i];
  }

 private:
  Value values_[n] = {};
};

}  // namespace tw
