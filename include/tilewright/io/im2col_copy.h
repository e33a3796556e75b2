// TileIO: A is pixels of an image as a convolution's filter meets them, B is the filter as it is
// stored, both copied by threads: any channels, strides, padding and filters, on any target.
#pragma once

#include "tilewright/io/im2col.h"
#include "tilewright/io/thread_loader.h"

namespace tw {

// Row i of A is output pixel i of (n, p, q); k goes through (r, s, c) without gaps, so that few
// channels waste nothing. Matrix g of the batch is group g: its channels and its filters.
template <Tiling tiling, unsigned warps, Completion how>
class Im2colCopyLoader : public ThreadLoader<tiling, AsyncCopy, warps, how> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, how>;
  using T = typename Base::template Bits<bytes_of(tiling.a_type)>;
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K,
                "Channels are what is contiguous in an image and in a filter.");

 public:
  static constexpr unsigned stages_held = 2, least_alignment = 1;

  // A row of the view `a` is a pixel of the image; but it counts m rows, and all of k.
  struct Params : Base::Params {
    Im2colAxis axes[3];  // w, h, depth
    Divisor channels;    // of a group
  };

  TW_DEVICE Im2colCopyLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <class Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k_tile) {
    copy<tiling.m>(stage.tiles(), params_.a, tile.first_row(tiling.m), k_tile, tile.batch,
                   [&](int row, int k) { return pixel(row, k); });
    copy<tiling.n>(stage.tiles() + tiling.a_bytes(), params_.b, tile.first_column(tiling.n), k_tile,
                   tile.batch, [&](int row, int k) { return row * params_.b.row_stride + k; });
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<stages_held>();
  }

 private:
  // Where the image has it, in elements from the first; negative: outside.
  TW_DEVICE std::int64_t pixel(int row, int k) const {
    unsigned outputs = static_cast<unsigned>(row), positions = static_cast<unsigned>(k);
    std::int64_t at = params_.channels.split(positions), pitch = params_.a.row_stride;
    TW_UNROLL
    for (const Im2colAxis& axis : params_.axes) {
      const int begin = axis.first(axis.outputs.split(outputs));
      const int here = begin + static_cast<int>(axis.filter.split(positions)) * axis.dilation;
      if (here < 0 || here >= axis.extent) return -1;
      at += here * pitch;
      pitch *= axis.extent;
    }
    return at + outputs * pitch;
  }

  // `extent` rows of a view from `first_row` on, `group` of its batch. Memory that is aligned to 16
  // bytes goes by cp.async, other memory element by element.
  template <unsigned extent, class OffsetOf>
  TW_DEVICE void copy(SharedAddress tile, const OperandView& view, int first_row, int k_tile,
                      int group, const OffsetOf& offset_of) {
    const T* const first = static_cast<const T*>(view.data) + group * view.batch_stride;
    this->template each_chunk<Major::K, extent, sizeof(T)>(
        tile, first_row, k_tile * int{tiling.k()}, [&](SharedAddress to, int row, int chunk_k) {
          const auto offset = [&](int k) -> std::int64_t {
            return row < view.rows && k < view.k ? offset_of(row, k) : -1;
          };
          if (view.alignment < 16)
            return PlainCopy::gather<T>(to, [&](int element) {
              const std::int64_t at = offset(chunk_k + element);
              return at < 0 ? T{} : load_element<Space::Global>(first + at);
            });
          const std::int64_t at = offset(chunk_k);
          isa::cp_async<16>(to, at < 0 ? first : first + at, at < 0 ? 0 : 16);
        });
  }

  const Params& params_;
};

}  // namespace tw
