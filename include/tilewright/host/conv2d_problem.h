// One convolution, as a caller states it.
#pragma once

#include <cstdint>

#include "tilewright/epilogue/arguments.h"
#include "tilewright/number/element_type.h"

namespace tw {

// Along one side of the image.
struct Conv2dAxis {
  std::int64_t extent = 1;  // of the image
  std::int64_t filter = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_low = 0;
  std::int64_t pad_high = 0;

  // From the first to the last element that one output meets.
  constexpr std::int64_t reach() const { return (filter - 1) * dilation; }
  // p or q.
  constexpr std::int64_t outputs() const {
    const std::int64_t room = extent + pad_low + pad_high - reach();
    return room <= 0 ? 0 : (room - 1) / stride + 1;
  }
  bool operator==(const Conv2dAxis&) const = default;
};

// Backward, D's gradient takes the place of the image (data) or of the filter, and the gradient of
// that operand takes D's.
enum class Conv2dDirection : unsigned { Forward, BackwardData, BackwardFilter };

// D[n,p,q,k] = epilogue(sum over r,s,c of image[n,h,w,c] * filter[k,r,s,c]), everything without
// gaps. The epilogue sees D as a matrix of n * p * q rows and k columns. Of one side, this is w; of
// three, the outermost is the depth. In groups, the first k / groups outputs see the first
// c / groups channels, and so on; filters have only these.
struct Conv2dProblem {
  std::int64_t n = 1;
  std::int64_t c = 1;  // of all groups, and so k
  std::int64_t k = 1;
  std::int64_t groups = 1;
  Conv2dAxis h;
  Conv2dAxis w;
  const void* image = nullptr;
  const void* filter = nullptr;
  void* d = nullptr;
  ElementType type = ElementType::Bf16;  // of image and filter
  ElementType d_type = ElementType::Bf16;
  EpilogueArguments epilogue;
  Conv2dAxis depth = {};
  Conv2dDirection direction = Conv2dDirection::Forward;

  constexpr bool is_deep() const { return depth != Conv2dAxis{}; }
  // w, h and depth.
  constexpr const Conv2dAxis& axis(unsigned i) const { return i == 0 ? w : i == 1 ? h : depth; }
  // Of the filter.
  constexpr std::int64_t positions() const { return depth.filter * h.filter * w.filter; }
  constexpr std::int64_t image_pixels() const { return depth.extent * h.extent * w.extent; }
  // Of one output.
  constexpr std::int64_t pixels() const { return depth.outputs() * h.outputs() * w.outputs(); }
};

}  // namespace tw
