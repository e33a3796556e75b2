// An epilogue whose output is quantised as MXFP8: e4m3, and a ue8m0 scale for each 32 columns of a
// row (number/mx.h), in blocks as the tensor core takes them, so that the output is the A of the
// next product with block scales.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/tree.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/scale_blocks.h"
#include "tilewright/pipeline/maximum.h"

namespace tw {

// `Of` is the epilogue that makes the values: a Tree or RuntimeEpilogue.
template <class Of>
class MxQuantised {
 public:
  struct Scales {
    std::uint8_t* data;
    ScaleExtent extent;  // of one matrix of the batch
  };
  struct Params : Of::Params {
    using Of::Params::operator=;
    Scales scales;
  };

  static TW_DEVICE void prepare(const Params& params, int column, int columns, unsigned thread) {
    Of::prepare(params, column, columns, thread);
  }

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    static_assert(output == ElementType::E4m3, "Outputs that are quantised as MXFP8 are e4m3.");
    const auto quantise = [&](const auto& program) {
      body(Quantising<std::remove_cvref_t<decltype(program)>>{program, params.scales});
    };
    Of::template choose<Value, output, SourceChunk>(params, whole_pairs, quantise);
  }

 private:
  template <class Program>
  struct Quantising : Program {
    static_assert(!Program::passes_integers);
    // The fragment loop brings whole chunks, which are four blocks.
    static constexpr unsigned block_columns = 128;
    static constexpr unsigned blocks = block_columns / mx_block;
    const Scales& scales;

    template <unsigned pairs, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(typename Program::State& state, FragmentPair (&values)[pairs],
                            const PlaceOf& place_of, const SourceChunk& source) const {
      Program::evaluate(state, values, place_of, source);
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        quantise<pairs / blocks>(values + block * (pairs / blocks), block * (pairs / blocks),
                                 place_of);
      }
    }

   private:
    // One block: `pairs` of a thread from its pair `first` on.
    template <unsigned pairs, class PlaceOf>
    TW_DEVICE void quantise(FragmentPair* values, unsigned first, const PlaceOf& place_of) const {
      // Values outside of the matrix are anything, and must not be the largest.
      node::Largest largest[2];
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        const FragmentPlace<2> place = place_of(first + i);
        node::Largest& row = largest[PlaceOf::layout == FragmentLayout::Row ? 0 : i % 2];
        row.see(values[i].first, place.column < place.n);
        row.see(values[i].second, place.column + 1 < place.n);
      }
      if constexpr (PlaceOf::layout == FragmentLayout::Row) {
        const float inverse = store(largest[0].bits, place_of(first), true);
        multiply<pairs>(values, inverse, inverse);
      } else {
        // Four lanes share two rows: even pairs are of the first one. A lane makes the scale of
        // one.
        std::uint32_t amax[2] = {largest[0].bits, largest[1].bits};
        const unsigned lane = place_of.thread % 32, mine = lane % 2;
        const auto inverse = std::bit_cast<std::uint32_t>(
            store(maximum_of_lanes<4>(amax, lane), place_of(first + mine), lane % 4 < 2));
        multiply<pairs>(values, std::bit_cast<float>(isa::shuffle(inverse, lane - mine)),
                        std::bit_cast<float>(isa::shuffle(inverse, lane - mine + 1)));
      }
    }
    template <unsigned pairs>
    static TW_DEVICE void multiply(FragmentPair* values, float even, float odd) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) values[i] = values[i] * (i % 2 == 0 ? even : odd);
    }
    // The scale of the block in which `place` stands, by the threads that store it. Returns what
    // values are multiplied with.
    TW_DEVICE float store(std::uint32_t amax, const FragmentPlace<2>& place, bool stores) const {
      const Ue8m0 scale = mx_block_scale<E4m3>(std::bit_cast<float>(amax), MxScale::rceil);
      const int block = place.column / static_cast<int>(mx_block);
      if (stores && place.row_inside() && block * static_cast<int>(mx_block) < place.n) {
        store_element<Space::Global>(scales.data + place.batch * scales.extent.bytes() +
                                         scales.extent.place(place.row, block),
                                     scale.bits);
      }
      return static_cast<float>(scale.inverse());
    }
  };
};

}  // namespace tw
