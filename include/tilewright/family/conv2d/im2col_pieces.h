// TileIO: forward im2col by threads that know their pixels before they copy them: few channels,
// channels of any number, and groups of few channels, several in one tile.
#pragma once

#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/family/conv2d/run_copy.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/isa/ptx/cp_async_cached.h"

namespace tw {

// k goes through (r, s, c) without gaps, c being the channels of one matrix of the batch. Such a
// matrix is a group, or several of them side by side: B is then zero where a filter and a channel
// are of different groups. A chunk of 16 bytes is copied in pieces that lie in one pixel, and in
// one group of B; those of one element go through registers.
//
// Or, where channels are no whole words: k goes through (r, s and c), a line of a filter that is
// padded to whole chunks. A chunk is then of one line, which lies side by side in memory, and is
// read word by word.
//
// A thread has the same chunk of every line that it fills: the filter position is found once for
// all of them. The pixels at which the filter begins are found once for a tile.
template <Tiling tiling, unsigned warps, Completion how>
class Im2colPieceLoader : public ThreadLoader<tiling, AsyncCopy, warps, how> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, how>;
  using T = typename Base::template Bits<bytes_of(tiling.a_type)>;
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K && phases_of(tiling) == 1,
                "Pieces are of forward convolutions.");
  static_assert(sizeof(T) == 2 && tiling.spans == 1, "Pieces are of elements of two bytes.");
  static constexpr unsigned chunks = Tiling::span_bytes / 16, elements = 16 / sizeof(T);
  static constexpr unsigned step = warps * 32 / chunks;  // lines from one of a thread to its next
  static_assert(tiling.m % step == 0 && tiling.n % step == 0, "All threads have as many lines.");
  static constexpr unsigned a_lines = tiling.m / step, b_lines = tiling.n / step;
  // Beyond every image, and still so when a filter's reach is added.
  static constexpr int nowhere = 1 << 30;

 public:
  static constexpr unsigned stages_held = 2, least_alignment = sizeof(T);
  static constexpr bool spans_groups = true;
  static constexpr bool is_by_lines = false;

  // A line of the view of the image is a pixel; but it counts the rows and the k of its operand.
  // Both alignments are those of pieces.
  struct Params : Base::Params, Im2colAxes<1> {
    Divisor channels;         // A's, from one filter position, or padded line, to the next
    Divisor filter_channels;  // B's, from position to position: all of k if a tile has one group
    Divisor group_channels;   // one group's: all of k if a tile has one group
    Divisor group_filters;
    int line = 0;  // elements of a filter's line; 0: it is copied by positions
  };

  TW_DEVICE Im2colPieceLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params), line_(thread / chunks), chunk_(thread % chunks) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k_tile) {
    begin(tile);
    const auto tensors = stage.tensors();
    const unsigned k = static_cast<unsigned>(k_tile) * tiling.k() + chunk_ * elements;
    if (params_.line != 0) {
      copy_filter_lines(own_chunks(tensors.a), own_chunks(tensors.b), k);
    } else {
      each_size(params_.a.alignment, [&](auto piece) {
        copy_pixels<piece.value>(own_chunks(tensors.a), k, tile.batch);
      });
      each_size(params_.b.alignment, [&](auto piece) {
        copy_filters<piece.value>(own_chunks(tensors.b), k, tile.batch);
      });
    }
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<stages_held>();
  }

 private:
  // Where the filter begins for a row of A: of the image, and counted in all images.
  struct Pixel {
    int w, h;
    unsigned at;  // modulo 2^32, where it is outside of the images
  };
  // What a piece adds to that, and its channel.
  struct Step {
    int w, h;
    unsigned at;
    unsigned channel;
  };
  // Where a piece of B is in a filter, and in which group of its tile.
  struct Weights {
    unsigned at, group;
  };

  template <class Body>
  static TW_DEVICE void each_size(unsigned alignment, const Body& body) {
    if (alignment == 16) return body(std::integral_constant<unsigned, 16>{});
    if (alignment == 8) return body(std::integral_constant<unsigned, 8>{});
    if (alignment == 4) return body(std::integral_constant<unsigned, 4>{});
    return body(std::integral_constant<unsigned, 2>{});
  }

  // From the thread's chunk of its first line to those of the others.
  template <class Tensor>
  TW_DEVICE auto own_chunks(const Tensor& tile) const {
    const auto lines = tile.template as<Chunk<16>, lines_of(Tensor::tensor_layout(), sizeof(T))>();
    return lines.template steps_from<0, step>(line_, chunk_);
  }

  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    const int row = tile.first_row(tiling.m), column = tile.first_column(tiling.n);
    if (row != first_row_) {
      first_row_ = row;
      TW_UNROLL
      for (unsigned i = 0; i < a_lines; ++i) {
        const int output = row + static_cast<int>(line_ + i * step);
        pixels_[i] =
            output < params_.a.rows ? pixel(static_cast<unsigned>(output)) : Pixel{0, nowhere, 0};
      }
    }
    if (column != first_column_) {
      first_column_ = column;
      TW_UNROLL
      for (unsigned i = 0; i < b_lines; ++i) {
        const auto filter = static_cast<unsigned>(column) + line_ + i * step;
        groups_[i] = filter < static_cast<unsigned>(params_.b.rows)
                         ? params_.group_filters.divide(filter).quotient
                         : unsigned{nowhere};
      }
    }
  }
  TW_DEVICE Pixel pixel(unsigned output) const {
    const auto &w = params_.axes[0], &h = params_.axes[1];
    const int x = w.first(w.outputs.split(output)), y = h.first(h.outputs.split(output));
    const unsigned line = output * static_cast<unsigned>(h.extent) + static_cast<unsigned>(y);
    return {x, y, line * static_cast<unsigned>(w.extent) + static_cast<unsigned>(x)};
  }
  TW_DEVICE Step step_of(unsigned k) const {
    if (k >= static_cast<unsigned>(params_.a.k)) return {0, nowhere, 0, 0};
    const auto &w = params_.axes[0], &h = params_.axes[1];
    unsigned position = k;
    const unsigned channel = params_.channels.split(position);
    const int x = static_cast<int>(w.phases[0].filter.split(position)) * w.dilation;
    const int y = static_cast<int>(position) * h.dilation;
    const unsigned at = static_cast<unsigned>(y) * static_cast<unsigned>(w.extent);
    return {x, y, at + static_cast<unsigned>(x), channel};
  }
  TW_DEVICE Weights weights_at(unsigned k) const {
    if (k >= static_cast<unsigned>(params_.b.k)) return {0, nowhere + 1};
    unsigned position = k;
    unsigned group = params_.filter_channels.split(position);
    const unsigned channel = params_.group_channels.split(group);
    return {position * params_.group_channels.value + channel, group};
  }

  TW_DEVICE bool is_inside(const Pixel& pixel, const Step& step) const {
    const unsigned x = static_cast<unsigned>(pixel.w) + static_cast<unsigned>(step.w);
    const unsigned y = static_cast<unsigned>(pixel.h) + static_cast<unsigned>(step.h);
    return x < static_cast<unsigned>(params_.axes[0].extent) &&
           y < static_cast<unsigned>(params_.axes[1].extent);
  }

  // Where a piece lies in memory; if it is not inside, it is zero, and `from` is any address.
  struct Source {
    const T* from;
    bool is_inside;
  };
  // So many lines of `pitch` elements behind the first.
  static TW_DEVICE const T* behind(const T* first, unsigned line, unsigned pitch) {
    return first + std::uint64_t{line} * pitch;
  }

  template <unsigned piece, class Chunks>
  TW_DEVICE void copy_pixels(const Chunks& to, unsigned k, int batch) const {
    const T* const image = static_cast<const T*>(params_.a.data) + batch * params_.a.batch_stride;
    const auto pitch = static_cast<unsigned>(params_.a.row_stride);
    copy_lines<piece, a_lines>(
        to, k, [&](unsigned at) { return step_of(at); },
        [&](unsigned line, const Step& step) {
          const bool inside = is_inside(pixels_[line], step);
          const unsigned at = inside ? pixels_[line].at + step.at : 0;
          return Source{behind(image + step.channel, at, pitch), inside};
        });
  }
  template <unsigned piece, class Chunks>
  TW_DEVICE void copy_filters(const Chunks& to, unsigned k, int batch) const {
    const T* const filters = static_cast<const T*>(params_.b.data) + batch * params_.b.batch_stride;
    const auto pitch = static_cast<unsigned>(params_.b.row_stride);
    const unsigned first = static_cast<unsigned>(first_column_) + line_;
    copy_lines<piece, b_lines>(
        to, k, [&](unsigned at) { return weights_at(at); },
        [&](unsigned line, const Weights& weights) {
          const bool inside = groups_[line] == weights.group;
          return Source{behind(filters + weights.at, inside ? first + line * step : 0, pitch),
                        inside};
        });
  }

  // The thread's chunk of each of its lines. place_of(k) tells what is common to all lines,
  // source(line, place) the Source of a piece.
  template <unsigned piece, unsigned lines, class Chunks, class PlaceOf, class SourceOf>
  TW_DEVICE void copy_lines(const Chunks& to, unsigned k, const PlaceOf& place_of,
                            const SourceOf& source) const {
    constexpr unsigned pieces = 16 / piece, of_piece = piece / sizeof(T);
    decltype(place_of(0u)) places[pieces];
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) places[i] = place_of(k + i * of_piece);
    if constexpr (piece >= 4) {
      TW_UNROLL
      for (unsigned line = 0; line < lines; ++line) {
        const SharedTile<Chunk<piece>, single(pieces, 1)> chunk(to.address(line * step));
        TW_UNROLL
        for (unsigned i = 0; i < pieces; ++i) {
          const auto [from, is_inside] = source(line, places[i]);
          isa::cp_async_cached<piece>(chunk.address(i), from, is_inside ? piece : 0);
        }
      }
    } else {
      // A load takes as long as hundreds of instructions: those of some lines go together.
      constexpr unsigned at_once = 2;
      TW_UNROLL
      for (unsigned first = 0; first < lines; first += at_once) {
        std::uint32_t words[at_once][4] = {};
        TW_UNROLL
        for (unsigned line = 0; line < at_once; ++line) {
          TW_UNROLL
          for (unsigned i = 0; i < elements; ++i) {
            const auto [from, is_inside] = source(first + line, places[i]);
            const std::uint32_t element = is_inside ? load_element<Space::Global>(from) : T{};
            words[line][i / 2] |= element << i % 2 * 16;
          }
        }
        TW_UNROLL
        for (unsigned line = 0; line < at_once; ++line) {
          isa::store_shared_16(to.address((first + line) * step), words[line]);
        }
      }
    }
  }

  // The thread's chunk of each of its lines of the image and of filters, some of them at once; all
  // are of one line of a filter, `down` rows of pixels below its first.
  template <class ChunksOfA, class ChunksOfB>
  TW_DEVICE void copy_filter_lines(const ChunksOfA& a, const ChunksOfB& b, unsigned k) const {
    unsigned position = k;
    const int first = static_cast<int>(params_.channels.split(position));
    const int left = k < static_cast<unsigned>(params_.a.k) ? params_.line - first : 0;
    const int down = static_cast<int>(position) * params_.axes[1].dilation;
    const T* const weights =
        static_cast<const T*>(params_.b.data) + static_cast<int>(position) * params_.line + first;
    constexpr unsigned lines = a_lines + b_lines;
    constexpr unsigned at_once = lines % 6 == 0 ? 6 : lines % 4 == 0 ? 4 : 1;
    TW_UNROLL
    for (unsigned begin = 0; begin < lines; begin += at_once) {
      FetchedRun runs[at_once];
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        const unsigned line = begin + i;
        runs[i].fetch(line < a_lines ? image_run(line, first, down, left)
                                     : filter_run(weights, line - a_lines, left));
      }
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        const unsigned line = begin + i;
        runs[i].store(line < a_lines ? a.address(line * step) : b.address((line - a_lines) * step));
      }
    }
  }
  // What lies beside the image's line is no part of it, nor is the padding of the filter's.
  TW_DEVICE Run image_run(unsigned line, int first, int down, int left) const {
    const auto &w = params_.axes[0], &h = params_.axes[1];
    const Pixel& pixel = pixels_[line];
    const int pitch = static_cast<int>(params_.a.row_stride);
    const int before = pixel.w * pitch + first;
    const int until = w.extent * pitch - before;
    const bool inside = static_cast<unsigned>(pixel.h + down) < static_cast<unsigned>(h.extent);
    const std::int64_t at = static_cast<int>(pixel.at) + std::int64_t{down} * w.extent;
    const int high = until < left ? until : left;
    return {static_cast<const T*>(params_.a.data) + at * pitch + first, before < 0 ? -before : 0,
            inside ? high : 0};
  }
  TW_DEVICE Run filter_run(const T* weights, unsigned line, int left) const {
    const unsigned filter = static_cast<unsigned>(first_column_) + line_ + line * step;
    return {weights + std::int64_t{filter} * params_.b.row_stride, 0,
            groups_[line] == 0 ? left : 0};
  }

  const Params& params_;
  unsigned line_, chunk_;
  int first_row_ = -1, first_column_ = -1;
  Pixel pixels_[a_lines];
  unsigned groups_[b_lines];
};

}  // namespace tw
