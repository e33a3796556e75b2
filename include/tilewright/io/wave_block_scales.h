// The block scales of a stage (number/scale_blocks.h), brought through registers by waves of 64
// lanes that arrive when they are done: of each row the four scales of 128 of k, as a word, for
// each 128 of the stage.
#pragma once

#include <cstddef>

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/contracts.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/access.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

template <Tiling tiling, unsigned waves>
class WaveBlockScales : public UsualLoader {
  static constexpr unsigned steps = tiling.k() / 128;
  static_assert(tiling.k() % 128 == 0, "A word is of four scales of ue8m0: 128 of k.");

 public:
  static constexpr ScaleType type = ScaleType::Ue8m0;
  static constexpr unsigned row_step = 1;
  static constexpr unsigned column_step = 1;  // tiles begin at multiples of it
  struct Tile {
    std::uint32_t a[tiling.m * steps];
    std::uint32_t b[tiling.n * steps];
  };
  // One stage, or with `stage_bytes` from one to the next all stages of a ring.
  template <unsigned stage_bytes = 0>
  struct Tensors {
    using A = SharedTile<std::uint32_t, in_stages(column_major(tiling.m, steps), stage_bytes, 4)>;
    using B = SharedTile<std::uint32_t, in_stages(column_major(tiling.n, steps), stage_bytes, 4)>;
    A a_scales;  // (m,step), of a ring (m,step,stage)
    B b_scales;  // (n,step), of a ring (n,step,stage)
    TW_DEVICE explicit Tensors(SharedAddress tile)
        : a_scales(tile + unsigned{offsetof(Tile, a)}),
          b_scales(tile + unsigned{offsetof(Tile, b)}) {}
  };
  // Blocks of 128 rows by four scales, k first, of one matrix after the other.
  struct Blocks {
    const std::uint8_t* data;
    int row_blocks;  // in one matrix
    int k_blocks;
  };
  struct Params {
    Blocks a, b;
  };
  static constexpr bool elected = false;
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = waves;
  static constexpr unsigned stages_held = 0;

  TW_DEVICE WaveBlockScales(const Params& params, unsigned thread)
      : params_(params), thread_(thread) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const auto tensors = stage.tensors();
    copy(tensors.a_scales, params_.a, tile.first_row(tiling.m), k, tile.batch);
    copy(tensors.b_scales, params_.b, tile.first_column(tiling.n), k, tile.batch);
  }
  TW_DEVICE void finish() {}

 private:
  // Rows are filled up to whole blocks; those behind them are zero in the operands.
  template <class Tensor>
  TW_DEVICE void copy(const Tensor& to, const Blocks& from, int first, int k, int batch) const {
    constexpr int rows = ScaleBlock::rows;
    for (unsigned i = thread_; i < Tensor::template static_extent<0>; i += waves * 64) {
      const int row = first + static_cast<int>(i);
      TW_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        const int k_block = k * int{steps} + static_cast<int>(step);
        const bool inside = row < from.row_blocks * rows && (steps == 1 || k_block < from.k_blocks);
        const std::int64_t block =
            (std::int64_t{batch} * from.row_blocks + row / rows) * from.k_blocks + k_block;
        const auto* const word = reinterpret_cast<const std::uint32_t*>(
            from.data + block * int{ScaleBlock::bytes} + row % 32 * 16 + row % rows / 32 * 4);
        isa::store_shared_4(to.address(i, step), inside ? load_element<Space::Global>(word) : 0u);
      }
    }
  }

  const Params& params_;
  unsigned thread_;
};

}  // namespace tw
