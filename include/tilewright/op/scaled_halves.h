// TileOp of waves that take turns, with scales of 128 of k: the products of halves of a stage are
// partial sums, which join the sums times the scales of their row and of their columns.
#pragma once

#include <bit>

#include "tilewright/op/mfma_halves.h"

namespace tw {

// `Base` multiplies halves. `Tensors` are those of the scales (`Scales`) in a ring.
template <class Base, class Scales, class ScaleTensors>
class ScaledHalvesOp : public Base {
  static constexpr unsigned rows = Base::a_lines / 16,
                            columns = Base::b_lines / 16;  // counted in products

 public:
  using typename Base::Accumulator;

  template <class Stages>
  TW_DEVICE ScaledHalvesOp(const Stages& stages, unsigned first_row, unsigned thread)
      : Base(stages, first_row, thread),
        scales_(stages),
        wave_(isa::shuffle(thread / 64, 0)),
        lane_(thread % 64) {}

  struct Fragments : Base::Fragments {
    std::uint32_t a_scales[rows][1];
    std::uint32_t b_scales[2][1];
  };

  template <unsigned half>
  TW_DEVICE void read_a(Fragments& fragments, unsigned slot) const {
    Base::template read_a<half>(fragments, slot);
    // Where the lane reads is not kept.
    const unsigned first = Scales::place(half, wave_) + isa::opaque(lane_) % 16;
    TW_UNROLL
    for (unsigned row = 0; row < rows; ++row) {
      isa::ds_read_b32(fragments.a_scales[row], scales_.a_scales.address(first + 16 * row, slot));
    }
  }
  template <unsigned half>
  TW_DEVICE void read_b(Fragments& fragments, unsigned slot) const {
    Base::template read_b<half>(fragments, slot);
    isa::ds_read_b32(fragments.b_scales[half],
                     scales_.b_scales.address(Scales::place(half, wave_), slot));
  }
  // Partial sums are added up before the step ends: the compiler would keep them for later.
  template <unsigned a_half, unsigned b_half>
  TW_DEVICE void multiply(Accumulator& sum, const Fragments& fragments) const {
    const float column_scale = std::bit_cast<float>(fragments.b_scales[b_half][0]);
    float factors[rows];
    TW_UNROLL
    for (unsigned row = 0; row < rows; ++row) {
      factors[row] = std::bit_cast<float>(fragments.a_scales[row][0]) * column_scale;
    }
    TW_UNROLL
    for (unsigned column = 0; column < columns; ++column) {
      typename Accumulator::Value partial[rows][4] = {};
      TW_UNROLL
      for (unsigned row = 0; row < rows; ++row) {
        Base::template multiply_one<b_half>(partial[row], fragments, row, column);
      }
      isa::schedule_barrier();
      TW_UNROLL
      for (unsigned row = 0; row < rows; ++row) {
        auto& total = sum.fragment(a_half * rows + row, b_half * columns + column);
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          total[i] += partial[row][i] * factors[row];
          isa::computed_here(total[i]);
        }
      }
    }
  }

 private:
  ScaleTensors scales_;
  unsigned wave_;
  unsigned lane_;
};

}  // namespace tw
