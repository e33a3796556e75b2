// TileOp of single waves for elements with block scales, CDNA4: a product takes 128 of k at once
// and the scales of its rows and columns. The waves stand as waves.m by waves.n over the CTA's
// tile.
#pragma once

#include "tilewright/accumulator/wave.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/amdgcn/mfma_scaled.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/op/warp_grid.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// `Scales` are the tensors of a ring: a_scales (m,stage) and b_scales (n,stage), of each row the
// four scales of a stage's k.
template <Tiling tiling, WarpGrid waves, unsigned stage_bytes, class Scales>
class MfmaScaledOp {
  static constexpr MfmaType type_of(ElementType element) {
    return element == ElementType::E5m2 ? MfmaType::E5m2 : MfmaType::E4m3;
  }
  static_assert(bits_in(tiling.a_type) == 8 && bits_in(tiling.b_type) == 8 &&
                    !is_integer(tiling.a_type),
                "Elements with block scales are e4m3 or e5m2 here.");
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K && tiling.k() == 128,
                "A lane multiplies neighbours of k, and a product 128 of them.");
  // mfma multiplies B by A: what it leaves in a lane are neighbours of a row of D.
  static constexpr MfmaScaledShape shape = {type_of(tiling.b_type), type_of(tiling.a_type)};
  static constexpr unsigned rows = tiling.m / waves.m;
  static constexpr unsigned columns = tiling.n / waves.n;
  static_assert(rows % 32 == 0 && columns % 16 == 0, "A wave multiplies blocks of 32 by 16.");
  static constexpr unsigned lanes = shape.lanes;
  using Tensors = OperandTensors<tiling, stage_bytes>;

 public:
  using Accumulator = WaveAccumulator<rows / 32, columns, waves.n, float>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Warp;
  static constexpr unsigned stages_held = 0;  // fragments are in registers when multiply() returns
  static constexpr unsigned releases = waves.size();
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % lanes; }
  static TW_DEVICE bool leads() { return true; }

  template <class Stages>
  TW_DEVICE MfmaScaledOp(const Stages& stages, unsigned /*first_row*/, unsigned thread)
      : stages_(stages),
        a_scales_(stages.a_scales),
        b_scales_(stages.b_scales),
        lane_(thread % lanes),
        row_(thread / lanes / waves.n * rows),
        column_(thread / lanes % waves.n * columns) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    if (!sum.started()) sum.clear();
    const unsigned slot = stage.slot();
    Fragment a[rows / 16];
    TW_UNROLL
    for (unsigned row = 0; row < rows / 16; ++row) {
      load(a[row], stages_.a, a_scales_, row_ + 16 * row, slot);
    }
    TW_UNROLL
    for (unsigned column = 0; column < columns / 16; ++column) {
      Fragment b;
      load(b, stages_.b, b_scales_, column_ + 16 * column, slot);
      TW_UNROLL
      for (unsigned row = 0; row < rows / 16; ++row) {
        isa::mfma_scaled<shape>(sum.fragment(row, column), b.words, a[row].words, b.scale,
                                a[row].scale);
      }
    }
  }
  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
  }

 private:
  struct Fragment {
    std::uint32_t words[shape.registers];
    std::uint32_t scale;
  };

  // 16 rows (of A, or of B): lane l has row l % 16, its 16-byte chunks l / 16 and l / 16 + 4, and
  // scale l / 16.
  template <class Tensor, class ScaleTensor>
  TW_DEVICE void load(Fragment& fragment, const Tensor& operand, const ScaleTensor& scales,
                      unsigned first_row, unsigned slot) const {
    const auto chunks = operand.template chunks<16>();
    const unsigned row = first_row + lane_ % 16;
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      isa::load_shared_16(reinterpret_cast<std::uint32_t(&)[4]>(fragment.words[4 * half]),
                          chunks.address(row, 4 * half + lane_ / 16, 0u, slot));
    }
    fragment.scale = isa::load_shared_4(scales.address(row, slot)) >> 8 * (lane_ / 16);
  }

  Tensors stages_;
  typename Scales::A a_scales_;  // (m,stage)
  typename Scales::B b_scales_;  // (n,stage)
  unsigned lane_;
  unsigned row_;
  unsigned column_;
};

}  // namespace tw
