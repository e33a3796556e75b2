// An epilogue of sums whose blocks of 128 columns are gate and up in turns: activation(gate) * up,
// quantised with a scale for each block of the output's row. Gate and up of an output lie 128
// columns apart, in one thread, and each block has its own scale of B.
#pragma once

#include "tilewright/epilogue/formula.h"
#include "tilewright/epilogue/quantised.h"
#include "tilewright/epilogue/runtime.h"

namespace tw {

// Where the outputs of a thread stand, of which sums have twice as many columns. A group begins
// with a gate's block.
template <class PlaceOf, unsigned block>
struct JoinedPlaces {
  using OfSums = typename PlaceOf::OfSums;
  static constexpr FragmentLayout layout = PlaceOf::layout;
  static constexpr bool transposed = PlaceOf::transposed;
  const PlaceOf& place_of;
  unsigned thread;

  TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
    const FragmentPlace<2> place = place_of(pair);
    const int before = place.column / int{2 * block} * int{block};
    return {place.batch, place.row, place.column - before, place.m_end, place.n / 2};
  }
};

template <class ScalesType>
class GatedBlocks : public Quantised<PlainEpilogue, ScalesType> {
  using Base = Quantised<PlainEpilogue, ScalesType>;

 public:
  using Params = typename Base::Params;

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    const auto joining = [&](const auto& quantising) {
      using Quantising = std::remove_cvref_t<decltype(quantising)>;
      switch (params.activation) {
        case Activation::Silu: return body(Joining<Quantising, formula::Silu>{quantising});
        case Activation::Relu: return body(Joining<Quantising, formula::Relu>{quantising});
        default: return body(Joining<Quantising, formula::Identity>{quantising});
      }
    };
    Base::template choose<Value, output, SourceChunk>(params, whole_pairs, joining);
  }

 private:
  template <class Quantising, class Formula>
  struct Joining : Quantising {
    static constexpr unsigned block = Quantising::block_columns;
    static constexpr unsigned block_columns = 2 * block;
    static constexpr bool gates() { return true; }

    // Values of the second half are of no use behind it.
    template <unsigned pairs, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(typename Quantising::State& state, FragmentPair (&values)[pairs],
                            const PlaceOf& place_of, const SourceChunk& source) const {
      static_assert(PlaceOf::layout == FragmentLayout::Matrix && !PlaceOf::transposed,
                    "Gate and up must be in one thread.");
      FragmentPair joined[pairs / 2];
      TW_UNROLL
      for (unsigned i = 0; i < pairs / 2; ++i) {
        const FragmentPair gate = values[i];
        joined[i] =
            FragmentPair{Formula{}(gate.first), Formula{}(gate.second)} * values[pairs / 2 + i];
      }
      const JoinedPlaces<PlaceOf, block> places = {place_of, place_of.thread};
      Quantising::evaluate(state, joined, places, source);
      TW_UNROLL
      for (unsigned i = 0; i < pairs / 2; ++i) values[i] = joined[i];
    }
  };
};

// Stores what such an epilogue leaves in the first half of a chunk's values: a chunk of sums has
// two lines of the output's length.
template <class Of>
class JoinedStore : public Of {
 public:
  using Of::Of;
  static constexpr unsigned chunk_columns = 2 * Of::chunk_columns;
  static constexpr unsigned gated_elements = Of::line_elements;

  template <FragmentSums Sums, class Buffer, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const Buffer& buffer, const Pair (&values)[pairs], unsigned column, bool,
                       const PlaceOf& place_of) {
    Pair joined[pairs / 2];
    TW_UNROLL
    for (unsigned i = 0; i < pairs / 2; ++i) joined[i] = values[i];
    Of::template write<Sums>(buffer, joined, column / 2, false, place_of);
  }
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool) {
    Of::close(buffer, place, m, n, false);
  }
};

}  // namespace tw
