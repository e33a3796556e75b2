// Depthwise convolution: a column of D sees one channel of the image, so that nothing is summed up
// that a matrix instruction could multiply. A thread has a strip of neighbouring pixels of D, each
// of `vector` columns (where memory is aligned, and a channel has one column) or of one; lanes
// beside it have the columns beside it. What the strip meets outside of the image is zero.
#pragma once

#include "tilewright/epilogue/runtime.h"
#include "tilewright/epilogue/source.h"
#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/pipeline/together.h"

namespace tw {

template <ElementType type, ElementType output>
class DepthwiseStream : public UsualStream {
  using Bits = ElementBits<bytes_of(type)>;

 public:
  static constexpr unsigned threads = 128, least_ctas = 4, pixels = 4, vector = 8;
  static constexpr unsigned block_columns = 128;  // a CTA's, at most; it keeps their filters
  static constexpr bool elected = false;          // its threads load for themselves
  static constexpr unsigned filter_room = 16384 / sizeof(Bits);
  struct Storage {
    alignas(16) Bits filter[filter_room];  // (column,position)
  };

  struct Params {
    const void *image, *filter;
    void* d;
    Im2colAxes<1> sides;
    Divisor strips;  // strips in a line of outputs
    Divisor lanes;   // threads side by side: a block of columns
    Divisor blocks;
    Divisor positions;   // positions of the filter
    Divisor multiplier;  // columns of a channel
    int channels, columns;
    unsigned all_strips;
    unsigned length;  // columns of a thread
    unsigned fixed;   // 10 * filter + stride along w, where there is code for these
    EpilogueArguments epilogue;
  };

  // The launch has a multiple of `blocks` CTAs: all tiles of one have the same columns.
  TW_DEVICE DepthwiseStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), filter_(storage.filter), thread_(thread) {
    const unsigned width = params.lanes.value * params.length;
    const unsigned first = params.blocks.divide(isa::cta_index()).remainder * width;
    const unsigned left = static_cast<unsigned>(params.columns) - first;
    first_column_ = first;
    write_together(threads, [&] {
      const unsigned count = (left < width ? left : width) * params.positions.value;
      const auto* const from =
          static_cast<const Bits*>(params.filter) + std::int64_t{first} * params.positions.value;
      for (unsigned i = thread; i < count; i += threads) {
        const auto [column, position] = params.positions.divide(i);
        store_element<Space::Shared>(filter_ + position * pitch() + column,
                                     load_element<Space::Global>(from + i));
      }
    });
  }

  TW_DEVICE void pass(unsigned tile) {
    return params_.length == vector ? convolve<vector>(tile) : convolve<1>(tile);
  }

 private:
  // With a gap of one lane, so that the positions of a column lie in different banks.
  TW_DEVICE unsigned pitch() const { return (params_.lanes.value + 1) * params_.length; }

  // Where a strip's pairs lie, for the epilogue. One column alone has no second of a pair.
  template <unsigned length>
  struct PlaceOf {
    static constexpr bool transposed = false;
    int row, column, end, columns;
    TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
      constexpr unsigned pairs = (length + 1) / 2;
      return {0, row + static_cast<int>(pair / pairs), column + static_cast<int>(pair % pairs * 2),
              end, length == 1 ? column + 1 : columns};
    }
    TW_DEVICE bool columns_inside() const { return length > 1; }
  };

  // Strips go down a column of the image first: the lines that two of them meet are then in the L1.
  template <unsigned length>
  TW_DEVICE void convolve(unsigned tile) {
    const auto& [w, h, depth] = params_.sides.axes;
    const auto [strip, lane] = params_.lanes.divide(thread_);
    const unsigned at_once = threads / params_.lanes.value;
    unsigned image = params_.blocks.divide(tile).quotient * at_once + strip;
    const unsigned column = first_column_ + lane * length;
    float sums[pixels][length] = {};
    PlaceOf<length> place = {1, 0, 1, params_.columns};  // outside, behind a row that there is
    if (strip < at_once && image < params_.all_strips &&
        column < static_cast<unsigned>(params_.columns)) {
      const unsigned p = h.outputs.split(image);
      const unsigned q = params_.strips.split(image) * pixels;
      const unsigned o = depth.outputs.split(image);
      const unsigned line = (image * depth.outputs.value + o) * h.outputs.value + p;
      const unsigned end = q + pixels < w.outputs.value ? q + pixels : w.outputs.value;
      place = {static_cast<int>(line * w.outputs.value + q), static_cast<int>(column),
               static_cast<int>(line * w.outputs.value + end), params_.columns};
      const std::int64_t before = std::int64_t{image} * depth.extent * h.extent * w.extent;
      const unsigned channel = params_.multiplier.divide(column).quotient;
      const Corner corner = {
          static_cast<const Bits*>(params_.image) + before * params_.channels + channel,
          filter_ + lane * length, w.first(q), h.first(p), depth.first(o)};
      switch (length == 1 ? 0 : params_.fixed) {
        case 31: add<3, 1>(sums, corner); break;
        case 32: add<3, 2>(sums, corner); break;
        case 51: add<5, 1>(sums, corner); break;
        case 52: add<5, 2>(sums, corner); break;
        case 71: add<7, 1>(sums, corner); break;
        default: add<0, 0>(sums, corner);
      }
    }
    finish(sums, place);
  }

  // Where the strip's filters begin in the image, and the thread's filters.
  struct Corner {
    const Bits *image, *filter;
    int x, y, z;
  };

  // Filters of `taps` along w that step by `stride` there: all that a strip meets on a line is
  // loaded once, and under way together; of 3 by 3 so are all lines. 0: any.
  template <unsigned taps, unsigned stride, unsigned length>
  TW_DEVICE void add(float (&sums)[pixels][length], const Corner& corner) const {
    const auto& [w, h, depth] = params_.sides.axes;
    constexpr bool square = taps == 3 && stride == 1;
    const Divisor &w_filter = w.phases[0].filter, &h_filter = h.phases[0].filter;
    const unsigned lines = square ? 3 : h_filter.value * depth.phases[0].filter.value;
    const Bits* filter_at = corner.filter;
    TW_UNROLL
    for (unsigned line = 0; line < lines; ++line) {
      const auto [t, r] = square ? Divisor::Divided{0, line} : h_filter.divide(line);
      const int y = corner.y + static_cast<int>(r) * h.dilation;
      const int z = corner.z + static_cast<int>(t) * depth.dilation;
      const bool met = y >= 0 && y < h.extent && z >= 0 && z < depth.extent;
      const unsigned width = met ? static_cast<unsigned>(w.extent) : 0;
      const std::int64_t pixel = (std::int64_t{z} * h.extent + y) * w.extent + corner.x;
      const Bits* const first = corner.image + pixel * params_.channels;
      const auto load = [&](float(&values)[length], unsigned x) {
        const bool inside = static_cast<unsigned>(corner.x) + x < width;
        read<Space::Global>(values, first + std::int64_t{x} * params_.channels, inside);
      };
      float values[taps > 0 ? (pixels - 1) * stride + taps : 1][length], filter[length];
      if constexpr (taps > 0) {
        TW_UNROLL
        for (unsigned x = 0; x < (pixels - 1) * stride + taps; ++x) load(values[x], x);
      }
      TW_UNROLL
      for (unsigned s = 0; s < (taps > 0 ? taps : w_filter.value); ++s, filter_at += pitch()) {
        read<Space::Shared>(filter, filter_at, true);
        TW_UNROLL
        for (unsigned i = 0; i < pixels; ++i) {
          if constexpr (taps == 0) load(values[0], i * w.stride + s * w.dilation);
          TW_UNROLL
          for (unsigned j = 0; j < length; ++j) {
            sums[i][j] += values[taps > 0 ? i * stride + s : 0][j] * filter[j];
          }
        }
      }
    }
  }

  template <Space space>
  static TW_DEVICE void read(float (&value)[1], const Bits* from, bool inside) {
    value[0] = inside ? value_of<type>(load_element<space>(from)) : 0.0f;
  }
  template <Space space>
  static TW_DEVICE void read(float (&values)[vector], const Bits* from, bool inside) {
    // In pairs: of single elements, the compiler would make more than a shift.
    using Pairs = Vector<PairBits<sizeof(Bits)>, vector / 2>;
    Pairs loaded = {};
    if (inside) loaded = load_element<space>(reinterpret_cast<const Pairs*>(from));
    TW_UNROLL
    for (int i = 0; i < int{vector}; i += 2) {
      const FragmentPair pair = values_of<type>(loaded.get(i / 2));
      values[i] = pair.first;
      values[i + 1] = pair.second;
    }
  }

  // Whole warps call it.
  template <unsigned length>
  TW_DEVICE void finish(const float (&sums)[pixels][length], const PlaceOf<length>& place) const {
    constexpr unsigned bytes = bytes_of(output), pairs = (length + 1) / 2;
    const auto end = [&](const auto& program) {
      FragmentPair values[pixels * pairs];
      TW_UNROLL
      for (unsigned i = 0; i < pixels * pairs; ++i) {
        const float* const pair = &sums[i / pairs][i % pairs * 2];
        values[i] = program.begin({pair[0], length == 1 ? 0.0f : pair[1]});
      }
      typename std::remove_cvref_t<decltype(program)>::State state{};
      program.evaluate(state, values, place, GlobalSource{});
      TW_UNROLL
      for (unsigned i = 0; i < pixels; ++i) {
        Vector<ElementBits<bytes>, length> stored;
        TW_UNROLL
        for (unsigned j = 0; j < length; ++j) {
          const auto pair = pack<output>(values[i * pairs + j / 2]);
          stored.set(static_cast<int>(j),
                     j % 2 == 0 ? first_of<bytes>(pair) : second_of<bytes>(pair));
        }
        const std::int64_t row = place.row + static_cast<int>(i);
        auto* const to = static_cast<ElementBits<bytes>*>(params_.d) + row * place.columns;
        if (row < place.end) {
          store_element<Space::Global>(reinterpret_cast<decltype(stored)*>(to + place.column),
                                       stored);
        }
      }
      program.finish(state, thread_ % 32);
    };
    RuntimeEpilogue::choose<float, output, GlobalSource>(params_.epilogue, length > 1, end);
  }

  const Params& params_;
  Bits* filter_;  // this CTA's filters
  unsigned thread_;
  unsigned first_column_;
};

}  // namespace tw
