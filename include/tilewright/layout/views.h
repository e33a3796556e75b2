// The views that every tensor offers: slice, tiles, tile, distribute.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/layout/cut.h"

namespace tw {

// Extents known only at run time, in the order of their leaves.
template <int count>
struct Extents {
  unsigned values[count];
};
template <>
struct Extents<0> {};

// One component per mode of the tensor that the coordinates come from.
template <int count>
struct Position {
  unsigned values[count];

  constexpr unsigned operator[](int index) const { return values[index]; }
};

// Whether a position lies in a tensor with these extents.
template <int count>
constexpr bool is_inside(const Position<count>& position, const Position<count>& limits) {
  bool inside = true;
  TW_UNROLL
  for (int i = 0; i < count; ++i) inside &= position[i] < limits[i];
  return inside;
}

// `Derived` offers view<to>(extents, selection...): itself, moved to the selected indices, with the
// layout `to`.
template <class Derived, Layout layout>
class TensorViews : protected Extents<detail::dynamic_extents(layout)> {
 public:
  static constexpr int num_modes = rank(layout);

  static constexpr Layout tensor_layout() { return layout; }

  // How many indices a mode has.
  template <int mode_index>
  constexpr unsigned extent() const {
    constexpr LeafRange range = leaves_of_mode(layout, mode_index);
    if constexpr (detail::is_dynamic(layout, mode_index)) {
      constexpr int number = detail::dynamic_extents(layout, range.last - 1);
      constexpr unsigned below =
          detail::static_size(layout, LeafRange{range.first, range.last - 1});
      return below * this->values[number];
    } else {
      return std::integral_constant<unsigned, detail::static_size(layout, range)>::value;
    }
  }

  constexpr Position<num_modes> limits() const {
    return limits_of(std::make_integer_sequence<int, num_modes>());
  }

  // One number or `whole` for each mode; the whole modes remain.
  template <class... Selection>
  TW_HOST_DEVICE constexpr auto slice(Selection... selection) const {
    static_assert(sizeof...(Selection) == num_modes,
                  "slice: give a number or `whole` for each mode");
    constexpr unsigned mask = detail::whole_mask<Selection...>();
    constexpr Layout to = detail::kept_modes(layout, mask);
    return derived().template view<to>(kept<mask>(count_of<to>()), selection...);
  }

  // (tile 0, tile 1, ..., rest 0, rest 1, ...)
  template <int... tile_extents>
  TW_HOST_DEVICE constexpr auto tiles() const {
    return tiled<tiler(tile_extents...)>();
  }

  // The tile at (i, j, ...), counted in tiles.
  template <int... tile_extents, class... Indices>
  TW_HOST_DEVICE constexpr auto tile(Indices... indices) const {
    static_assert(sizeof...(Indices) == num_modes, "tile: give one tile index for each mode");
    static_assert(sizeof...(tile_extents) == num_modes, "tile: give one extent for each mode");
    return tiles<tile_extents...>().slice(((void)tile_extents, whole)..., indices...);
  }

  // The elements of one thread: those whose indices are congruent to the thread's own, so that
  // neighbouring threads have neighbouring elements.
  template <Layout threads>
  TW_HOST_DEVICE constexpr auto distribute(unsigned thread) const {
    constexpr Layout numbered = detail::numbered_threads(threads);
    return distributed<numbered>(thread, std::make_integer_sequence<int, num_modes>());
  }

 protected:
  static constexpr int num_dynamic = detail::dynamic_extents(layout);
  using DynamicExtents = Extents<num_dynamic>;

  TW_HOST_DEVICE constexpr explicit TensorViews(const DynamicExtents& extents)
      : DynamicExtents(extents) {}

  template <Layout to>
  static constexpr auto count_of() {
    return std::make_integer_sequence<int, detail::dynamic_extents(to)>();
  }

  // How many tiles each dynamic extent gives; with `is_exact`, it is known to divide.
  template <Tiler divisors, bool is_exact, int... numbers>
  constexpr auto divided(std::integer_sequence<int, numbers...>) const {
    return Extents<sizeof...(numbers)>{
        quotient<detail::dynamic_divisor(layout, divisors, numbers), is_exact>(
            this->values[numbers])...};
  }

 private:
  constexpr const Derived& derived() const { return static_cast<const Derived&>(*this); }

  template <int... modes>
  constexpr Position<num_modes> limits_of(std::integer_sequence<int, modes...>) const {
    return {extent<modes>()...};
  }

  template <unsigned divisor, bool is_exact>
  static constexpr unsigned quotient(unsigned value) {
    return (value + (is_exact ? 0 : divisor - 1)) / divisor;
  }

  template <unsigned mask, int... numbers>
  constexpr auto kept(std::integer_sequence<int, numbers...>) const {
    return Extents<sizeof...(numbers)>{
        this->values[std::integral_constant<int,
                                            detail::kept_extent(layout, mask, numbers)>::value]...};
  }

  template <Tiler tiler>
  TW_HOST_DEVICE constexpr auto tiled() const {
    constexpr Layout to = detail::tiled_modes(layout, tiler);
    return derived().template view<to>(divided<tiler, false>(count_of<to>()));
  }

  template <Layout threads, int... modes>
  TW_HOST_DEVICE constexpr auto distributed(unsigned thread,
                                            std::integer_sequence<int, modes...>) const {
    return tiled<detail::tiler_like(threads)>().slice(
        detail::thread_index<threads, modes>(thread)..., ((void)modes, whole)...);
  }
};

}  // namespace tw
