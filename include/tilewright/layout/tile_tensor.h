// A tensor in memory: where it lies, in which memory, and by which layout. Elements are loaded and
// stored, never referred to: some are narrower than a byte, and the virtual GPU sees every access.
//
//   TileTensor<const Bf16, Space::Global, "(_,_):(1@1,1)"_layout> a(data, {m, k}, {pitch_bytes});
//   auto tile = a.tile<128, 64>(block_m, block_k);                       // (128,64)
//   auto part = tile.distribute<"(16,8):(8,1)"_layout>(thread);          // (8,8)
//   Bf16 value = part.load(i, j);
#pragma once

#include "tilewright/layout/coordinate_tensor.h"
#include "tilewright/layout/placement.h"
#include "tilewright/layout/steps.h"
#include "tilewright/layout/vectors.h"

namespace tw {

template <class T, Space space, Layout layout>
class TileTensor : public TensorViews<TileTensor<T, space, layout>, layout> {
  using Views = TensorViews<TileTensor<T, space, layout>, layout>;
  static constexpr int num_axes = detail::max_axis(layout);
  static constexpr int bits = element_bits<std::remove_const_t<T>>;
  static constexpr bool is_packed = PackedElement<std::remove_const_t<T>>;
  static constexpr std::int64_t unit = detail::pointer_unit(layout, bits);
  using Axes = std::make_integer_sequence<int, num_axes>;
  static constexpr int num_origins = num_axes > 0 ? 1 + num_axes : unit > 1;
  using Origin = detail::Origin<num_origins>;
  static_assert(num_axes == 0 || layout.swizzle.is_identity(),
                "A swizzled tensor has no run-time pitch.");
  static_assert(!is_packed || detail::counts_forward(layout),
                "A tensor of elements narrower than a byte has no negative strides.");

 public:
  using Value = std::remove_const_t<T>;
  using Data = typename Storage<T>::Type;
  // Tensor memory has addresses of its own: the lane in the upper half, the column in the lower.
  using Address = std::conditional_t<space == Space::Tensor, std::uint32_t, Data*>;
  using DynamicExtents = typename Views::DynamicExtents;

  TW_HOST_DEVICE constexpr explicit TileTensor(Address data)
      : TileTensor(data, DynamicExtents{}, Pitches<num_axes>{}) {
    static_assert(Views::num_dynamic == 0 && num_axes == 0,
                  "This layout needs its run-time extents and pitches.");
  }

  // Extents in elements, in the order of their leaves; pitches in bytes, in the order of their
  // axes.
  TW_HOST_DEVICE constexpr TileTensor(Address data, const DynamicExtents& extents,
                                      const Pitches<num_axes>& pitches)
      : TileTensor(data, extents, pitches, Origin{}) {
    static_assert(detail::has_plain_extents(layout),
                  "A dynamic extent has static stride 1; any other stride must be a pitch.");
  }

  // One index for each mode, or one for the whole tensor.
  template <class... Indices>
  TW_HOST_DEVICE Value load(Indices... indices) const {
    static_assert(space != Space::Tensor, "load: tensor memory is read by its own instructions");
    if constexpr (is_packed) {
      const ElementPlace place = locate(indices...);
      return load_packed_element<space, Value>(place.data, place.index);
    } else {
      return load_element<space>(address(indices...));
    }
  }

  template <class... Indices>
  TW_HOST_DEVICE void store(Value value, Indices... indices) const {
    static_assert(space != Space::Tensor,
                  "store: tensor memory is written by its own instructions");
    static_assert(!std::is_const_v<T>, "store: the elements are const");
    if constexpr (is_packed) {
      const ElementPlace place = locate(indices...);
      store_packed_element<space>(place.data, place.index, value);
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

  // Instructions take this address.
  template <class... Indices>
  TW_HOST_DEVICE constexpr Address address(Indices... indices) const {
    static_assert(!is_packed, "address: an element narrower than a byte has none");
    if constexpr (num_origins == 0) {
      return contents_.data + detail::weighted_sum<plain>(indices...);
    } else {
      const ElementPlace place = locate(indices...);
      return place.data + static_cast<std::int32_t>(place.index);
    }
  }

  // The element at these indices, whose index in one mode is below `step`, and those a multiple of
  // `step` further: their offsets are a constant away (layout/steps.h).
  template <int mode_index, unsigned step, class... Indices>
  TW_HOST_DEVICE constexpr auto steps_from(Indices... indices) const {
    static_assert(num_axes == 0 && Views::num_dynamic == 0 && !is_packed,
                  "steps_from: the tensor has extents, pitches or bits known only at run time");
    if constexpr (num_origins > 0) {
      require(contents_.values[0] == 0, "steps_from: the tensor is a slice of a swizzled one");
    }
    return ElementSteps<mode_index, step>{
        contents_.data,
        Steps<layout, mode_index, step>(layout.swizzle(detail::sum_as<unsigned, plain>(indices...)),
                                        indices...)};
  }

  // The same tensor with its position folded into the pointer: worth while before many loads.
  TW_HOST_DEVICE constexpr TileTensor anchored() const {
    if constexpr (num_axes == 0 || is_packed) {
      return *this;
    } else {
      return TileTensor(pitched<0>(Axes()) + on_axis<0>(), *this, contents_, Origin{});
    }
  }

  // The pointer, without what slices have not folded into it; address(0) is the first element.
  constexpr Address base() const { return contents_.data; }
  constexpr std::int64_t pitch_bytes(int axis) const {
    if constexpr (num_axes > 0) return contents_.bytes[axis - 1];
    return 0;
  }

  // The position of each element, to be cut like this tensor.
  constexpr auto coordinates() const {
    constexpr Layout positions = detail::coordinates_of(layout);
    return CoordinateTensor<Views::num_modes, positions>(*this, Position<Views::num_modes>{});
  }

  // Vectors of as many elements in each mode as given; `facts` must license them.
  template <Facts facts, int... counts>
  TW_HOST_DEVICE auto vectorize() const {
    static_assert(sizeof...(counts) == Views::num_modes, "vectorize: give one count per mode");
    static_assert(space != Space::Tensor, "vectorize: tensor memory has its own instructions");
    constexpr detail::VectorShape shape = detail::vector_shape(counts...);
    constexpr Layout to = detail::vector_layout(layout, bits, facts, shape);
    using Element = Vector<Value, static_cast<int>(shape.count)>;
    using Target =
        TileTensor<std::conditional_t<std::is_const_v<T>, const Element, Element>, space, to>;
    const auto extents =
        this->template divided<tiler(counts...), true>(Views::template count_of<to>());
    if constexpr (num_origins == 0) {
      auto* const data = reinterpret_cast<typename Target::Data*>(contents_.data);
      return Target(data, extents, contents_, {});
    } else {
      constexpr unsigned count = static_cast<unsigned>(shape.count);
      require(contents_.values[0] % count == 0, "vectorize: the slice does not begin at a vector");
      typename Target::Origin origin{};
      if constexpr (Target::num_origins > 0) {
        TW_UNROLL
        for (int i = 0; i < Target::num_origins; ++i) origin.values[i] = contents_.values[i];
        origin.values[0] /= count;
      }
      Address data = contents_.data;
      if constexpr (Target::num_origins == 0) data += bytes_of(contents_.values[0]);
      return Target(reinterpret_cast<typename Target::Data*>(data), extents, contents_, origin);
    }
  }

 private:
  template <class, Space, Layout>
  friend class TileTensor;
  friend Views;

  static constexpr Layout plain = detail::on_axis(layout, 0);

  struct ElementPlace {
    Address data;
    unsigned index;  // in elements from there
  };

  template <int mode_index, unsigned step>
  struct ElementSteps {
    Address data;
    Steps<layout, mode_index, step> offsets;
    TW_HOST_DEVICE Address address(unsigned distance) const {
      return data + offsets.address(distance);
    }
  };

  TW_HOST_DEVICE constexpr TileTensor(Address data, const DynamicExtents& extents,
                                      const Pitches<num_axes>& pitches, const Origin& origin)
      : Views(extents), contents_{pitches, origin, data} {}

  // This tensor at the selected indices, with the layout `to`.
  template <Layout to, class... Selection>
  TW_HOST_DEVICE constexpr auto view(const Extents<detail::dynamic_extents(to)>& extents,
                                     Selection... selection) const {
    using Target = TileTensor<T, space, to>;
    if constexpr (num_origins == 0) {
      return Target(moved(selection...), extents, {}, {});
    } else if constexpr (num_axes == 0) {
      const ElementPlace place = split(selection...);
      return Target(place.data, extents, {}, {place.index});
    } else {
      const auto pitches = first_pitches(typename Target::Axes());
      // Axes that the target no longer has are settled here.
      Address data = pitched<Target::num_axes>(Axes(), selection...);
      if constexpr (Target::num_origins == 0) {
        return Target(data + on_axis<0>(selection...), extents, pitches, {});
      } else {
        return Target(data, extents, pitches, moved_origin<Target>(selection...));
      }
    }
  }

  template <class... Indices>
  TW_HOST_DEVICE constexpr Address moved(Indices... indices) const {
    if constexpr (sizeof...(Indices) == 0) {
      return contents_.data;
    } else {
      return contents_.data + detail::weighted_sum<plain>(indices...);
    }
  }

  template <class Target, class... Indices>
  TW_HOST_DEVICE constexpr auto moved_origin(Indices... indices) const {
    return [&]<int... axes>(std::integer_sequence<int, axes...>) {
      return typename Target::Origin{static_cast<unsigned>(on_axis<axes>(indices...))...};
    }
    (std::make_integer_sequence<int, Target::num_origins>());
  }

  // The position on one axis, signed because a tensor may count backwards.
  template <int axis, class... Indices>
  TW_HOST_DEVICE constexpr std::int32_t on_axis(Indices... indices) const {
    unsigned position = contents_.values[axis];
    if constexpr (sizeof...(Indices) > 0) {
      position += detail::sum_as<unsigned, detail::on_axis(layout, axis)>(indices...);
    }
    return static_cast<std::int32_t>(position);
  }

  template <int... axes>
  constexpr auto first_pitches(std::integer_sequence<int, axes...>) const {
    return Pitches<sizeof...(axes)>{contents_.bytes[axes]...};
  }

  // The pointer moved along the axes above `settled`: a sum in 32 bits for each, and one product.
  template <int settled, int... axes, class... Indices>
  TW_HOST_DEVICE constexpr Address pitched(std::integer_sequence<int, axes...>,
                                           Indices... indices) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    auto bytes_on = [&]<int axis>(std::integral_constant<int, axis>) -> std::int64_t {
      if constexpr (axis <= settled) return 0;
      return on_axis<axis>(indices...) * contents_.bytes[axis - 1];
    };
    const std::int64_t bytes = (bytes_on(std::integral_constant<int, axes + 1>()) + ...);
    return reinterpret_cast<Data*>(reinterpret_cast<Byte*>(contents_.data) + bytes);
  }

  static constexpr std::int64_t bytes_of(std::int64_t elements) { return elements * bits / 8; }

  // Without pitches: what is a multiple of the unit goes to the pointer, the rest to the index.
  template <class... Indices>
  TW_HOST_DEVICE constexpr ElementPlace split(Indices... indices) const {
    if constexpr (sizeof...(Indices) == 0) {
      return {contents_.data, contents_.values[0]};
    } else {
      constexpr Layout multiples = detail::of_unit(plain, unit, true);
      constexpr Layout rest = detail::of_unit(plain, unit, false);
      const auto moved = detail::weighted_sum<multiples>(indices...);
      const auto index = static_cast<unsigned>(detail::weighted_sum<rest>(indices...));
      if constexpr (is_packed) {
        return {contents_.data + bytes_of(moved), contents_.values[0] + index};
      } else {
        return {contents_.data + moved, contents_.values[0] + index};
      }
    }
  }

  // The element, with the swizzle applied.
  template <class... Indices>
  TW_HOST_DEVICE constexpr ElementPlace locate(Indices... indices) const {
    if constexpr (num_axes > 0) {
      return {pitched<0>(Axes(), indices...), static_cast<unsigned>(on_axis<0>(indices...))};
    } else if constexpr (detail::sum_kind(plain) == detail::SumKind::wide) {
      const ElementPlace place = split(indices...);
      return {place.data, layout.swizzle(place.index)};
    } else {
      return {contents_.data, layout.swizzle(static_cast<unsigned>(on_axis<0>(indices...)))};
    }
  }

  // Bases, for they may be empty.
  struct Contents : Pitches<num_axes>, Origin {
    Address data;
  };
  Contents contents_;
};

template <class Tensor>
inline constexpr Space space_of = Tensor::has_no_space;
template <class T, Space space, Layout layout>
inline constexpr Space space_of<TileTensor<T, space, layout>> = space;

}  // namespace tw
