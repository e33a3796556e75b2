// TileIO: rows of activations by an index that lies on the device, copied by threads beside a
// loader that brings weights alone.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/layout/packed_weights.h"

namespace tw {

// Row i of the tile is row index[i] of A, or zero where A has no such row; without an index, its
// own. Rows that are not the tile's to store are not read, and neither are their indices.
template <Tiling tiling, unsigned warps>
class RowLoader : public ThreadLoader<tiling, AsyncCopy, warps, Completion::WarpsArriveFenced> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, Completion::WarpsArriveFenced>;
  static_assert(tiling.cluster.size() == 1, "What threads copy is not sent to other CTAs.");

 public:
  // It plays the part of scales: a stage has none, and tiles begin where blocks of weights do.
  using Tile = NoScales::Tile;
  template <unsigned stage_bytes = 0>
  using Tensors = NoScales::Tensors<stage_bytes>;
  static constexpr unsigned row_step = PackedWeights::rows;
  static constexpr unsigned column_step = 1;
  struct Params : Base::Params {  // activations are B; there is no A
    const std::int32_t* index = nullptr;
  };
  TW_DEVICE RowLoader(const Params& params, unsigned thread) : Base(params, thread) {}

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    using T = typename Base::template Bits<bytes_of(tiling.b_type)>;
    constexpr int elements = 16 / int{sizeof(T)};
    const OperandView& view = this->params_.b;
    const std::int32_t* const index = static_cast<const Params&>(this->params_).index;
    const auto* const data = static_cast<const T*>(view.data);
    this->template each_chunk<Major::K>(
        stage.tensors().b, tile.first_column(tiling.n), k * static_cast<int>(tiling.k()),
        [&](SharedAddress to, int row, int at_k) {
          int from = row < tile.m_end ? row : -1;
          if (from >= 0 && index != nullptr) from = load_element<Space::Global>(index + row);
          const int inside = from >= 0 && from < view.rows ? view.k - at_k : 0;
          const int count = inside < 0 ? 0 : inside < elements ? inside : elements;
          AsyncCopy::chunk(to, count > 0 ? data + from * view.row_stride + at_k : data, 1, count,
                           16);
        });
    AsyncCopy::commit();
    AsyncCopy::template wait<Base::stages_held>();
  }
};

}  // namespace tw
