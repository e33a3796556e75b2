// Rows of sums that are not side by side in D: where they are stored. And backward data in phases:
// which k-tiles a work tile of a phase has.
#pragma once

#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/family/conv2d/groups.h"
#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// The phase tells how long a sum is.
template <class Map, int tile_k>
class PhaseTiles : Map {
 public:
  struct Params : Map::Params, Im2colAxes<8> {
    int position_k;  // k for each position of the filter
  };
  TW_DEVICE explicit PhaseTiles(const Params& params) : Map(params), params_(params) {}
  using Map::certain;
  using Map::has;
  TW_DEVICE WorkTile tile(int index) const {
    WorkTile tile = Map::tile(index);
    unsigned phases = params_.batch(tile.batch).quotient;
    int k = params_.position_k;
    for (const auto& axis : params_.axes) k *= static_cast<int>(axis.phase(phases).filter.value);
    tile.k_end = (k + tile_k - 1) / tile_k;
    return tile;
  }

 private:
  const Params& params_;
};

// Row i of a phase is a pixel of an image, in steps of the stride. Of the largest phase there are
// as many as rows; of others, the last ones may be outside.
struct PixelView : Im2colAxes<8> {
  int pixels;  // pixels of all images

  TW_DEVICE bool has_gaps() const { return axes[0].stride * axes[1].stride * axes[2].stride > 1; }
  TW_DEVICE FragmentPlace<2> operator()(const FragmentPlace<2>& place) const {
    const auto [phase, group] = batch(place.batch);
    const std::int64_t at = pixel(static_cast<unsigned>(place.row), 0, phase);
    const int row = at < 0 || at > pixels ? pixels : static_cast<int>(at);
    const int first = static_cast<int>(group) * place.n;
    return {0, row, first + place.column, pixels, first + place.n};
  }
};

// Rows of sums are pixels of lines that are longer than D's: what is beyond is outside.
struct LineView {
  Divisor line;
  int outputs;  // outputs of a line, in D
  int pixels;   // pixels of D

  TW_DEVICE bool has_gaps() const { return true; }
  TW_DEVICE FragmentPlace<2> operator()(const FragmentPlace<2>& place) const {
    const auto [index, at] = line.divide(static_cast<unsigned>(place.row));
    const bool inside = place.row < place.m_end && static_cast<int>(at) < outputs;
    const int row = static_cast<int>(index) * outputs + static_cast<int>(at);
    const int first = place.batch * place.n;
    return {0, inside ? row : pixels, first + place.column, pixels, first + place.n};
  }
};

template <class Plain, class View = PixelView>
class PixelStore : public Plain {
 public:
  struct Params : Plain::Params {
    View view;
  };
  template <class... Others>
  TW_DEVICE PixelStore(const Params& params, Others&&... others)
      : Plain(params, others...), params_(params) {}

  template <FragmentSums Sums, class Buffer, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const Buffer& buffer, const Pair (&values)[pairs], unsigned column,
                       bool gates, const PlaceOf& place_of) {
    Plain::template write<Sums>(buffer, values, column, gates,
                                ViewedPlace<View, PlaceOf>{params_.view, place_of});
  }

  static constexpr bool stores_tiles = false;
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool gates) {
    if constexpr (Plain::stores_by_tma) {
      if (params_.view.has_gaps()) {
        buffer.meet();
        const bool in_pieces = params_.by_tma && n % int{sizeof(Piece) / sizeof(Bits)} == 0;
        return in_pieces ? copy<Piece>(buffer, place, n, gates)
                         : copy<Bits>(buffer, place, n, gates);
      }
    }
    Plain::close(buffer, place, m, n, gates);
  }

 private:
  using Bits = ElementBits<bytes_of(Plain::output)>;
  struct alignas(16) Piece {
    std::uint32_t words[4];
  };
  // All threads of the group call it.
  template <class Unit, class Buffer>
  TW_DEVICE void copy(const Buffer& buffer, const TileOrigin& place, int n, bool gates) {
    constexpr unsigned elements = sizeof(Unit) / sizeof(Bits);
    constexpr unsigned units = Plain::chunk_columns / elements;
    TW_ROLL
    for (unsigned i = this->thread_; i < Plain::chunk_rows * units; i += Plain::threads) {
      const unsigned line = i / units, column = i % units * elements;
      const FragmentPlace<2> at =
          params_.view({place.batch, place.row + static_cast<int>(line),
                        place.column + static_cast<int>(column), place.m_end, n});
      if (!at.first_inside() || (gates && column >= Plain::chunk_columns / 2)) continue;
      const Bits* const from = this->elements(buffer).address(line, column);
      Bits* const to = static_cast<Bits*>(params_.d) + at.row * params_.pitch + at.column;
      store_element<Space::Global>(
          reinterpret_cast<Unit*>(to),
          load_element<Space::Shared>(reinterpret_cast<const Unit*>(from)));
    }
  }

  const Params& params_;
};

}  // namespace tw
