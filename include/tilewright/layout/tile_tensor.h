// A tensor in memory: where it lies, in which memory, and by which layout. Elements are loaded and
// stored, never referred to: some are narrower than a byte, and the virtual GPU sees every access.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/layout/coordinate_tensor.h"
#include "tilewright/layout/element.h"
#include "tilewright/layout/facts.h"
#include "tilewright/layout/recast.h"

namespace tw {

// The distance in bytes that each axis of a layout stands for.
template <int count>
struct Pitches {
  std::int64_t bytes[count];
};
template <>
struct Pitches<0> {};

namespace detail {

// What a slice cannot fold into the pointer: the part of an offset that goes through the swizzle, or
// that is no whole number of bytes.
template <bool is_needed>
struct Origin {
  unsigned origin;
};
template <>
struct Origin<false> {};

// Offsets that are multiples of this can be added to the pointer.
constexpr std::int64_t pointer_unit(const Layout& layout, int bits) {
  Swizzle swizzle = layout.swizzle;
  int source = swizzle.source_bit();
  int target = swizzle.target_bit();
  std::int64_t period = std::int64_t{1} << (swizzle.bits + (source > target ? source : target));
  std::int64_t whole_bytes = 8 / greatest_common_divisor(8, bits);
  return period > whole_bytes ? period : whole_bytes;
}

// The layout of vectors, if the facts say that they can be loaded.
constexpr Layout vector_layout(const Layout& layout, int bits, Facts facts, VectorShape shape) {
  std::int64_t bytes = shape.count * bits / 8;
  bool is_whole = shape.count * bits % 8 == 0;
  require(is_whole, "vectorize: a vector must fill whole bytes");
  std::int64_t alignment = static_cast<std::int64_t>(vector_alignment(static_cast<std::size_t>(bytes)));
  bool has_neighbours = is_adjacent(layout, shape.mode, shape.count);
  require(has_neighbours, "vectorize: the elements of a vector are not neighbours in memory");
  bool is_aligned = facts.base_align > 0 && facts.base_align % alignment == 0;
  require(is_aligned, "vectorize: facts.base_align is no multiple of the vector");
  bool is_pitched = max_axis(layout) > 0;
  bool keeps_pitch = facts.pitch_multiple > 0 && facts.pitch_multiple % alignment == 0;
  require(!is_pitched || keeps_pitch, "vectorize: facts.pitch_multiple is no multiple of the vector");
  bool is_ragged = is_dynamic(layout, shape.mode);
  bool keeps_extent = facts.extent_multiple > 0 && facts.extent_multiple % shape.count == 0;
  require(!is_ragged || keeps_extent, "vectorize: facts.extent_multiple does not cover the vector");
  return upcast(strided_mode(layout, shape.mode, shape.count), shape.count);
}

}  // namespace detail

template <class T, Space space, Layout layout>
class TileTensor : public TensorViews<TileTensor<T, space, layout>, layout> {
 public:
  using Value = std::remove_const_t<T>;
  using Data = typename Storage<T>::Type;

 private:
  using Views = TensorViews<TileTensor<T, space, layout>, layout>;
  static constexpr int bits = element_bits<Value>;
  static constexpr bool is_packed = PackedElement<Value>;
  static constexpr std::int64_t unit = detail::pointer_unit(layout, bits);
  static constexpr int num_axes = detail::max_axis(layout);
  using Axes = std::make_integer_sequence<int, num_axes>;
  using Origin = detail::Origin<(unit > 1)>;
  static_assert(num_axes == 0 || layout.swizzle.is_identity(),
                "A swizzled tensor has no run-time pitch.");

 public:
  using DynamicExtents = typename Views::DynamicExtents;

  TW_HOST_DEVICE constexpr explicit TileTensor(Data* data)
      : TileTensor(data, DynamicExtents{}, Pitches<num_axes>{}) {
    static_assert(Views::num_dynamic == 0 && num_axes == 0,
                  "This layout needs its run-time extents and pitches.");
  }

  // Extents in elements, in the order of their leaves; pitches in bytes, in the order of their axes.
  TW_HOST_DEVICE constexpr TileTensor(Data* data, const DynamicExtents& extents,
                                      const Pitches<num_axes>& pitches)
      : TileTensor(data, extents, pitches, Origin{}) {}

  // One index for each mode, or one for the whole tensor.
  template <class... Indices>
  TW_HOST_DEVICE Value load(Indices... indices) const {
    if constexpr (is_packed) {
      const auto place = locate(indices...);
      return load_packed_element<space, Value>(place.data, place.index);
    } else {
      return load_element<space>(address(indices...));
    }
  }

  template <class... Indices>
  TW_HOST_DEVICE void store(Value value, Indices... indices) const {
    static_assert(!std::is_const_v<T>, "store: the elements are const");
    if constexpr (is_packed) {
      const auto place = locate(indices...);
      store_packed_element<space, Value>(place.data, place.index, value);
    } else {
      store_element<space>(address(indices...), value);
    }
  }

  // Where `inside` is false nothing is read, and the value is zero.
  template <class... Indices>
  TW_HOST_DEVICE Value load_if(bool inside, Indices... indices) const {
    Value value{};
    if (inside) value = load(indices...);
    return value;
  }

  template <class... Indices>
  TW_HOST_DEVICE void store_if(bool inside, Value value, Indices... indices) const {
    if (inside) store(value, indices...);
  }

  // For instructions that take an address.
  template <class... Indices>
  TW_HOST_DEVICE Data* address(Indices... indices) const {
    static_assert(!is_packed, "address: an element narrower than a byte has none");
    if constexpr (unit == 1) {
      return advanced<layout>(indices...);
    } else {
      const auto place = locate(indices...);
      return place.data + place.index;
    }
  }

  // The position of each element, to be cut like this tensor.
  TW_HOST_DEVICE constexpr auto coordinates() const {
    constexpr Layout positions = detail::coordinates_of(layout);
    return CoordinateTensor<Views::num_modes, positions>(*this, Position<Views::num_modes>{});
  }

  // Vectors of as many elements in each mode as given; `facts` must license them.
  template <Facts facts, int... counts>
  TW_HOST_DEVICE auto vectorize() const {
    static_assert(sizeof...(counts) == Views::num_modes, "vectorize: give one count per mode");
    constexpr detail::VectorShape shape = detail::vector_shape(counts...);
    constexpr Layout to = detail::vector_layout(layout, bits, facts, shape);
    constexpr int count = static_cast<int>(shape.count);
    using Element = Vector<Value, count>;
    using Target = TileTensor<std::conditional_t<std::is_const_v<T>, const Element, Element>, space, to>;
    const auto extents = this->template divided<tiler(counts...)>(Views::template count_of<to>());
    if constexpr (unit == 1) {
      return Target(reinterpret_cast<typename Target::Data*>(data_), extents, pitches_);
    } else if constexpr (layout.swizzle.is_identity()) {
      Data* data = data_ + origin_.value / (8 / std::gcd(8, bits)) * (bits / std::gcd(8, bits));
      return Target(reinterpret_cast<typename Target::Data*>(data), extents, pitches_);
    } else {
      return Target(reinterpret_cast<typename Target::Data*>(data_), extents, pitches_,
                    typename Target::Origin{origin_.value / count});
    }
  }

  // For the views: this tensor at the selected indices, with the layout `to`.
  template <Layout to, class... Selection>
  TW_HOST_DEVICE constexpr auto view(const Extents<detail::dynamic_extents(to)>& extents,
                                     Selection... selection) const {
    using Target = TileTensor<T, space, to>;
    const auto pitches = first_pitches(typename Target::Axes());
    if constexpr (sizeof...(Selection) == 0) {
      return Target(data_, extents, pitches, origin_);
    } else {
      Data* data = advanced<detail::of_unit(layout, unit, true)>(selection...);
      if constexpr (unit == 1) {
        return Target(data, extents, pitches);
      } else {
        return Target(data, extents, pitches, Origin{origin_.value + rest_of<layout>(selection...)});
      }
    }
  }

 private:
  template <class, Space, Layout>
  friend class TileTensor;

  struct Place {
    Data* data;
    unsigned index;  // in elements
  };

  TW_HOST_DEVICE constexpr TileTensor(Data* data, const DynamicExtents& extents,
                                      const Pitches<num_axes>& pitches, const Origin& origin)
      : Views(extents), data_(data), pitches_(pitches), origin_(origin) {}

  Data* data_;
  [[no_unique_address]] Pitches<num_axes> pitches_;
  [[no_unique_address]] Origin origin_;
};

}  // namespace tw
