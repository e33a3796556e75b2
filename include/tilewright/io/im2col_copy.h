// TileIO: what im2col.h brings, copied by threads: any channels, groups, strides, padding and
// filters, on any target.
#pragma once

#include "tilewright/io/async_copy.h"
#include "tilewright/io/im2col_axes.h"
#include "tilewright/io/thread_loader.h"

namespace tw {

// As Im2colLoader counts rows and columns, but k goes through (r, s, c) without gaps, and so do the
// columns of B where k counts pixels: few channels waste nothing. Matrix g of the batch is group g,
// its channels and its filters, of each phase.
template <Tiling tiling, unsigned warps, Completion how>
class Im2colCopyLoader : public ThreadLoader<tiling, AsyncCopy, warps, how> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, how>;
  using T = typename Base::template Bits<bytes_of(tiling.a_type)>;
  static constexpr bool sums_positions = tiling.a_major == Major::K;
  static_assert(sums_positions || tiling.b_major == Major::MN,
                "Channels are what is contiguous in an image.");

 public:
  static constexpr unsigned stages_held = 2, least_alignment = 1;

  // A line of the view of the image is a pixel; but it counts the rows and the k of its operand.
  struct Params : Base::Params, Im2colAxes<phases_of(tiling)> {
    Divisor channels;      // of a group
    int filter_positions;  // as they are stored
  };

  TW_DEVICE Im2colCopyLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k_tile) {
    const auto [phase, group] = params_.batch(tile.batch);
    const OperandView &a = params_.a, &b = params_.b;
    const auto tensors = stage.tensors();
    copy<tiling.a_major>(
        tensors.a, a, tile.first_row(tiling.m), k_tile, group, [&](int row, int k) {
          return sums_positions ? element(row, k, phase, a.row_stride) : row + k * a.k_stride;
        });
    copy<tiling.b_major>(tensors.b, b, tile.first_column(tiling.n), k_tile, group,
                         [&](int row, int k) {
                           if constexpr (!sums_positions) return element(k, row, phase, b.k_stride);
                           if constexpr (tiling.b_major == Major::K) return row * b.row_stride + k;
                           return weight(row, k, phase);
                         });
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<stages_held>();
  }

 private:
  // Where the image has element (position, channel) that an output meets, counted from the first;
  // negative: nowhere.
  TW_DEVICE std::int64_t element(int output, int met, unsigned phase, std::int64_t pitch) const {
    unsigned position = static_cast<unsigned>(met);
    const unsigned channel = params_.channels.split(position);
    const std::int64_t at = params_.pixel(static_cast<unsigned>(output), position, phase);
    return at < 0 ? -1 : at * pitch + channel;
  }
  // Where the filter has column c of (position, k).
  TW_DEVICE std::int64_t weight(int c, int met, unsigned phase) const {
    unsigned position = static_cast<unsigned>(met);
    const std::int64_t k = params_.channels.split(position);
    const int at = params_.stored(position, phase);
    return at < 0 ? -1 : (k * params_.filter_positions + at) * params_.b.k_stride + c;
  }

  // A tile (row,k,span) of a view from `first_row` on, `group` of its batch. Memory that is aligned
  // to 16 bytes goes by cp.async, other memory element by element.
  template <Major major, class Tensor, class OffsetOf>
  TW_DEVICE void copy(const Tensor& tile, const OperandView& view, int first_row, int k_tile,
                      unsigned group, const OffsetOf& offset_of) {
    const T* const first = static_cast<const T*>(view.data) + group * view.batch_stride;
    this->template each_chunk<major>(
        tile, first_row, k_tile * int{tiling.k()}, [&](SharedAddress to, int row, int k) {
          const auto offset = [&](int i) -> std::int64_t {
            const int at_row = major == Major::K ? row : row + i;
            const int at_k = major == Major::K ? k + i : k;
            return at_row < view.rows && at_k < view.k ? offset_of(at_row, at_k) : -1;
          };
          if (view.alignment < 16)
            return PlainCopy::gather<T>(to, [&](int i) {
              const std::int64_t at = offset(i);
              return at < 0 ? T{} : load_element<Space::Global>(first + at);
            });
          const std::int64_t at = offset(0);
          isa::cp_async<16>(to, at < 0 ? first : first + at, at < 0 ? 0 : 16);
        });
  }

  const Params& params_;
};

}  // namespace tw
