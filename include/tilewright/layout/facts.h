// What is known about the numbers of a tensor that are not in its layout. The host checks it before
// a launch; a kernel compiled for it may then move whole vectors.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tw {

struct Facts {
  std::int32_t base_align;       // bytes that divide the address
  std::int32_t pitch_multiple;   // bytes that divide every pitch
  std::int32_t extent_multiple;  // elements that divide the dynamic extent of the contiguous mode

  friend constexpr bool operator==(const Facts&, const Facts&) = default;
};
static_assert(std::has_unique_object_representations_v<Facts>);

}  // namespace tw
