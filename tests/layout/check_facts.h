// Host side of Facts: is what a kernel was compiled for true of this tensor?
#pragma once

#include <string>

#include "tilewright/base/status.h"
#include "tilewright/layout/tile_tensor.h"

namespace tw {

template <class T, Space space, Layout layout>
Status check_facts(const TileTensor<T, space, layout>& tensor, Facts facts) {
  auto divides = [](std::int64_t value, std::int32_t divisor) {
    return divisor > 0 && value % divisor == 0;
  };
  auto refuse = [](const char* what, std::int64_t value, std::int32_t rule, const char* unit) {
    return Status::refused(std::string(what) + " is " + std::to_string(value) +
                           ", but must be a multiple of " + std::to_string(rule) + " " + unit);
  };
  const auto address =
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.anchored().base()));
  if (!divides(address, facts.base_align)) {
    return refuse("the address", address, facts.base_align, "bytes");
  }
  for (int axis = 1; axis <= detail::max_axis(layout); ++axis) {
    if (!divides(tensor.pitch_bytes(axis), facts.pitch_multiple)) {
      return refuse(("the pitch of axis " + std::to_string(axis)).c_str(), tensor.pitch_bytes(axis),
                    facts.pitch_multiple, "bytes");
    }
  }
  const auto limits = tensor.limits();
  for (int i = 0; i < rank(layout); ++i) {
    const Leaf first = layout.leaf(leaves_of_mode(layout, i).first);
    const bool is_contiguous = first.stride == 1 && first.axis == 0;
    if (is_contiguous && detail::is_dynamic(layout, i) &&
        !divides(limits[i], facts.extent_multiple)) {
      return refuse(("the extent of mode " + std::to_string(i)).c_str(), limits[i],
                    facts.extent_multiple, "elements");
    }
  }
  return Status::good();
}

}  // namespace tw
