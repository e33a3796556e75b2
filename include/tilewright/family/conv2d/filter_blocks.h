// TileIO: the filters of groups that share a tile, by threads. A k-tile is one filter position; of
// its channels a filter has those of its own group, and zeros at the others.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/contracts.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/cp_async_cached.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// B's part of a stage, with nothing beside A and B. All columns are of one tile.
template <Tiling tiling, unsigned warps>
class FilterBlocks : public UsualLoader {
  using T = std::uint16_t;
  static_assert(bytes_of(tiling.b_type) == sizeof(T) && tiling.spans == 1);
  static constexpr unsigned chunks = Tiling::span_bytes / 16, elements = 16 / sizeof(T);
  static constexpr unsigned step = warps * 32 / chunks;  // lines from one of a thread to its next
  static_assert(tiling.n % step == 0, "All threads have as many lines.");
  static constexpr unsigned lines = tiling.n / step;

 public:
  struct Tile {};
  template <unsigned stage_bytes = 0>
  struct Tensors {
    TW_DEVICE explicit Tensors(SharedAddress) {}
  };
  static constexpr bool elected = false;
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = warps, stages_held = 2;
  static constexpr unsigned row_step = 1, column_step = 1;

  struct Params {
    OperandView filters;
    Divisor group_filters;
    unsigned group_channels;  // 2, 4, 8 and so on: whole groups fill a k-tile
  };

  TW_DEVICE FilterBlocks(const Params& params, unsigned thread)
      : params_(params), line_(thread / chunks), chunk_(thread % chunks) {
    TW_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      const unsigned group = params.group_filters.divide(line_ + i * step).quotient;
      first_channels_[i] = group * params.group_channels;
    }
  }

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int position) {
    const auto tile_of_b = stage.tensors().b;
    const auto all =
        tile_of_b
            .template as<Chunk<16>, lines_of(decltype(tile_of_b)::tensor_layout(), sizeof(T))>();
    const auto to = all.template steps_from<0, step>(line_, chunk_);
    const T* const first = static_cast<const T*>(params_.filters.data) +
                           tile.batch * params_.filters.batch_stride +
                           position * static_cast<int>(params_.group_channels);
    if (params_.group_channels >= elements) {
      copy<16>(to, first);
    } else if (params_.group_channels == 4) {
      copy<8>(to, first);
    } else {
      copy<4>(to, first);
    }
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<stages_held>();
  }
  TW_DEVICE void finish() { isa::cp_async_wait_group<0>(); }

 private:
  // A piece is of one group.
  template <unsigned piece, class Chunks>
  TW_DEVICE void copy(const Chunks& to, const T* first) const {
    constexpr unsigned pieces = 16 / piece;
    TW_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      const unsigned filter = line_ + i * step;
      const bool is_there = filter < static_cast<unsigned>(params_.filters.rows);
      const T* const line = first + filter * params_.filters.row_stride;
      const SharedTile<Chunk<piece>, single(pieces, 1)> chunk(to.address(i * step));
      TW_UNROLL
      for (unsigned p = 0; p < pieces; ++p) {
        const unsigned channel =
            chunk_ * elements + p * (piece / unsigned{sizeof(T)}) - first_channels_[i];
        const bool is_own = is_there && channel < params_.group_channels;
        isa::cp_async_cached<piece>(chunk.address(p), is_own ? line + channel : first,
                                    is_own ? piece : 0);
      }
    }
  }

  const Params& params_;
  unsigned line_, chunk_;
  unsigned first_channels_[lines];
};

}  // namespace tw
