// An epilogue whose output is quantised block by block of its columns: e4m3, and a scale for each
// block of a row, so that the output can be the operand of a product with scales.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/tree.h"
#include "tilewright/pipeline/maximum.h"

namespace tw {

// `Of` is the epilogue that makes the values: a Tree or RuntimeEpilogue. `ScalesType` says which
// scales there are, and where they go:
//   columns                 of a block
//   of(amax)                the scale of a block, as it is stored
//   inverse(scale)          what values are multiplied with
//   at(batch, row, block)   where it is stored
template <class Of, class ScalesType>
class Quantised : public UsualEpilogue {
 public:
  using Scales = ScalesType;
  struct Params : Of::Params {
    using Of::Params::operator=;
    Scales scales;
  };

  static TW_DEVICE void prepare(const Params& params, const FragmentPlace<2>& first, int columns,
                                unsigned thread) {
    Of::prepare(params, first, columns, thread);
  }

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    static_assert(output == ElementType::E4m3, "Outputs that are quantised by blocks are e4m3.");
    const auto quantise = [&](const auto& program) {
      body(Quantising<std::remove_cvref_t<decltype(program)>>{program, params.scales});
    };
    Of::template choose<Value, output, SourceChunk>(params, whole_pairs, quantise);
  }

 private:
  template <class Program>
  struct Quantising : Program {
    static_assert(!Program::passes_integers);
    // The fragment loop brings whole blocks: a value is scaled when all of its block are known.
    static constexpr unsigned block_columns = Scales::columns;
    const Scales& scales;

    template <unsigned pairs, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(typename Program::State& state, FragmentPair (&values)[pairs],
                            const PlaceOf& place_of, const SourceChunk& source) const {
      Program::evaluate(state, values, place_of, source);
      // Values outside of the matrix are anything, and must not be the largest.
      node::Largest largest[2];
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        const FragmentPlace<2> place = place_of(i);
        node::Largest& row = largest[row_of<PlaceOf>(i)];
        row.see(values[i].first, place.column < place.n);
        row.see(values[i].second, place.column + 1 < place.n);
      }
      if constexpr (PlaceOf::layout == FragmentLayout::Row) {
        const auto scale = scale_of(largest[0].bits);
        store(scale, place_of(0));
        multiply<PlaceOf>(values, Scales::inverse(scale), Scales::inverse(scale));
      } else if constexpr (in_waves<PlaceOf>) {
        // Lanes 16 apart share two rows, of which each lane has pairs by twos.
        float inverse[2];
        TW_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
          std::uint32_t amax = largest[row].bits;
          TW_UNROLL
          for (unsigned step = 16; step < 64; step *= 2) {
            amax = Larger::of(amax, isa::shuffle(amax, (place_of.thread ^ step) % 64));
          }
          const auto scale = scale_of(amax);
          if (place_of.thread % 64 < 16) store(scale, place_of(2 * row));
          inverse[row] = Scales::inverse(scale);
        }
        multiply<PlaceOf>(values, inverse[0], inverse[1]);
      } else {
        // Four lanes share two rows: even pairs are of the first one. A lane makes the scale of
        // one.
        std::uint32_t amax[2] = {largest[0].bits, largest[1].bits};
        const unsigned lane = place_of.thread % 32, mine = lane % 2;
        const auto scale = scale_of(maximum_of_lanes<4>(amax, lane));
        if (lane % 4 < 2) store(scale, place_of(mine));
        const auto inverse = std::bit_cast<std::uint32_t>(Scales::inverse(scale));
        multiply<PlaceOf>(values, std::bit_cast<float>(isa::shuffle(inverse, lane - mine)),
                          std::bit_cast<float>(isa::shuffle(inverse, lane - mine + 1)));
      }
    }

   private:
    TW_DEVICE auto scale_of(std::uint32_t amax) const {
      return scales.of(std::bit_cast<float>(amax));
    }
    template <class PlaceOf>
    static constexpr bool in_waves = requires {
      requires PlaceOf::OfSums::lanes == 64;
    };
    // Which of a thread's rows its pair is of.
    template <class PlaceOf>
    static constexpr unsigned row_of(unsigned pair) {
      if (PlaceOf::layout == FragmentLayout::Row) return 0;
      return in_waves<PlaceOf> ? pair / 2 % 2 : pair % 2;
    }
    template <class PlaceOf, unsigned pairs>
    static TW_DEVICE void multiply(FragmentPair (&values)[pairs], float first, float second) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        values[i] = values[i] * (row_of<PlaceOf>(i) == 0 ? first : second);
      }
    }
    template <class Scale>
    TW_DEVICE void store(Scale scale, const FragmentPlace<2>& place) const {
      const int block = place.column / static_cast<int>(block_columns);
      if (!place.row_inside() || block * static_cast<int>(block_columns) >= place.n) return;
      store_element<Space::Global>(scales.at(place.batch, place.row, block), scale);
    }
  };
};

}  // namespace tw
