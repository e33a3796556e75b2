// sum + C + column bias, then relu or nothing: how a layer of a network ends. C has been brought
// ahead and all columns are inside, which leaves short code without reads that wait.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/arguments.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/epilogue/formula.h"

namespace tw {

// C and the bias have the output's type, two bytes wide.
template <ElementType type>
struct ResidualProgram {
  struct State {};
  static constexpr bool unrolled = true;
  static constexpr bool passes_integers = false;
  const EpilogueArguments& params;

  static TW_DEVICE bool serves(const EpilogueArguments& params) {
    const auto bits = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    const auto others = bits(params.row_bias) | bits(params.column_scale) | bits(params.row_scale) |
                        bits(params.auxiliary) | bits(params.amax);
    return others == 0 && !params.gated && params.alpha == 1.0f && params.output_scale == 1.0f &&
           params.activation <= Activation::Relu && params.bias_type == type &&
           bits(params.column_bias) % 4 == 0 &&
           (params.source == nullptr || (params.beta == 1.0f && params.source_type == type));
  }

  static constexpr bool gates() { return false; }
  TW_DEVICE FragmentPair begin(FragmentPair sum) const { return sum; }

  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void evaluate(State&, FragmentPair (&values)[pairs], const PlaceOf& place_of,
                          const SourceChunk& source) const {
    // In the layout of matrices, neighbours in the list stand in the same columns.
    constexpr unsigned sharing = PlaceOf::layout == FragmentLayout::Matrix ? 2 : 1;
    // As they are in memory: who converts them waits for them, and should do so behind C.
    PairBits<2> bias[pairs / sharing];
    if (params.column_bias != nullptr) {
      const auto* const first = static_cast<const std::uint16_t*>(params.column_bias);
      TW_UNROLL
      for (unsigned i = 0; i < pairs / sharing; ++i) {
        bias[i] = load_element<Space::Global>(
            reinterpret_cast<const PairBits<2>*>(first + place_of(sharing * i).column));
      }
    }
    if (params.source != nullptr) {
      source.template each_pair<type, pairs>(
          place_of, [&](unsigned i, FragmentPair term) { values[i] = values[i] + term; });
    }
    if (params.column_bias != nullptr) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        values[i] = values[i] + values_of<type>(bias[i / sharing]);
      }
    }
    if (params.activation == Activation::Relu) {
      TW_UNROLL
      for (FragmentPair& value : values) {
        value = {formula::Relu{}(value.first), formula::Relu{}(value.second)};
      }
    }
  }
  TW_DEVICE void finish(const State&, unsigned) const {}
};

}  // namespace tw
