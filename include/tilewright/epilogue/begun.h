// Sums that begin at C and the column bias: the tensor core adds the products to them, and behind
// it is relu or nothing. C is read while the first stages are on their way, not behind the last.
#pragma once

#include "tilewright/epilogue/residual.h"

namespace tw {

// Computes the values that sums begin with. Its last step is outside of all branches: ptxas
// serialises wgmma where branches write the tensor core's registers.
template <ElementType type>
struct Beginning : ResidualProgram<type> {
  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void first(FragmentPair (&values)[pairs], const PlaceOf& place_of,
                       const SourceChunk& source) const {
    PairBits<2> terms[pairs] = {};
    if (this->params.source != nullptr) {
      if constexpr (SourceChunk::is_staged) {
        source.template each_word<pairs>(place_of,
                                         [&](unsigned i, std::uint32_t word) { terms[i] = word; });
      } else {
        this->read_pairs(terms, place_of);
      }
    }
    // Neighbours in the list stand in the same columns.
    static_assert(PlaceOf::layout == FragmentLayout::Matrix);
    FragmentPair bias[pairs / 2] = {};
    if (this->params.column_bias != nullptr) {
      this->at_columns(place_of, [&](const auto& column_of) {
        if (this->params.bias_type == ElementType::Fp32) {
          read_bias<ElementType::Fp32>(bias, place_of, column_of);
        } else {
          read_bias<type>(bias, place_of, column_of);
        }
      });
    }
    TW_UNROLL
    for (unsigned i = 0; i < pairs; ++i) values[i] = values_of<type>(terms[i]) + bias[i / 2];
  }

 private:
  template <ElementType bias_type, unsigned count, class PlaceOf, class ColumnOf>
  TW_DEVICE void read_bias(FragmentPair (&bias)[count], const PlaceOf& place_of,
                           const ColumnOf& column_of) const {
    const auto* const vector =
        static_cast<const ElementBits<bytes_of(bias_type)>*>(this->params.column_bias);
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const auto place = place_of(2 * i);
      bias[i] = read_pair<bias_type>(vector + column_of(place), place.column < place.n);
    }
  }
};

// `Seen` is the epilogue that would add C behind the sums: it knows where they stand in the output.
template <class Seen>
struct BegunEpilogue : Seen {
  using Params = typename Seen::Params;
  static constexpr bool begins = true;

  // Nothing is waited for behind the sums, so that nothing is asked for ahead.
  static TW_DEVICE void prepare(const Params&, const FragmentPlace<2>&, int, unsigned) {}

  template <ElementType output>
  static TW_DEVICE auto beginning(const Params& params) {
    return Seen::seen(params, Beginning<output>{{params}});
  }

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool, const Body& body) {
    body(Activated<output>{{params}});
  }

 private:
  template <ElementType output>
  struct Activated : ResidualProgram<output> {
    template <class State, class Values, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State&, Values& values, const PlaceOf&, const SourceChunk&) const {
      this->activate(values);
    }
  };
};

// True where an epilogue lets the sums of a product of n columns begin at C and the bias.
template <ElementType type>
bool begins_sums(const EpilogueArguments& params, std::int64_t n) {
  using Residual = ResidualProgram<type>;
  if (!Residual::serves(params)) return false;
  if (params.source == nullptr && params.column_bias == nullptr) return true;
  return n % 2 == 0 && (params.source == nullptr || Residual::reads_pairs(params));
}

}  // namespace tw
