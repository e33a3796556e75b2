// How layouts are cut into slices, tiles and the parts of threads. Tensors in memory and
// tensors of coordinates are cut by the same functions, so that one tells where the other lies.
#pragma once

#include "tilewright/layout/divide.h"
#include "tilewright/layout/indexing.h"
#include "tilewright/layout/inverse.h"

namespace tw {

namespace detail {

// Dynamic extents among the leaves before `last`.
constexpr int dynamic_extents(const Layout& layout, int last) {
  int count = 0;
  for (int i = 0; i < last; ++i) count += layout.extents[i] == dyn;
  return count;
}
constexpr int dynamic_extents(const Layout& layout) {
  return dynamic_extents(layout, layout.leaves);
}

constexpr bool is_dynamic(const Layout& layout, int index) {
  return layout.extents[leaves_of_mode(layout, index).last - 1] == dyn;
}

constexpr unsigned static_size(const Layout& layout, LeafRange range) {
  std::int64_t product = 1;
  for (int i = range.first; i < range.last; ++i) {
    product = checked_product(product, layout.extents[i]);
  }
  require(product < std::int64_t{1} << 32, "tensor: a mode has at most 2^32 - 1 indices");
  return static_cast<unsigned>(product);
}

// The modes whose bit is set in `mask`.
constexpr Layout kept_modes(const Layout& layout, unsigned mask) {
  require(mask != 0, "slice: keep at least one mode whole");
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    if ((mask >> i & 1) != 0) push_mode(result, mode(layout, i));
  }
  return result;
}

// Which of the dynamic extents is the `number`-th that a slice keeps.
constexpr int kept_extent(const Layout& layout, unsigned mask, int number) {
  for (int i = 0; i < rank(layout); ++i) {
    if ((mask >> i & 1) == 0 || !is_dynamic(layout, i)) continue;
    if (number-- == 0) return dynamic_extents(layout, leaves_of_mode(layout, i).last - 1);
  }
  return 0;
}

template <class... Selection>
constexpr unsigned whole_mask() {
  unsigned mask = 0;
  unsigned bit = 1;
  ((mask |= std::is_same_v<Selection, Whole> ? bit : 0, bit <<= 1), ...);
  return mask;
}

// (tile 0, tile 1, ..., rest 0, rest 1, ...). A static extent must divide, because what lies
// outside of it belongs to somebody else. A dynamic one leaves a ragged last tile, to be
// predicated.
constexpr Layout tiled_modes(const Layout& layout, const Tiler& tiler) {
  require(tiler.rank == rank(layout), "tile: give one extent for each mode");
  for (int i = 0; i < rank(layout); ++i) {
    Layout whole_mode = mode(layout, i);
    if (is_dynamic(layout, i)) {
      require(whole_mode.leaves == 1, "tile: a dynamic mode must be a single leaf");
    } else {
      bool divides = size(whole_mode) % size(tiler[i]) == 0;
      require(divides, "tile: the tile does not divide the tensor");
    }
  }
  return flat_divide(layout, tiler);
}

// The size of the tile in the mode of the `number`-th dynamic extent.
constexpr unsigned dynamic_divisor(const Layout& layout, const Tiler& tiler, int number) {
  for (int i = 0; i < rank(layout); ++i) {
    if (is_dynamic(layout, i) && number-- == 0) return static_cast<unsigned>(size(tiler[i]));
  }
  return 1;
}

// One tile per mode, as large as the modes of `shape`.
constexpr Tiler tiler_like(const Layout& shape) {
  require(rank(shape) <= 4, "tiler: it has 1 to 4 modes");
  auto tile = [&](int i) { return i < rank(shape) ? as_tile(size(mode(shape, i))) : Layout{}; };
  return Tiler{tile(0), tile(1), tile(2), tile(3), rank(shape)};
}

// The number of threads from 0 on that a thread layout names, each once.
constexpr Layout numbered_threads(const Layout& threads) {
  bool is_complete = size(right_inverse(threads)) == size(threads);
  require(is_complete, "distribute: the thread layout must number its threads from 0, each once");
  return threads;
}

template <std::int64_t extent, std::int64_t stride, bool is_top, std::int64_t step>
constexpr unsigned thread_digit(unsigned thread) {
  if constexpr (extent == 1) {
    return 0;
  } else {
    unsigned digit = thread / static_cast<unsigned>(stride);
    // Nothing lies above the digit of the largest stride.
    if constexpr (!is_top) digit %= static_cast<unsigned>(extent);
    return digit * static_cast<unsigned>(step);
  }
}

template <Layout threads, Layout steps, int first, int... leaves>
constexpr unsigned thread_digits(unsigned thread, std::integer_sequence<int, leaves...>) {
  return (thread_digit<threads.extents[first + leaves], threads.strides[first + leaves],
                       threads.extents[first + leaves] * threads.strides[first + leaves] ==
                           size(threads),
                       steps.strides[leaves]>(thread) +
          ...);
}

// The index of a thread in one mode of its layout.
template <Layout threads, int index>
constexpr unsigned thread_index(unsigned thread) {
  constexpr LeafRange range = leaves_of_mode(threads, index);
  return thread_digits<threads, index_steps(mode(threads, index)), range.first>(
      thread, std::make_integer_sequence<int, range.last - range.first>());
}

// The layout of coordinates under `layout`: mode i counts on axis i + 1.
constexpr Layout coordinates_of(const Layout& layout) {
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    LeafRange range = leaves_of_mode(layout, i);
    std::int64_t step = 1;
    for (int j = range.first; j < range.last; ++j) {
      result.push(Leaf{layout.extents[j], step, i + 1}, layout.comma_before(j));
      if (layout.extents[j] != dyn) step = checked_product(step, layout.extents[j]);
    }
  }
  return result;
}

}  // namespace detail

}  // namespace tw
