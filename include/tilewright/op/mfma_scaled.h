// TileOp of single waves for elements with block scales, CDNA4: a product takes 128 of k at once
// and the scales of its rows and columns.
#pragma once

#include "tilewright/accumulator/wave.h"
#include "tilewright/isa/amdgcn/mfma_scaled.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/op/wave_grid.h"

namespace tw {

// `Scales` are the tensors of a ring: a_scales (m,step,stage) and b_scales (n,step,stage), of each
// row the four scales of a product's k.
template <Tiling tiling, WarpGrid waves, unsigned stage_bytes, class Scales>
class MfmaScaledOp : public WaveGrid<tiling, waves, stage_bytes> {
  using Base = WaveGrid<tiling, waves, stage_bytes>;
  using Base::column_;
  using Base::columns;
  using Base::lane_;
  using Base::row_;
  using Base::rows;
  using Base::stages_;
  static constexpr MfmaType type_of(ElementType element) {
    switch (element) {
      case ElementType::E5m2: return MfmaType::E5m2;
      case ElementType::E2m3: return MfmaType::E2m3;
      case ElementType::E3m2: return MfmaType::E3m2;
      case ElementType::E2m1: return MfmaType::E2m1;
      default: return MfmaType::E4m3;
    }
  }
  static_assert(bits_in(tiling.a_type) <= 8 && bits_in(tiling.b_type) <= 8 &&
                    !is_integer(tiling.a_type) && !is_integer(tiling.b_type),
                "Elements with block scales are e4m3, e5m2, e2m3, e3m2 or e2m1.");
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K && tiling.spans == 1,
                "A lane multiplies neighbours of k, of a stage of one span.");
  // mfma multiplies B by A: what it leaves in a lane are neighbours of a row of D.
  static constexpr MfmaScaledShape shape = {type_of(tiling.b_type), type_of(tiling.a_type)};
  static constexpr unsigned steps = tiling.k() / shape.k;  // per stage

 public:
  using Accumulator = WaveAccumulator<rows / 32, columns, waves.n, float>;

  template <class Stages>
  TW_DEVICE MfmaScaledOp(const Stages& stages, unsigned /*first_row*/, unsigned thread)
      : Base(stages, thread), a_scales_(stages.a_scales), b_scales_(stages.b_scales) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    if (!sum.started()) sum.clear();
    const unsigned slot = stage.slot();
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      Fragment<shape.b> a[rows / 16];
      TW_UNROLL
      for (unsigned row = 0; row < rows / 16; ++row) {
        load(a[row], stages_.a, a_scales_, row_ + 16 * row, step, slot);
      }
      TW_UNROLL
      for (unsigned column = 0; column < columns / 16; ++column) {
        Fragment<shape.a> b;
        load(b, stages_.b, b_scales_, column_ + 16 * column, step, slot);
        TW_UNROLL
        for (unsigned row = 0; row < rows / 16; ++row) {
          isa::mfma_scaled<shape>(sum.fragment(row, column), b.words, a[row].words, b.scale,
                                  a[row].scale);
        }
      }
    }
  }
  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
  }

 private:
  template <MfmaType type>
  struct Fragment {
    std::uint32_t words[shape.registers(type)];
    std::uint32_t scale;
  };

  // 16 rows (of A, or of B) by 128 of k: lane l has row l % 16, scale l / 16, and 32 elements. Of
  // e2m1, two in a byte, these are the 16-byte chunk l / 16. Where each has a byte they are chunks
  // l / 16 and l / 16 + 4 of 8-bit elements, and of narrower ones what chunks 2 (l / 16) and
  // 2 (l / 16) + 1 begin with.
  template <MfmaType type, class Tensor, class ScaleTensor>
  TW_DEVICE void load(Fragment<type>& fragment, const Tensor& operand, const ScaleTensor& scales,
                      unsigned first_row, unsigned step, unsigned slot) const {
    const auto chunks = operand.template chunks<16>();
    const unsigned row = first_row + lane_ % 16, group = lane_ / 16;
    if constexpr (tiling.is_packed()) {
      isa::load_shared_16(fragment.words, chunks.address(row, 4 * step + group, 0u, slot));
    } else {
      constexpr unsigned words = shape.registers(type) / 2;
      TW_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned chunk = words == 4 ? 4 * half + group : 2 * group + half;
        std::uint32_t loaded[4];
        isa::load_shared_16(loaded, chunks.address(row, chunk, 0u, slot));
        TW_UNROLL
        for (unsigned i = 0; i < words; ++i) fragment.words[words * half + i] = loaded[i];
      }
    }
    fragment.scale = isa::load_shared_4(scales.address(row, step, slot)) >> 8 * group;
  }

  typename Scales::A a_scales_;  // (m,step,stage)
  typename Scales::B b_scales_;  // (n,step,stage)
};

}  // namespace tw
