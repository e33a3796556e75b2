// The leaves of an epilogue's tree: what a value is made of. A node has
//   Params   an aggregate, with the Params of the nodes under it
//   State    what a thread keeps while it works on a tile
//   gates    whether the tree holds a Gate; above one there are half as many columns
//   apply(params, state, fragment)   the pair at fragment.place
//   finish(params, state, lane)      after the last value of a tile, by whole warps
//   once     whether the node must see each element once. Tiles at an edge otherwise reach back
//            over elements of the ones before, which are then computed and stored twice: maxima
//            survive that, sums do not.
#pragma once

#include "tilewright/epilogue/element.h"

namespace tw::node {

struct Leaf {
  struct State {};
  static constexpr bool gates = false;
  static constexpr bool once = false;
  template <class Params>
  static TW_DEVICE void finish(const Params&, const State&, unsigned) {}
};

// The sum of products.
struct Sum : Leaf {
  struct Params {};
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params&, State&, const Fragment& fragment) {
    static_assert(Fragment::width == 2, "Above a Gate there are no sums left.");
    return fragment.sum;
  }
};

// n values, the same for every row of every matrix.
template <ElementType type>
struct ColumnVector : Leaf {
  struct Params {
    const void* values;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State&, const Fragment& fragment) {
    const auto* const values = static_cast<const ElementBits<bytes_of(type)>*>(params.values);
    const auto& place = fragment.place;
    return {read_value<type>(values + place.nearest_column(0)),
            Fragment::width == 2 ? read_value<type>(values + place.nearest_column(1)) : 0.0f};
  }
};

// m values, the same for every column.
template <ElementType type>
struct RowVector : Leaf {
  struct Params {
    const void* values;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State&, const Fragment& fragment) {
    const auto* const values = static_cast<const ElementBits<bytes_of(type)>*>(params.values);
    const float value = read_value<type>(values + fragment.place.nearest_row());
    return {value, value};
  }
};

template <ElementType type>
using ColumnBias = ColumnVector<type>;
template <ElementType type>
using RowBias = RowVector<type>;
using ColumnScale = ColumnVector<ElementType::Fp32>;
using RowScale = RowVector<ElementType::Fp32>;

// C, or a residual: as many columns as the output has.
template <ElementType type>
struct Source : Leaf {
  using Params = GlobalMatrix;

  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State&, const Fragment& fragment) {
    const bool in_pairs = fragment.source.template in_pairs<type>(params);
    return read(params, fragment, in_pairs && fragment.place.column + 1 < fragment.place.n);
  }
  template <class Matrix, class Fragment>
  static TW_DEVICE FragmentPair read(const Matrix& matrix, const Fragment& fragment, bool whole) {
    const auto& place = fragment.place;
    const auto& source = fragment.source;
    if constexpr (Fragment::width == 1) {
      return {source.template value<type>(matrix, place, 0), 0.0f};
    } else {
      if constexpr (std::is_same_v<Matrix, GlobalMatrix>) {
        if (whole) return source.template pair<type>(matrix, place);
      }
      return {source.template value<type>(matrix, place, 0),
              source.template value<type>(matrix, place, 1)};
    }
  }
};

}  // namespace tw::node
