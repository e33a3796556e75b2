// TileIO: rows of activations by an index that lies on the device, copied by threads beside a
// loader that brings weights alone.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/io/operand.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/packed_weights.h"

namespace tw {

// Row i of the tile is row index[i] of A, or zero where A has no such row; without an index, its
// own. Rows that are not the tile's to store are not read, and neither are their indices. A thread
// has the same rows in all stages of a tile, and the same 16 bytes of each line: a chunk costs it
// an address and a copy, for few warps keep up with the products of all.
template <Tiling tiling, unsigned warps>
class RowLoader : public UsualLoader {
  static constexpr unsigned line_chunks = 8;  // a line of 128 bytes is swizzled by chunks of 16
  static constexpr unsigned step = 32 * warps / line_chunks;  // lines that all threads copy at once
  // A thread's rows, of which it keeps eight: where there are more, it finds them anew.
  static constexpr unsigned all_rows = tiling.n / step;
  static constexpr unsigned own_rows = all_rows <= 8 ? all_rows : 8;
  static constexpr int elements = 16 / int{bytes_of(tiling.b_type)};
  static_assert(tiling.cluster.size() == 1, "What threads copy is not sent to other CTAs.");
  static_assert(tiling.n % step == 0 && step % 8 == 0 && all_rows % own_rows == 0,
                "Lines of a thread are multiples of 8 apart, where the swizzle repeats.");

 public:
  // It plays the part of scales: a stage has none, and tiles begin where blocks of weights do.
  using Tile = NoScales::Tile;
  template <unsigned stage_bytes = 0>
  using Tensors = NoScales::Tensors<stage_bytes>;
  static constexpr unsigned row_step = PackedWeights::rows;
  static constexpr unsigned column_step = 1;
  static constexpr bool elected = false;
  // Who reads through the async proxy fences: a fence here would wait for copies of later stages.
  static constexpr Completion completion = Completion::CopiesArrive;
  static constexpr unsigned arrivals = 32 * warps;
  static constexpr unsigned stages_held = 0;
  struct Params {
    OperandView b;  // activations, along k
    const std::int32_t* index = nullptr;
  };
  TW_DEVICE RowLoader(const Params& params, unsigned thread)
      : params_(params), line_(thread / line_chunks), chunk_(thread % line_chunks) {}

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    using B = decltype(stage.tensors().b);
    constexpr Layout layout = lines_of(B::tensor_layout(), bytes_of(tiling.b_type));
    const SharedAddress first =
        stage.tensors().b.template as<Chunk<16>, layout>().address(line_, chunk_);
    const int first_k = k * static_cast<int>(tiling.k()) + static_cast<int>(chunk_) * elements;
    TW_ROLL
    for (unsigned row = 0; row < tiling.n; row += own_rows * step) {
      if (all_rows > own_rows || k == tile.k_begin) find_rows(tile, row);
      copy_rows(first + row * 128, first_k);
    }
  }
  TW_DEVICE void finish() {}

 private:
  template <class WorkTile>
  TW_DEVICE void find_rows(const WorkTile& tile, unsigned first) {
    TW_UNROLL
    for (unsigned i = 0; i < own_rows; ++i) {
      const int row = tile.first_column(tiling.n) + static_cast<int>(first + line_ + i * step);
      int from = row < tile.m_end ? row : -1;
      if (from >= 0 && params_.index != nullptr) {
        from = load_element<Space::Global>(params_.index + row);
      }
      rows_[i] = from < params_.b.rows ? from : -1;
    }
  }
  TW_DEVICE void copy_rows(SharedAddress to, int first_k) const {
    constexpr int bytes = bytes_of(tiling.b_type);
    const OperandView& view = params_.b;
    TW_UNROLL
    for (unsigned i = 0; i < own_rows; ++i) {
      const bool is_there = rows_[i] >= 0;
      const auto* const row = static_cast<const unsigned char*>(view.data) +
                              ((is_there ? rows_[i] : 0) * view.row_stride + first_k) * bytes;
      TW_UNROLL
      for (unsigned span = 0; span < tiling.spans; ++span) {
        const int left = view.k - first_k - static_cast<int>(span * tiling.span_k());
        const int inside = !is_there || left < 0 ? 0 : left < elements ? left : elements;
        isa::cp_async<16>(to + (i * step + span * tiling.n) * 128, row + 128 * span,
                          static_cast<unsigned>(inside * bytes));
      }
    }
  }

  const Params& params_;
  unsigned line_;
  unsigned chunk_;
  int rows_[own_rows];  // below 0: none
};

}  // namespace tw
