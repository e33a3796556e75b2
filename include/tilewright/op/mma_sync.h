// TileOp of single warps, sm_80 and later: fragments by ldmatrix, products by mma.sync, sums in
// registers. The warps stand as warps_m by warps_n over the CTA's tile.
#pragma once

#include "tilewright/accumulator/warp.h"
#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/warp_matrix.h"
#include "tilewright/op/contracts.h"
#include "tilewright/op/warp_grid.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

template <Tiling tiling, WarpGrid warps, unsigned stage_bytes>
class MmaSyncOp : public UsualOp {
  static constexpr bool converts =
      tiling.a_type == ElementType::E4m3 || tiling.a_type == ElementType::E5m2;
  static constexpr MmaType type_of(ElementType element) {
    switch (element) {
      case ElementType::Bf16: return MmaType::Bf16;
      case ElementType::Tf32: return MmaType::Tf32;
      case ElementType::S8: return MmaType::S8;
      default: return MmaType::F16;  // fp8 is converted
    }
  }
  static constexpr MmaType type = type_of(tiling.a_type);
  static constexpr unsigned rows = tiling.m / warps.m;
  static constexpr unsigned columns = tiling.n / warps.n;
  static_assert(rows % 16 == 0 && columns % 16 == 0, "A warp multiplies blocks of 16 by 16.");
  static_assert((tiling.a_major == Major::K && tiling.b_major == Major::K) ||
                    bytes_of(tiling.a_type) == 2,
                "ldmatrix transposes elements of 16 bits only.");
  using Tensors = OperandTensors<tiling, stage_bytes>;
  static constexpr unsigned blocks = rows / 16;
  static constexpr unsigned step_bytes = 32;
  static constexpr unsigned steps = Tiling::span_bytes / step_bytes;  // per span

 public:
  using Accumulator = WarpAccumulator<blocks, columns, warps.n, isa::MmaSum<type>>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Warp;
  static constexpr unsigned stages_held = 0;  // fragments are in registers when multiply() returns
  static constexpr unsigned releases = warps.size();
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }
  static TW_DEVICE bool leads() { return true; }
  using Piece = MmaSyncOp;  // what is multiplied at once

  TW_DEVICE MmaSyncOp(const Tensors& stages, unsigned /*first_row*/, unsigned thread)
      : stages_(stages),
        lane_(thread % 32),
        row_(thread / 32 / warps.n * rows),
        column_(thread / 32 % warps.n * columns) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    if (!sum.started()) sum.clear();
    const unsigned slot = stage.slot();
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        std::uint32_t a[blocks][4];
        TW_UNROLL
        for (unsigned block = 0; block < blocks; ++block) {
          load<tiling.a_major, false>(a[block], stages_.a, row_ + 16 * block, step, span, slot);
        }
        TW_UNROLL
        for (unsigned pair = 0; pair < columns / 16; ++pair) {
          std::uint32_t b[4];
          load<tiling.b_major, true>(b, stages_.b, column_ + 16 * pair, step, span, slot);
          TW_UNROLL
          for (unsigned block = 0; block < blocks; ++block) {
            product(sum.fragment(block, 2 * pair), a[block], b[0], b[1]);
            product(sum.fragment(block, 2 * pair + 1), a[block], b[2], b[3]);
          }
        }
      }
    }
  }

  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
  }
  // The op is its own and only Piece: issue() makes all of it.
  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, const Stage& stage, unsigned /*row*/,
                       unsigned /*column*/) {
    multiply(sum, stage);
  }
  template <unsigned>
  TW_DEVICE void wait(const Accumulator&) const {}

 private:
  // 16 rows (of A, or of B) by 32 bytes of k, as four 8 by 16-byte matrices: of A the second 8 rows
  // come before the second 16 bytes, of B after them.
  template <Major major, bool is_b, class Tensor>
  TW_DEVICE void load(std::uint32_t (&registers)[4], const Tensor& operand, unsigned first_row,
                      unsigned step, unsigned span, unsigned slot) const {
    const auto chunks = operand.template chunks<16>();
    const unsigned matrix = lane_ / 8;
    const unsigned in_matrix = lane_ % 8;
    const unsigned half_row = is_b ? matrix / 2 : matrix % 2;
    const unsigned half_k = is_b ? matrix % 2 : matrix / 2;
    if constexpr (major == Major::K) {
      const unsigned row = first_row + 8 * half_row + in_matrix;
      isa::ldmatrix_x4(registers, chunks.address(row, 2 * step + half_k, span, slot));
    } else {
      const unsigned row = first_row + 8 * half_row;
      const unsigned k = 16 * step + 8 * half_k + in_matrix;
      const auto boxes = chunks.flattened();  // (row chunk,box,k,span,stage)
      const auto box = boxes.slice(whole, row / 64, whole, whole, whole);
      isa::ldmatrix_x4_transposed(registers, box.address(row % 64 / 8, k, span, slot));
    }
  }

  static TW_DEVICE void product(isa::MmaSum<type> (&d)[4], const std::uint32_t (&a)[4],
                                std::uint32_t b0, std::uint32_t b1) {
    if constexpr (!converts) {
      const std::uint32_t b[2] = {b0, b1};
      isa::mma_sync<type>(d, a, b);
    } else {
      // A register holds four neighbours of k. Their lower and upper pairs are the two halves of k
      // of one product: A and B are taken apart alike, so the same elements meet.
      std::uint32_t wide_b[2][2];
      convert<tiling.b_type>(wide_b[0][0], wide_b[0][1], b0);
      convert<tiling.b_type>(wide_b[1][0], wide_b[1][1], b1);
      TW_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        std::uint32_t wide_a[4];
        convert<tiling.a_type>(wide_a[0], wide_a[2], a[2 * half]);
        convert<tiling.a_type>(wide_a[1], wide_a[3], a[2 * half + 1]);
        isa::mma_sync<type>(d, wide_a, wide_b[half]);
      }
    }
  }
  // Four fp8 to four fp16, exactly.
  template <ElementType element>
  static TW_DEVICE void convert(std::uint32_t& lower, std::uint32_t& upper, std::uint32_t packed) {
    const auto first = static_cast<std::uint16_t>(packed);
    const auto second = static_cast<std::uint16_t>(packed >> 16);
    if constexpr (element == ElementType::E4m3) {
      lower = isa::cvt_f16x2_e4m3x2(first);
      upper = isa::cvt_f16x2_e4m3x2(second);
    } else {
      lower = isa::cvt_f16x2_e5m2x2(first);
      upper = isa::cvt_f16x2_e5m2x2(second);
    }
  }

  Tensors stages_;
  unsigned lane_;
  unsigned row_;
  unsigned column_;
};

}  // namespace tw
