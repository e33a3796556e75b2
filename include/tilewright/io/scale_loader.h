// TileIO: the scales of a stage, one for each `a_rows` rows of A and one for each `b_rows` rows of
// B, of 128 of k. Strides say how they lie in global memory, so that row-major and column-major are
// one. With a_rows = 0 A has no scales.
#pragma once

#include <bit>
#include <numeric>

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/contracts.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/shared_memory.h"

namespace tw {

// `warps` warps fill a stage together or, `apart`, each its own slots. A stage costs them the
// computation of addresses, whatever their number: apart they are done with several stages in that
// time. Scales outside of the tensors are zero, as are the operands there.
template <Tiling tiling, unsigned b_rows, unsigned warps, unsigned a_rows = 1, bool apart = false>
class ScaleLoader : public UsualLoader {
  static_assert(tiling.k() == 128, "Scales are of 128 of k, and so must be a stage.");

 public:
  // Columns of a tile that surely share a scale, wherever it begins.
  static constexpr unsigned b_columns = std::gcd(tiling.n, b_rows);
  static constexpr unsigned column_step = b_columns;
  // Rows of a 64-row wgmma block that are guaranteed to share an A scale.
  static constexpr unsigned row_step = std::gcd(64u, a_rows);
  static constexpr bool fills_apart = apart;
  struct Tile {
    float a[tiling.m / row_step];
    alignas(row_step > 1 ? 16 : alignof(float)) float b[tiling.n / b_columns];
  };
  // The scales of an operand are a matrix (rows,k / 128).
  struct Params {
    OperandView a;
    OperandView b;
  };
  // One stage, or with `stage_bytes` from one to the next all stages of a ring.
  template <unsigned stage_bytes = 0>
  struct Tensors {
    using A =
        SharedTile<float, in_stages(single(tiling.m / row_step, 1), stage_bytes, sizeof(float))>;
    using B =
        SharedTile<float, in_stages(single(tiling.n / b_columns, 1), stage_bytes, sizeof(float))>;
    static constexpr bool has_rows = a_rows > 0;
    A a_scales;  // (m / row_step), of a ring (m / row_step,stage)
    B b_scales;  // (n / b_columns), of a ring (n / b_columns,stage)
    // In bytes from the scale of a row to that of a column, of the same stage.
    static TW_DEVICE std::uint32_t distance(unsigned row, unsigned column) {
      return B::offset_of(column / b_columns, 0u) + unsigned{offsetof(Tile, b)} -
             A::offset_of(row / row_step, 0u);
    }
    TW_DEVICE explicit Tensors(SharedAddress tile)
        : a_scales(tile + unsigned{offsetof(Tile, a)}),
          b_scales(tile + unsigned{offsetof(Tile, b)}) {}
  };
  // For a thread that adds up a row of the tile, of one stage.
  class Reader {
   public:
    TW_DEVICE Reader(const Tensors<>& stage, unsigned row)
        : a_(stage.a_scales.address(row / row_step)), b_(stage.b_scales) {}
    template <unsigned count>
    TW_DEVICE void operator()(unsigned first_column, float (&factors)[count]) const {
      const float row = std::bit_cast<float>(isa::load_shared_4(a_));
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        const SharedAddress column = b_.address((first_column + i) / b_columns);
        factors[i] = i % b_columns == 0 ? row * std::bit_cast<float>(isa::load_shared_4(column))
                                        : factors[i - 1];
      }
    }

   private:
    SharedAddress a_;
    typename Tensors<>::B b_;
  };
  static constexpr bool elected = false;
  static constexpr Completion completion = Completion::CopiesArrive;
  static constexpr unsigned arrivals = apart ? 32 : warps * 32;
  static constexpr unsigned stages_held = 0;

  TW_DEVICE ScaleLoader(const Params& params, unsigned thread)
      : params_(params), thread_(thread % arrivals), warp_(thread / 32) {}

  // True for the slots of the ring that this warp fills.
  TW_DEVICE bool fills(unsigned slot) const requires(apart) { return slot % warps == warp_; }

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_rows<true>(stage, tile, k, [](int row) { return row; });
  }
  TW_DEVICE void finish() {}

 protected:
  // Where the scales of a stage go that signals this CTA alone.
  template <StageToFill Stage>
  static TW_DEVICE auto tensors_of(const Stage& stage) {
    static_assert(Stage::Fills::group == 1,
                  "CTAs that multiply as one have one signal for both: scales want a ring of their "
                  "own.");
    return stage.tensors();
  }
  // The scale of row i of A's tile is that of row_of(i), or zero where there is none.
  template <bool in_order = false, StageToFill Stage, class WorkTile, class RowOf>
  TW_DEVICE void load_rows(const Stage& stage, const WorkTile& tile, int k, const RowOf& row_of) {
    const auto tensors = tensors_of(stage);
    if constexpr (a_rows > 0) {
      copy<row_step, a_rows, in_order>(tensors.a_scales, params_.a, tile.first_row(tiling.m), k,
                                       tile.batch, row_of);
    }
    copy<b_columns, b_rows, true>(tensors.b_scales, params_.b, tile.first_column(tiling.n), k,
                                  tile.batch, [](int row) { return row; });
  }
  const Params& params_;

 private:
  // A scale of every `step` rows from `first` on: four at once where they lie side by side.
  // On Hopper the warp has 24 registers: the loop is rolled, and offsets have 32 bits and are
  // computed where they are needed.
  template <unsigned step, unsigned scale_rows, bool in_order, class Tensor, class RowOf>
  TW_DEVICE void copy(const Tensor& to, const OperandView& view, int first, int k, int batch,
                      const RowOf& row_of) const {
    constexpr unsigned count = Tensor::template static_extent<0>;
    const bool by_four = in_order && count % 4 == 0 && step == scale_rows && view.row_stride == 1 &&
                         view.alignment == 16 && first % int{4 * scale_rows} == 0;
    TW_ROLL
    for (unsigned i = by_four ? 4 * thread_ : thread_; i < count;
         i += by_four ? 4 * arrivals : arrivals) {
      const int row = row_of((first + static_cast<int>(i * step)) / int{scale_rows});
      const int left = row < 0 ? 0 : view.rows - row;
      const auto offset = [&] {
        return batch * static_cast<int>(view.batch_stride) + k * static_cast<int>(view.k_stride) +
               row * static_cast<int>(view.row_stride);
      };
      const auto* const from = static_cast<const float*>(view.data) + (left > 0 ? offset() : 0);
      if (by_four) {
        isa::cp_async<16>(to.address(i), from, left < 1 ? 0 : left < 4 ? left * 4 : 16);
      } else {
        isa::cp_async<4>(to.address(i), from, left < 1 ? 0 : 4);
      }
    }
  }

  unsigned thread_;  // its index among those that fill a stage
  unsigned warp_;
};

}  // namespace tw
