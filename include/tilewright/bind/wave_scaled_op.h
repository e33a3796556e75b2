// TileOp with scales where sums lie in the registers of waves: the products of one stage are a
// partial sum, which joins the sums times its row's and its column's scale.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/op/contracts.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// `Base` multiplies. A row has a scale, and each `group` of columns. `Scales` are the tensors of a
// ring: a_scales (m,stage) and b_scales (n / group,stage).
template <class Base, unsigned group, class Scales>
class WaveScaledOp : public UsualOp {
  using Sum = typename Base::Accumulator;

 public:
  struct Accumulator : Sum {
    TW_DEVICE Accumulator() { this->clear(); }
  };
  static constexpr bool elected = false;
  static constexpr Release release = Base::release;
  static constexpr unsigned releases = Base::releases;
  static constexpr unsigned stages_held = 0;
  static TW_DEVICE unsigned speaker(unsigned thread) { return Base::speaker(thread); }
  static TW_DEVICE bool leads() { return true; }

  template <class Stages>
  TW_DEVICE WaveScaledOp(const Stages& stages, unsigned first_row, unsigned thread)
      : base_(stages, first_row, thread),
        a_scales_(stages.a_scales),
        b_scales_(stages.b_scales),
        row_(first_row + Sum::row_of(thread, 0)),
        column_(Sum::column_of(thread, 0)) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    Sum partial;
    base_.multiply(partial, stage);
    base_.finish(partial);
    const unsigned slot = stage.slot();
    // Products of 16 by 16: a lane has four neighbours of one row of each.
    constexpr unsigned rows = 2 * Sum::blocks, columns = Sum::columns / 16;
    float row_scales[rows];
    TW_UNROLL
    for (unsigned row = 0; row < rows; ++row) {
      row_scales[row] = scale(a_scales_, row_ + 16 * row, slot);
    }
    TW_UNROLL
    for (unsigned column = 0; column < columns; ++column) {
      float column_scales[4];
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        column_scales[i] = i % group == 0
                               ? scale(b_scales_, (column_ + 16 * column + i) / group, slot)
                               : column_scales[i - 1];
      }
      TW_UNROLL
      for (unsigned row = 0; row < rows; ++row) {
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          sum.fragment(row, column)[i] +=
              partial.fragment(row, column)[i] * (row_scales[row] * column_scales[i]);
        }
      }
    }
  }
  TW_DEVICE void finish(Accumulator&) {}

 private:
  template <class Tensor>
  static TW_DEVICE float scale(const Tensor& scales, unsigned index, unsigned slot) {
    return std::bit_cast<float>(isa::load_shared_4(scales.address(index, slot)));
  }

  Base base_;
  typename Scales::A a_scales_;  // (m,stage)
  typename Scales::B b_scales_;  // (n / group,stage)
  unsigned row_;                 // the lane's first value
  unsigned column_;
};

}  // namespace tw
