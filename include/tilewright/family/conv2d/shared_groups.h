// Groups that share a tile. Their B has zeros where a filter and a channel are of different groups,
// and zero times another group's infinity is no number: what comes out as NaN is summed up again,
// from memory and of its own group alone.
#pragma once

#include "tilewright/epilogue/element.h"
#include "tilewright/family/conv2d/groups.h"
#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/io/operand.h"

namespace tw {

// One sum of a forward convolution at a time. Matrices of the batch are of several groups.
struct GroupSums : Im2colAxes<1> {
  OperandView image;
  OperandView filters;
  Divisor group_filters;
  unsigned group_channels = 0;  // 0: no tile is of several groups
  unsigned positions = 0;       // positions of a filter

  template <ElementType type>
  TW_DEVICE float sum(int batch, unsigned row, unsigned column) const {
    using T = ElementBits<bytes_of(type)>;
    const unsigned group = group_filters.divide(column).quotient;
    const T* const first = static_cast<const T*>(image.data) + batch * image.batch_stride +
                           std::int64_t{group} * group_channels;
    const T* filter = static_cast<const T*>(filters.data) + batch * filters.batch_stride +
                      std::int64_t{column} * filters.row_stride;
    float sum = 0;
    TW_ROLL
    for (unsigned position = 0; position < positions; ++position) {
      // Beside the image there are zeros, which a filter's infinity meets, too.
      const std::int64_t at = pixel(row, position, 0);
      const T* const channels = first + at * image.row_stride;
      TW_ROLL
      for (unsigned c = 0; c < group_channels; ++c) {
        sum += (at < 0 ? 0.0f : read_value<type>(channels + c)) * read_value<type>(filter + c);
      }
      filter += group_channels;
    }
    return sum;
  }
};

// GroupedEpilogue of such tiles.
template <ElementType type, unsigned rows>
struct SharedGroupsEpilogue : GroupedEpilogue<GroupedColumns, rows> {
  using Grouped = GroupedEpilogue<GroupedColumns, rows>;
  struct Params : Grouped::Params {
    using Grouped::Params::operator=;
    GroupSums groups;
  };

  template <class Program>
  struct SummedAgain : Program {
    const GroupSums& groups;

    template <unsigned pairs, class State, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State& state, FragmentPair (&values)[pairs], const PlaceOf& place_of,
                            const SourceChunk& source) const {
      bool are_numbers = true;
      TW_UNROLL
      for (const FragmentPair& pair : values) {
        are_numbers = are_numbers && pair.first == pair.first && pair.second == pair.second;
      }
      if (!are_numbers && groups.group_channels != 0) sum_again(values, place_of);
      Program::evaluate(state, values, place_of, source);
    }

   private:
    // Rare, and long: one copy of it serves all values, which registers do not index.
    template <unsigned pairs, class PlaceOf>
    TW_DEVICE void sum_again(FragmentPair (&values)[pairs], const PlaceOf& place_of) const {
      TW_ROLL
      for (unsigned i = 0; i < 2 * pairs; ++i) {
        const FragmentPlace<2> place = place_of(i / 2);
        if (i % 2 == 0 ? !place.first_inside() : !place.second_inside()) continue;
        float value = 0;
        TW_UNROLL
        for (unsigned pair = 0; pair < pairs; ++pair) {
          if (2 * pair == i) value = values[pair].first;
          if (2 * pair + 1 == i) value = values[pair].second;
        }
        if (value == value) continue;
        const float sum =
            groups.template sum<type>(place.batch, static_cast<unsigned>(place.row),
                                      static_cast<unsigned>(place.column) + i % 2);
        value = this->begin({sum, sum}).first;
        TW_UNROLL
        for (unsigned pair = 0; pair < pairs; ++pair) {
          if (2 * pair == i) values[pair].first = value;
          if (2 * pair + 1 == i) values[pair].second = value;
        }
      }
    }
  };
  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    Grouped::template choose<Value, output, SourceChunk>(
        params, whole_pairs, [&](const auto& program) {
          body(SummedAgain<std::remove_cvref_t<decltype(program)>>{program, params.groups});
        });
  }
};

}  // namespace tw
