// The epilogue of a convolution whose batch is not one of matrices that lie apart. A group is such
// a matrix, whose columns stand beside those of the other groups: in D, and in whatever the
// epilogue reads at D's columns.
#pragma once

#include "tilewright/epilogue/runtime.h"
#include "tilewright/isa/threads.h"

namespace tw {

// Where a place of a matrix is in the whole output: beside the matrices before it.
struct GroupedColumns {
  TW_DEVICE FragmentPlace<2> operator()(const FragmentPlace<2>& place) const {
    const int first = place.batch * place.n;
    return {0, place.row, first + place.column, place.m_end, first + place.n};
  }
};
// Where it is if the matrices lie below each other.
struct GroupedRows {
  TW_DEVICE FragmentPlace<2> operator()(const FragmentPlace<2>& place) const {
    const int first = place.batch * place.m_end;
    return {0, first + place.row, place.column, first + place.m_end, place.n};
  }
};

// A thread looks for the place of each row once, and keeps it for the row's pairs. The next pair
// has the second row; in waves of 64 lanes, which hold four neighbours each, the pair after it
// does.
template <class View, class PlaceOf>
struct ViewedPlace : PlaceOf {
  static constexpr unsigned rows = PlaceOf::layout == FragmentLayout::Row ? 1 : 2;
  FragmentPlace<2> first[rows];

  TW_DEVICE ViewedPlace(const View& view, const PlaceOf& place_of) : PlaceOf(place_of) {
    TW_UNROLL
    for (unsigned row = 0; row < rows; ++row) first[row] = view(place_of(row * pairs_beside()));
  }
  TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
    const unsigned row = pair / pairs_beside() % rows;
    FragmentPlace<2> place = first[row];
    place.column +=
        PlaceOf::operator()(pair).column - PlaceOf::operator()(row* pairs_beside()).column;
    return place;
  }
  static TW_DEVICE unsigned pairs_beside() { return isa::warp_lanes() / 32; }
  // Which pairs need: a group that begins at an odd column has none.
  TW_DEVICE bool columns_inside() const {
    return PlaceOf::columns_inside() && PlaceOf::operator()(0).n % 2 == 0;
  }
};

// RuntimeEpilogue at the places of the whole output. A group of threads has `rows` of a tile's sums
// for which it reads C from global memory.
template <class View, unsigned rows>
struct GroupedEpilogue : RuntimeEpilogue {
  struct Params : RuntimeEpilogue::Params, View {
    using RuntimeEpilogue::Params::operator=;
  };

  // C comes to the L2 while the sums are made.
  static TW_DEVICE void prepare(const Params& params, const FragmentPlace<2>& first, int columns,
                                unsigned thread) {
    RuntimeEpilogue::prepare(params, params(first), columns, thread);
    if (params.source == nullptr || params.beta == 0.0f || params.gated) return;
    if constexpr (rows > 0) {
      const int bytes = static_cast<int>(bytes_of(params.source_type));
      TW_ROLL
      for (unsigned row = thread; row < rows; row += 128) {
        FragmentPlace<2> place = first;
        place.row += static_cast<int>(row);
        place = params(place);
        if (!place.row_inside()) continue;
        const char* const line = static_cast<const char*>(params.source) +
                                 (place.row * params.source_pitch + place.column) * bytes;
        for (int at = 0; at < columns * bytes; at += 128) isa::prefetch_global(line + at);
      }
    }
  }

  template <class Program>
  struct Viewed : std::remove_reference_t<Program> {
    const View& view;

    template <class State, class Values, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State& state, Values& values, const PlaceOf& place_of,
                            const SourceChunk& source) const {
      std::remove_reference_t<Program>::evaluate(
          state, values, ViewedPlace<View, PlaceOf>{view, place_of}, source);
    }
    template <class Values, class PlaceOf, class SourceChunk>
    TW_DEVICE void first(Values& values, const PlaceOf& place_of, const SourceChunk& source) const {
      std::remove_reference_t<Program>::first(values, ViewedPlace<View, PlaceOf>{view, place_of},
                                              source);
    }
  };
  template <class Program>
  static TW_DEVICE Viewed<Program> seen(const Params& params, const Program& program) {
    return {program, params};
  }
  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    if constexpr (rows > 0 && bytes_of(output) == 2) {
      using Residual = ResidualProgram<output>;
      const bool adds = params.source != nullptr || params.column_bias != nullptr;
      if (adds && whole_pairs && Residual::serves(params) && Residual::reads_pairs(params)) {
        return body(Viewed<Residual>{{params}, params});
      }
    }
    RuntimeEpilogue::choose<Value, output, SourceChunk>(
        params, whole_pairs, [&](const auto& program) {
          body(Viewed<decltype(program)>{program, params});
        });
  }
};

}  // namespace tw
