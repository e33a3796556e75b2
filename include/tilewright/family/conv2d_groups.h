// The epilogue of a convolution in groups. A group is a matrix of a batch, whose columns stand
// beside those of the other groups: in D, and in whatever the epilogue reads at D's columns.
#pragma once

#include "tilewright/epilogue/runtime.h"

namespace tw {

// RuntimeEpilogue at the columns of all groups.
struct GroupedEpilogue {
  using Params = RuntimeEpilogue::Params;
  static TW_DEVICE void prepare(const Params& params, int column, int columns, unsigned thread) {
    RuntimeEpilogue::prepare(params, column, columns, thread);
  }

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    RuntimeEpilogue::choose<Value, output, SourceChunk>(
        params, whole_pairs,
        [&](const auto& program) { body(Shifted<decltype(program)>{program}); });
  }

 private:
  template <class PlaceOf>
  struct ShiftedPlace {
    static constexpr FragmentLayout layout = PlaceOf::layout;
    const PlaceOf& place_of;
    int column;
    unsigned thread;

    TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
      const FragmentPlace<2> place = place_of(pair);
      const int first = place.batch * place.n;
      return {0, place.row, first + place.column, place.m_end, first + place.n};
    }
    // Which pairs need: a group that begins at an odd column has none.
    TW_DEVICE bool columns_inside() const {
      return place_of.columns_inside() && place_of(0).n % 2 == 0;
    }
  };

  template <class Program>
  struct Shifted : std::remove_reference_t<Program> {
    template <class State, class Values, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State& state, Values& values, const PlaceOf& place_of,
                            const SourceChunk& source) const {
      const ShiftedPlace<PlaceOf> shifted = {place_of, place_of.column, place_of.thread};
      std::remove_reference_t<Program>::evaluate(state, values, shifted, source);
    }
  };
};

}  // namespace tw
