// The scales of a stage, brought through registers by waves of 64 lanes that arrive when they are
// done: where copies do not signal.
#pragma once

#include "tilewright/io/scale_loader.h"
#include "tilewright/layout/access.h"

namespace tw {

template <Tiling tiling, unsigned b_rows, unsigned waves, unsigned a_rows = 1>
class WaveScaleLoader : public ScaleLoader<tiling, b_rows, waves, a_rows> {
  using Base = ScaleLoader<tiling, b_rows, waves, a_rows>;

 public:
  using typename Base::Params;
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = waves;

  TW_DEVICE WaveScaleLoader(const Params& params, unsigned thread)
      : Base(params, thread), thread_(thread) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const auto tensors = stage.tensors();
    copy<1, a_rows>(tensors.a_scales, this->params_.a, tile.first_row(tiling.m), k, tile.batch);
    copy<Base::b_columns, b_rows>(tensors.b_scales, this->params_.b, tile.first_column(tiling.n), k,
                                  tile.batch);
  }

 private:
  // A scale of every `step` rows from `first` on, of which `scale_rows` share one.
  template <unsigned step, unsigned scale_rows, class Tensor>
  TW_DEVICE void copy(const Tensor& to, const OperandView& view, int first, int k,
                      int batch) const {
    constexpr unsigned count = Tensor::template static_extent<0>;
    const auto* const from =
        static_cast<const float*>(view.data) + batch * view.batch_stride + k * view.k_stride;
    for (unsigned i = thread_; i < count; i += waves * 64) {
      const int row = (first + static_cast<int>(i * step)) / int{scale_rows};
      const float scale =
          row < view.rows ? load_element<Space::Global>(from + row * view.row_stride) : 0.0f;
      isa::store_shared_4(to.address(i), std::bit_cast<std::uint32_t>(scale));
    }
  }

  unsigned thread_;
};

}  // namespace tw
