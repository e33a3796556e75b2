// TileIO: what im2col.h brings, copied by threads: any channels, groups, strides, padding and
// filters, on any target.
#pragma once

#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/io/vector_copy.h"

namespace tw {

// Rows and columns count like Im2colLoader's, but k goes through (r, s, c) without gaps, and so do
// the columns of B where k counts pixels: few channels waste nothing. Matrix g of the batch is
// group g, its channels and its filters, of each phase.
template <Tiling tiling, class Copy, unsigned warps, Completion how, unsigned lanes = 32>
class Im2colCopies : public ThreadLoader<tiling, Copy, warps, how, lanes> {
  using Base = ThreadLoader<tiling, Copy, warps, how, lanes>;
  using T = typename Base::template Bits<bytes_of(tiling.a_type)>;
  static constexpr int elements = 16 / sizeof(T);
  static constexpr bool sums_positions = tiling.a_major == Major::K;
  static_assert(sums_positions || tiling.b_major == Major::MN,
                "Channels are what is contiguous in an image.");

 public:
  static constexpr bool by_cp_async = std::is_same_v<Copy, AsyncCopy>;
  static constexpr unsigned stages_held = by_cp_async ? 2 : 0, least_alignment = 1;
  static constexpr bool spans_groups = false;
  static constexpr bool is_by_lines = false;

  // A line of the view of the image is a pixel; but it counts the rows and the k of its operand.
  struct Params : Base::Params, Im2colAxes<phases_of(tiling)> {
    Divisor channels;      // channels of a group
    int filter_positions;  // in memory
  };

  TW_DEVICE Im2colCopies(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k_tile) {
    const auto [phase, group] = params_.batch(tile.batch);
    const OperandView &a = params_.a, &b = params_.b;
    const auto tensors = stage.tensors();
    copy<tiling.a_major, Base::in_shared().a_major>(
        tensors.a, a, tile.first_row(tiling.m), k_tile, group, [&](int row, int k) {
          return sums_positions ? element(row, k, phase, a.row_stride) : row + k * a.k_stride;
        });
    copy<tiling.b_major, Base::in_shared().b_major>(tensors.b, b, tile.first_column(tiling.n),
                                                    k_tile, group, [&](int row, int k) {
                                                      if constexpr (!sums_positions)
                                                        return element(k, row, phase, b.k_stride);
                                                      if constexpr (tiling.b_major == Major::K)
                                                        return row * b.row_stride + k;
                                                      return weight(row, k, phase);
                                                    });
    if constexpr (stages_held > 0) {
      Copy::commit();
      Copy::template wait<stages_held>();
    }
  }

 private:
  // Element offset of the input that output pixel `output` reads at flattened (r,s,c) = `met`; -1
  // in padding.
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
  // to 16 bytes goes by chunks, other memory element by element, and so does an operand that is
  // turned over on its way.
  template <Major in_memory, Major major, class Tensor, class OffsetOf>
  TW_DEVICE void copy(const Tensor& tile, const OperandView& view, int first_row, int k_tile,
                      unsigned group, const OffsetOf& offset_of) {
    const T* const first = static_cast<const T*>(view.data) + group * view.batch_stride;
    const int first_k = k_tile * int{tiling.k()};
    // Calls use(offset) for a chunk: offset(i) is where its element i lies; negative: nowhere.
    const auto at_chunk = [&](int row, int k, const auto& use) {
      use([&](int i) -> std::int64_t {
        const int at_row = major == Major::K ? row : row + i;
        const int at_k = major == Major::K ? k + i : k;
        return at_row < view.rows && at_k < view.k ? offset_of(at_row, at_k) : -1;
      });
    };
    const auto gather = [&](SharedAddress to, const auto& offset) {
      PlainCopy::gather<T>(to, [&](int i) {
        const std::int64_t at = offset(i);
        return at < 0 ? T{} : load_element<Space::Global>(first + at);
      });
    };
    if constexpr (by_cp_async) {
      this->template each_chunk<major>(
          tile, first_row, first_k, [&](SharedAddress to, int row, int k) {
            at_chunk(row, k, [&](const auto& offset) {
              if (view.alignment < 16) return gather(to, offset);
              const std::int64_t at = offset(0);
              isa::cp_async<16>(to, at < 0 ? first : first + at, at < 0 ? 0 : 16);
            });
          });
    } else if (Copy::at_once == 0 || in_memory != major || view.alignment < 16) {
      this->template each_chunk<major>(
          tile, first_row, first_k, [&](SharedAddress to, int row, int k) {
            at_chunk(row, k, [&](const auto& offset) { gather(to, offset); });
          });
    } else if constexpr (Copy::at_once > 0) {
      typename Copy::Fetched fetched[Copy::at_once];
      this->template each_chunk<major, Copy::at_once>(
          tile, first_row, first_k,
          [&](unsigned i, SharedAddress, int row, int k) {
            at_chunk(row, k, [&](const auto& offset) {
              const std::int64_t at = offset(0);
              fetched[i] = Copy::fetch(at < 0 ? first : first + at, 1, at < 0 ? 0 : elements);
            });
          },
          [&](unsigned i, SharedAddress to) { Copy::store(to, fetched[i]); });
    }
  }

  const Params& params_;
};

template <Tiling tiling, unsigned warps, Completion how>
using Im2colCopyLoader = Im2colCopies<tiling, AsyncCopy, warps, how>;

// By waves of 64 lanes, through registers, bits as they are.
template <Tiling tiling, unsigned waves, Completion how>
using Im2colWaveLoader = Im2colCopies<tiling, VectorCopy, waves, how, 64>;

}  // namespace tw
