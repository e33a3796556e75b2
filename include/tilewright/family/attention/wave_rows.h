// Sums of waves of 64 lanes as attention holds them: the registers of one product are an operand of
// the next.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/thread_rows.h"
#include "tilewright/isa/convert.h"
#include "tilewright/number/element_type.h"

namespace tw {

// Which columns a product of 16 has, and its four registers in lane l, where g = l / 16.
enum class WaveColumns : unsigned {
  // 16 next to each other, of which a lane has 4 g to 4 g + 3.
  Together,
  // Every fourth of 64, where lanes read four neighbours of a row and turn them: of each 32 columns
  // a lane has 8 g to 8 g + 7, in the registers of four products.
  Turned,
};

// 64 rows by n columns of two waves, 32 rows each, by products of 16 by 16. Lane l has row l % 16
// and the one 16 behind it.
template <unsigned n, WaveColumns order>
class WaveRows {
  static constexpr bool is_turned = order == WaveColumns::Turned;
  static constexpr unsigned neighbours = is_turned ? 8 : 4;
  static_assert(n % (is_turned ? 64 : 16) == 0);

 public:
  using Value = float;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned block_rows = 64;
  static constexpr unsigned columns = n;
  static constexpr unsigned fragment_size = n / 2;
  static constexpr unsigned lanes = 64;

  TW_DEVICE WaveRows() {}
  WaveRows(const WaveRows&) = delete;
  WaveRows& operator=(const WaveRows&) = delete;

  // Only a TileOp asks for the registers themselves: of a product of the upper or lower 16 rows.
  TW_DEVICE Value (&fragment(unsigned half, unsigned product))[4] {
    return reinterpret_cast<Value(&)[4]>(values_[8 * product + 4 * half]);
  }
  TW_DEVICE void start() {}
  TW_DEVICE void clear() {
    TW_UNROLL
    for (Value& value : values_) value = 0;
  }
  // Multiplies the values of each of a thread's rows by that row's factor.
  TW_DEVICE void scale_rows(const RowPair& factors) {
    TW_UNROLL
    for (unsigned i = 0; i < fragment_size; ++i) values_[i] *= factors.of<4>(i);
  }

  // A thread's values, in their order, to work on in place.
  TW_DEVICE Value (&values(unsigned /*block*/))[fragment_size] {
    static_assert(!is_turned, "Registers of several products follow each other in a row.");
    return values_;
  }
  // Value i of this thread stands at row_of(i), column_of(i).
  TW_DEVICE Value value(unsigned /*block*/, unsigned i) const {
    if constexpr (is_turned) {
      const unsigned of_row = i / 8 * 4 + i % 4, product = of_row / 16 * 4 + of_row % 4;
      return values_[8 * product + i / 4 % 2 * 4 + of_row / 4 % 4];
    } else {
      return values_[i];
    }
  }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    return thread / lanes * 32 + thread % 16 + 16 * (i / 4 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    const unsigned of_row = i / 8 * 4 + i % 4;
    return of_row / neighbours * (4 * neighbours) + thread % lanes / 16 * neighbours +
           of_row % neighbours;
  }

 private:
  Value values_[fragment_size];
};

template <unsigned n, WaveColumns order>
struct ThreadRows<WaveRows<n, order>> : LanesOfRows<4, 16, 64, 16> {};

// Weights of `keys` keys for a wave's rows, 16 bits each. Products with exchanged operands leave a
// lane four neighbours of a row, and that is what they take of it: nothing changes lanes. A step is
// of 32 keys: those of two products of scores.
template <unsigned keys, ElementType type>
class WaveWeights {
 public:
  static constexpr unsigned steps = keys / 32;
  static constexpr int exponent = 0;

  TW_DEVICE WaveWeights() {}
  WaveWeights(const WaveWeights&) = delete;
  WaveWeights& operator=(const WaveWeights&) = delete;

  TW_DEVICE const std::uint32_t (&registers(unsigned step, unsigned half) const)[4] {
    return registers_[step][half];
  }
  // Rounds the values of a thread.
  TW_DEVICE void take(const float (&values)[keys / 2]) {
    TW_UNROLL
    for (unsigned i = 0; i < keys / 4; ++i) {
      const float* const pair = values + 2 * i;
      registers_[i / 8][i / 2 % 2][i / 4 % 2 * 2 + i % 2] =
          type == ElementType::Bf16 ? isa::cvt_bf16x2(pair[0], pair[1])
                                    : isa::cvt_f16x2(pair[0], pair[1]);
    }
  }

 private:
  std::uint32_t registers_[steps][2][4];
};

}  // namespace tw
