// A tensor whose elements are their own positions in the tensor that it was made from. Cut like a
// tensor in memory, it tells which of that tensor's elements exist.
#pragma once

#include "tilewright/layout/views.h"

namespace tw {

// `axes` components; the layout has a stride on axis i + 1 for component i.
template <int axes, Layout layout>
class CoordinateTensor : public TensorViews<CoordinateTensor<axes, layout>, layout> {
  using Views = TensorViews<CoordinateTensor<axes, layout>, layout>;

 public:
  TW_HOST_DEVICE constexpr CoordinateTensor(const typename Views::DynamicExtents& extents,
                                            const Position<axes>& origin)
      : Views(extents), origin_(origin) {}

  template <class... Indices>
  TW_HOST_DEVICE constexpr Position<axes> load(Indices... indices) const {
    return moved(std::make_integer_sequence<int, axes>(), indices...);
  }

 private:
  friend Views;

  template <Layout to, class... Selection>
  TW_HOST_DEVICE constexpr auto view(const Extents<detail::dynamic_extents(to)>& extents,
                                     Selection... selection) const {
    if constexpr (sizeof...(Selection) == 0) {
      return CoordinateTensor<axes, to>(extents, origin_);
    } else {
      return CoordinateTensor<axes, to>(extents, load(selection...));
    }
  }

  template <int... components, class... Indices>
  TW_HOST_DEVICE constexpr Position<axes> moved(std::integer_sequence<int, components...>,
                                                Indices... indices) const {
    return {(origin_[components] +
             detail::sum_as<unsigned, detail::on_axis(layout, components + 1)>(indices...))...};
  }

  Position<axes> origin_;
};

}  // namespace tw
