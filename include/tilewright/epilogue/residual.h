// sum + C + column bias, then relu or nothing: how a layer of a network ends. C has been
// brought ahead, or is read at once, and pairs of columns are whole, which leaves short code.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/arguments.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/epilogue/formula.h"

namespace tw {

// C has the output's type, two bytes wide, and so has the bias, or it is fp32.
template <ElementType type>
struct ResidualProgram {
  struct State {};
  static constexpr bool unrolled = true;
  static constexpr bool passes_integers = false;
  static constexpr unsigned block_columns = 0;
  const EpilogueArguments& params;

  static TW_HOST_DEVICE bool serves(const EpilogueArguments& params) {
    const auto bits = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    const auto others = bits(params.row_bias) | bits(params.column_scale) | bits(params.row_scale) |
                        bits(params.auxiliary) | bits(params.amax);
    return others == 0 && !params.gated && params.alpha == 1.0f && params.output_scale == 1.0f &&
           params.activation <= Activation::Relu &&
           (params.bias_type == type || params.bias_type == ElementType::Fp32) &&
           bits(params.column_bias) % (2 * bytes_of(params.bias_type)) == 0 &&
           (params.source == nullptr || (params.beta == 1.0f && params.source_type == type));
  }

  // True where C lies so that threads may read pairs of it from global memory. Kernels whose C no
  // role brings ask this.
  static TW_HOST_DEVICE bool reads_pairs(const EpilogueArguments& params) {
    return in_memory(params).in_pairs<type>();
  }

  static constexpr bool gates() { return false; }
  TW_DEVICE FragmentPair begin(FragmentPair sum) const { return sum; }

  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void evaluate(State&, FragmentPair (&values)[pairs], const PlaceOf& place_of,
                          const SourceChunk& source) const {
    // In the layout of matrices, neighbours in the list stand in the same columns.
    constexpr unsigned sharing = PlaceOf::layout == FragmentLayout::Matrix ? 2 : 1;
    // The bits stay unconverted: a conversion waits for them, and C's loads should come first.
    PairBits<2> bias[pairs / sharing];
    const bool is_wide = params.bias_type == ElementType::Fp32;
    if (params.column_bias != nullptr && !is_wide) {
      const auto* const first = static_cast<const std::uint16_t*>(params.column_bias);
      at_columns(place_of, [&](const auto& column_of) {
        TW_UNROLL
        for (unsigned i = 0; i < pairs / sharing; ++i) {
          const auto place = place_of(sharing * i);
          bias[i] = load_element<Space::Global>(
              reinterpret_cast<const PairBits<2>*>(first + column_of(place)),
              place.column < place.n);
        }
      });
    }
    if (params.source != nullptr) {
      const auto add = [&](unsigned i, FragmentPair term) { values[i] = values[i] + term; };
      if constexpr (SourceChunk::is_staged) {
        source.template each_pair<type, pairs>(place_of, add);
      } else {
        PairBits<2> terms[pairs];
        read_pairs(terms, place_of);
        TW_UNROLL
        for (unsigned i = 0; i < pairs; ++i) add(i, values_of<type>(terms[i]));
      }
    }
    if (params.column_bias != nullptr && !is_wide) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        values[i] = values[i] + values_of<type>(bias[i / sharing]);
      }
    } else if (params.column_bias != nullptr) {
      const auto* const first = static_cast<const std::uint32_t*>(params.column_bias);
      at_columns(place_of, [&](const auto& column_of) {
        TW_UNROLL
        for (unsigned i = 0; i < pairs; i += sharing) {
          const auto place = place_of(i);
          const FragmentPair pair =
              read_pair<ElementType::Fp32>(first + column_of(place), place.column < place.n);
          TW_UNROLL
          for (unsigned j = 0; j < sharing; ++j) values[i + j] = values[i + j] + pair;
        }
      });
    }
    activate(values);
  }
  template <unsigned pairs>
  TW_DEVICE void activate(FragmentPair (&values)[pairs]) const {
    if (params.activation != Activation::Relu) return;
    TW_UNROLL
    for (FragmentPair& value : values) {
      value = {formula::Relu{}(value.first), formula::Relu{}(value.second)};
    }
  }
  TW_DEVICE void finish(const State&, unsigned) const {}

 protected:
  // `body` gets the columns to read at: the pairs' own, which leaves reads at fixed distances, or
  // for those outside the last pair's.
  template <class PlaceOf, class Body>
  static TW_DEVICE void at_columns(const PlaceOf& place_of, const Body& body) {
    if (place_of.columns_inside()) {
      body([](const FragmentPlace<2>& place) { return place.column; });
    } else {
      body([](const FragmentPlace<2>& place) {
        return place.column < place.n ? place.column : place.n - 2;
      });
    }
  }
  // All pairs are on their way before the first is wanted.
  template <unsigned pairs, class PlaceOf>
  TW_DEVICE void read_pairs(PairBits<2> (&terms)[pairs], const PlaceOf& place_of) const {
    const GlobalMatrix matrix = in_memory(params);
    at_columns(place_of, [&](const auto& column_of) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        const auto place = place_of(i);
        const auto* const row = matrix.line<std::uint16_t>(place, place.nearest_row());
        terms[i] = load_element<Space::Global>(
            reinterpret_cast<const PairBits<2>*>(row + column_of(place)), place.first_inside());
      }
    });
  }
  static TW_HOST_DEVICE GlobalMatrix in_memory(const EpilogueArguments& params) {
    return {params.source, params.source_pitch, params.source_batch_pitch};
  }
};

}  // namespace tw
