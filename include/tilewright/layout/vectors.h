// Which elements make a vector, and when it may be moved at once.
#pragma once

#include "tilewright/layout/cut.h"
#include "tilewright/layout/element.h"
#include "tilewright/layout/facts.h"
#include "tilewright/layout/recast.h"

namespace tw {

namespace detail {

struct VectorShape {
  int mode;
  std::int64_t count;
};

// vector_shape(1, 8): vectors of 8 along mode 1.
template <class... Counts>
constexpr VectorShape vector_shape(Counts... counts) {
  VectorShape shape{0, 1};
  int mode_index = 0;
  bool is_line = true;
  auto note = [&](std::int64_t count) {
    is_line &= count == 1 || shape.count == 1;
    if (count != 1) shape = VectorShape{mode_index, count};
    ++mode_index;
  };
  (note(counts), ...);
  require(is_line, "vectorize: a vector goes along one mode only");
  return shape;
}

// Every `count`-th index of one mode; vectors of `count` begin there.
constexpr Layout strided_mode(const Layout& layout, int index, std::int64_t count) {
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    Layout child = mode(layout, i);
    if (i == index) {
      bool divides = is_dynamic(layout, i) || size(child) % count == 0;
      require(divides, "vectorize: the vectors do not divide the tensor");
      std::int64_t vectors = is_dynamic(layout, i) ? dyn : size(child) / count;
      child = composition(child, single(vectors, count));
    }
    push_mode(result, child);
  }
  return result;
}

// Whether `count` neighbours in one mode are neighbours in memory.
constexpr bool is_adjacent(const Layout& layout, int index, std::int64_t count) {
  Layout child = without_swizzle(mode(layout, index));
  return coalesce(composition(child, single(count, 1))) == coalesce(single(count, 1));
}

// The layout of vectors, if the facts say that they can be loaded.
constexpr Layout vector_layout(const Layout& layout, int bits, Facts facts, VectorShape shape) {
  std::int64_t bytes = shape.count * bits / 8;
  bool is_whole = shape.count * bits % 8 == 0;
  require(is_whole, "vectorize: a vector must fill whole bytes");
  std::int64_t alignment =
      static_cast<std::int64_t>(vector_alignment(static_cast<std::size_t>(bytes)));
  bool has_neighbours = is_adjacent(layout, shape.mode, shape.count);
  require(has_neighbours, "vectorize: the elements of a vector are not neighbours in memory");
  bool is_aligned = facts.base_align > 0 && facts.base_align % alignment == 0;
  require(is_aligned, "vectorize: facts.base_align is no multiple of the vector");
  bool keeps_pitch =
      max_axis(layout) == 0 || (facts.pitch_multiple > 0 && facts.pitch_multiple % alignment == 0);
  require(keeps_pitch, "vectorize: facts.pitch_multiple is no multiple of the vector");
  bool keeps_extent = !is_dynamic(layout, shape.mode) ||
                      (facts.extent_multiple > 0 && facts.extent_multiple % shape.count == 0);
  require(keeps_extent, "vectorize: facts.extent_multiple does not cover the vector");
  return upcast(strided_mode(layout, shape.mode, shape.count), shape.count);
}

}  // namespace detail

}  // namespace tw
