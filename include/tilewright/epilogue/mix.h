// Any mix of the parts of EpilogueArguments, of which branches at run time take those that are
// there.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/arguments.h"
#include "tilewright/epilogue/tree.h"

namespace tw {

// Step by step over all pairs: each branch is taken once per group, not once per value, and the
// reads of a step are on their way together.
struct EpilogueMix {
  using Params = EpilogueArguments;
  using State = node::Largest;
  // One copy of this code serves all groups of a tile.
  static constexpr bool unrolled = false;
  static constexpr bool passes_integers = false;
  static constexpr unsigned block_columns = 0;
  const Params& params;

  TW_DEVICE bool gates() const { return params.gated; }
  TW_DEVICE FragmentPair begin(FragmentPair sum) const { return sum * params.alpha; }

  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void evaluate(State& largest, FragmentPair (&values)[pairs], const PlaceOf& place_of,
                          const SourceChunk& source) const {
    scale(values, place_of, source);
    if (!params.gated) add_source<2>(values, place_of, source);
    add_biases(values, place_of, source);
    if (params.auxiliary != nullptr) store_auxiliary(values, place_of);
    if constexpr (PlaceOf::transposed) {
      if (params.gated) return evaluate_joined(largest, values, place_of, source);
    }
    activate(values);
    if (params.gated) {
      each(values, [&](unsigned i) { values[i].first *= values[i].second; });
      add_source<1>(values, place_of, source);
    }
    if (params.amax != nullptr) {
      // A gated value is inside exactly if the first of its pair was: n is even.
      each(values, [&](unsigned i) { largest.see(values[i].first, place_of(i).first_inside()); });
      if (!params.gated) {
        each(values,
             [&](unsigned i) { largest.see(values[i].second, place_of(i).second_inside()); });
      }
    }
    each(values, [&](unsigned i) { values[i] = values[i] * params.output_scale; });
  }
  TW_DEVICE void finish(const State& largest, unsigned lane) const {
    if (params.amax != nullptr) largest.finish(params.amax, lane);
  }

 private:
  // The steps behind a gate where the sums' rows are the output's columns: what it joins lies in
  // two lanes, and the one with the even row keeps the result.
  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void evaluate_joined(State& largest, FragmentPair (&values)[pairs],
                                 const PlaceOf& place_of, const SourceChunk& source) const {
    const unsigned lane = place_of.thread % 32;
    // Lanes from one row of sums to the next: a matrix has four lanes in a row.
    constexpr unsigned row_lanes = PlaceOf::layout == FragmentLayout::Matrix ? 4 : 1;
    const auto of_next_row = [lane](float value) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
      return std::bit_cast<float>(isa::shuffle(bits, lane ^ row_lanes));
    };
    const auto join = [&](const auto& formula) {
      each(values, [&](unsigned i) {
        const FragmentPair factor = {of_next_row(values[i].first), of_next_row(values[i].second)};
        values[i] = FragmentPair{formula(values[i].first), formula(values[i].second)} * factor;
      });
    };
    with_activation(join, [&] { join(formula::Identity{}); });
    const JoinedRows<PlaceOf> joined = {place_of};
    add_source<2>(values, joined, source);
    if (params.amax != nullptr) {
      const bool keeps = lane / row_lanes % 2 == 0;
      each(values, [&](unsigned i) {
        largest.see(values[i].first, keeps && joined(i).first_inside());
        largest.see(values[i].second, keeps && joined(i).second_inside());
      });
    }
    each(values, [&](unsigned i) { values[i] = values[i] * params.output_scale; });
  }

  template <unsigned pairs, class Body>
  static TW_DEVICE void each(const FragmentPair (&)[pairs], const Body& body) {
    TW_UNROLL
    for (unsigned i = 0; i < pairs; ++i) body(i);
  }

  template <class Leaf, class Place, class SourceChunk>
  static TW_DEVICE FragmentPair read(const void* vector, const Place& place,
                                     const SourceChunk& source) {
    typename Leaf::State none;
    const Fragment<Place::width, SourceChunk> fragment = {{}, place, source};
    return Leaf::apply({vector}, none, fragment);
  }

  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void scale(FragmentPair (&values)[pairs], const PlaceOf& place_of,
                       const SourceChunk& source) const {
    if (params.row_scale != nullptr) {
      each(values, [&](unsigned i) {
        values[i] = values[i] * read<node::RowScale>(params.row_scale, place_of(i), source);
      });
    }
    if (params.column_scale != nullptr) {
      each_of_columns<ElementType::Fp32>(
          values, params.column_scale, place_of, source,
          [&](unsigned i, FragmentPair pair) { values[i] = values[i] * pair; });
    }
  }

  // What `vector` holds for each pair: read at once where all columns are inside and pairs are
  // aligned, which leaves a few reads at fixed distances.
  template <ElementType type, unsigned pairs, class PlaceOf, class SourceChunk, class Body>
  static TW_DEVICE void each_of_columns(const FragmentPair (&values)[pairs], const void* vector,
                                        const PlaceOf& place_of, const SourceChunk& source,
                                        const Body& body) {
    const auto* const first = static_cast<const ElementBits<bytes_of(type)>*>(vector);
    // Rows of the output may begin anywhere: where these are columns, so may pairs.
    if (!PlaceOf::transposed &&
        reinterpret_cast<std::uintptr_t>(vector) % (2 * bytes_of(type)) == 0 &&
        place_of.columns_inside()) {
      each(values, [&](unsigned i) { body(i, read_pair<type>(first + place_of(i).column, true)); });
    } else {
      each(values, [&](unsigned i) {
        body(i, read<node::ColumnVector<type>>(vector, place_of(i), source));
      });
    }
  }

  template <unsigned width, unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void add_source(FragmentPair (&values)[pairs], const PlaceOf& place_of,
                            const SourceChunk& source) const {
    if (params.source == nullptr || params.beta == 0.0f) return;
    const MatrixAt<PlaceOf> matrix = {params.source, params.source_pitch,
                                      params.source_batch_pitch};
    with_float_type(params.source_type, [&](auto type) {
      const auto add = [&](bool whole) {
        each(values, [&](unsigned i) {
          const auto place = [&] {
            if constexpr (width == 1) return gated(place_of(i));
            if constexpr (width == 2) return place_of(i);
          }();
          const Fragment<width, SourceChunk> fragment = {{}, place, source};
          const FragmentPair term = node::Source<type()>::read(matrix, fragment, whole);
          // Fused by name: the same bits, whatever a compiler would choose.
          values[i].first = std::fma(term.first, params.beta, values[i].first);
          if constexpr (width == 2) {
            values[i].second = std::fma(term.second, params.beta, values[i].second);
          }
        });
      };
      if constexpr (width == 1) {
        add(false);
      } else if (source.template in_pairs<type()>(matrix) && place_of.columns_inside()) {
        add(true);
      } else {
        add(false);
      }
    });
  }

  template <unsigned pairs, class PlaceOf, class SourceChunk>
  TW_DEVICE void add_biases(FragmentPair (&values)[pairs], const PlaceOf& place_of,
                            const SourceChunk& source) const {
    if (params.column_bias != nullptr) {
      with_float_type(params.bias_type, [&](auto type) {
        each_of_columns<type()>(
            values, params.column_bias, place_of, source,
            [&](unsigned i, FragmentPair pair) { values[i] = values[i] + pair; });
      });
    }
    if (params.row_bias != nullptr) {
      with_float_type(params.bias_type, [&](auto type) {
        each(values, [&](unsigned i) {
          values[i] = values[i] + read<node::RowBias<type()>>(params.row_bias, place_of(i), source);
        });
      });
    }
  }

  template <unsigned pairs, class PlaceOf>
  TW_DEVICE void store_auxiliary(const FragmentPair (&values)[pairs],
                                 const PlaceOf& place_of) const {
    const MatrixAt<PlaceOf> matrix = {params.auxiliary, params.auxiliary_pitch,
                                      params.auxiliary_batch_pitch};
    with_float_type(params.auxiliary_type, [&](auto type) {
      const auto write = [&](bool whole) {
        each(values,
             [&](unsigned i) { write_pair<type()>(matrix, place_of(i), values[i], whole); });
      };
      if (matrix.template in_pairs<type()>() && place_of.columns_inside()) {
        write(true);
      } else {
        write(false);
      }
    });
  }

  // With a gate, only the even columns are activated.
  template <unsigned pairs>
  TW_DEVICE void activate(FragmentPair (&values)[pairs]) const {
    const auto with = [&](const auto& formula) {
      each(values, [&](unsigned i) { values[i].first = formula(values[i].first); });
      if (params.gated) return;
      each(values, [&](unsigned i) { values[i].second = formula(values[i].second); });
    };
    with_activation(with, [] {});
  }
  template <class Body, class Otherwise>
  TW_DEVICE void with_activation(const Body& body, const Otherwise& otherwise) const {
    switch (params.activation) {
      case Activation::None: otherwise(); break;
      case Activation::Relu: body(formula::Relu{}); break;
      case Activation::Gelu: body(formula::Gelu{}); break;
      case Activation::Silu: body(formula::Silu{}); break;
      case Activation::Tanh: body(formula::Tanh{}); break;
      case Activation::Clamp: body(formula::Clamp{params.clamp_low, params.clamp_high}); break;
    }
  }
};

}  // namespace tw
