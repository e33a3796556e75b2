// TileIO by threads: float32 scales of 128 of k that are powers of two, as block scales. Of each
// scale the tensor core gets the exponent, four times: once for each 32 of its k.
#pragma once

#include <bit>

#include "tilewright/io/block_scales.h"
#include "tilewright/io/operand.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/access.h"
#include "tilewright/number/format.h"

namespace tw {

// By one warp. `b_rows` rows of B share a scale: 1 or 128. A lane has the rows of its place in
// every 32, whose scales lie side by side in a block: it reads those of four stages at once, while
// the four before are stored.
template <Tiling tiling, unsigned b_rows>
class ScaleExponents : public BlockScales<tiling, ScaleType::Ue8m0>, public UsualLoader {
  using Blocks = BlockScales<tiling, ScaleType::Ue8m0>;
  static_assert(tiling.k() == 128, "Scales are of 128 of k, and so must be a stage.");
  static_assert(tiling.group == 1, "CTAs that multiply as one have one signal for both.");
  static_assert(tiling.n % ScaleBlock::rows == 0, "A tile's columns must be whole blocks.");
  static constexpr unsigned lanes = 32;
  static constexpr unsigned read_ahead = 4;                        // stages
  static constexpr unsigned lane_rows = ScaleBlock::rows / lanes;  // rows of a block for each lane

 public:
  static constexpr unsigned column_step = b_rows;
  // Both views are of scales: (rows,k / 128).
  struct Params {
    OperandView a;
    OperandView b;
  };
  static constexpr bool elected = false;
  static constexpr Completion completion = Completion::WarpsArriveFenced;
  static constexpr unsigned arrivals = 1;
  static constexpr unsigned stages_held = 0;

  TW_DEVICE ScaleExponents(const Params& params, unsigned thread)
      : params_(params), lane_(static_cast<int>(thread)) {}

  // k counts stages, from 0 on.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const int first_row = tile.first_row(tiling.m), first_column = tile.first_column(tiling.n);
    const unsigned turn = static_cast<unsigned>(k) % read_ahead;
    if (turn == 0) {
      if (k == 0) fetch(first_row, first_column, 0, tile.batch);
      a_.pack();
      b_.pack();
      fetch(first_row, first_column, k + int{read_ahead}, tile.batch);
    }
    const auto tensors = stage.tensors();
    a_.store(tensors.a_scales, turn, lane_);
    b_.store(tensors.b_scales, turn, lane_);
  }
  TW_DEVICE void finish() {}

 private:
  // A lane holds its share of one operand's scales, in `blocks` of 128 rows.
  template <unsigned scale_rows, unsigned blocks>
  struct Lane {
    static constexpr unsigned count = scale_rows == 1 ? lane_rows * blocks : blocks;
    std::uint32_t fetched[count][read_ahead];  // float32, before they are packed
    std::uint32_t packed[count];               // the exponents of four stages

    // Zero where the tensor has no such row or k, as are the operands there.
    TW_DEVICE void fetch(const OperandView& view, int first, int k, int batch, int lane) {
      const auto* const scales =
          static_cast<const std::uint32_t*>(view.data) + batch * view.batch_stride;
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        const int row = scale_rows == 1 ? first + static_cast<int>(i * lanes) + lane
                                        : first / int{ScaleBlock::rows} + static_cast<int>(i);
        TW_UNROLL
        for (unsigned j = 0; j < read_ahead; ++j) {
          const int at = k + static_cast<int>(j);
          const bool is_there = row < view.rows && at * int{tiling.k()} < view.k;
          fetched[i][j] =
              is_there
                  ? load_element<Space::Global>(scales + row * view.row_stride + at * view.k_stride)
                  : 0;
        }
      }
    }
    TW_DEVICE void pack() {
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        packed[i] = 0;
        TW_UNROLL
        for (unsigned j = 0; j < read_ahead; ++j) {
          packed[i] |= (fetched[i][j] >> float32::mantissa_bits & 0xffu) << 8 * j;
        }
      }
    }
    template <class Tensor>
    TW_DEVICE void store(const Tensor& to, unsigned turn, int lane) const {
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        std::uint32_t words[lane_rows];
        TW_UNROLL
        for (unsigned i = 0; i < lane_rows; ++i) {
          const std::uint32_t word = packed[scale_rows == 1 ? block * lane_rows + i : block];
          words[i] = (word >> 8 * turn & 0xffu) * 0x01010101u;
        }
        isa::store_shared_16(to.address(static_cast<unsigned>(16 * lane), 0u, block), words);
      }
    }
  };

  TW_DEVICE void fetch(int first_row, int first_column, int k, int batch) {
    a_.fetch(params_.a, first_row, k, batch, lane_);
    b_.fetch(params_.b, first_column, k, batch, lane_);
  }

  const Params& params_;
  int lane_;
  Lane<1, Blocks::a_blocks> a_;
  Lane<b_rows, Blocks::b_blocks> b_;
};

}  // namespace tw
