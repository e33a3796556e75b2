// Convolutions and their gradients: the description of their problem.
#pragma once

#include <initializer_list>

#include "tilewright/base/status.h"
#include "tilewright/family/conv2d/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"

namespace tw {

// From the first to the last element of a side that one output meets.
constexpr std::int64_t reach_of(const tw_conv2d_axis& axis) {
  return (axis.filter - 1) * axis.dilation;
}
// p or q.
constexpr std::int64_t outputs_of(const tw_conv2d_axis& axis) {
  const std::int64_t room = axis.extent + axis.pad_low + axis.pad_high - reach_of(axis);
  return room <= 0 ? 0 : (room - 1) / axis.stride + 1;
}
// w, h and depth.
constexpr const tw_conv2d_axis& axis_of(const tw_conv2d_problem& p, unsigned i) {
  return i == 0 ? p.w : i == 1 ? p.h : p.depth;
}
// Not as where there is no third side.
constexpr bool is_deep(const tw_conv2d_problem& p) {
  return p.depth.extent != 1 || p.depth.filter != 1 || p.depth.stride != 1 ||
         p.depth.dilation != 1 || p.depth.pad_low != 0 || p.depth.pad_high != 0;
}
// The filter has so many positions.
constexpr std::int64_t positions_of(const tw_conv2d_problem& p) {
  return saturated_product(p.depth.filter, p.h.filter, p.w.filter);
}
// All images together have so many pixels, and all outputs.
constexpr std::int64_t image_pixels(const tw_conv2d_problem& p) {
  return saturated_product(p.n, p.depth.extent, p.h.extent, p.w.extent);
}
constexpr std::int64_t output_pixels(const tw_conv2d_problem& p) {
  return saturated_product(p.n, outputs_of(p.depth), outputs_of(p.h), outputs_of(p.w));
}

// Sentences for numbers that are not what a kernel, or any, can take.
struct NumberRange {
  std::string name;
  std::int64_t value, first, last;
};
inline Status check_ranges(std::initializer_list<NumberRange> ranges) {
  for (const auto& [name, value, first, last] : ranges) {
    if (value >= first && value <= last) continue;
    return Status::refused(sentence("{} = {} must be from {} to {}.", name, value, first, last));
  }
  return Status::good();
}
// Calls body(axis, " along w") and so on until one is refused.
template <class Body>
Status for_each_axis(const tw_conv2d_problem& problem, const Body& body) {
  const char* const names[3] = {" along w", " along h", " along the depth"};
  for (unsigned i = 0; i < 3; ++i) {
    if (Status status = body(axis_of(problem, i), names[i]); !status.is_good()) return status;
  }
  return Status::good();
}

namespace detail {

constexpr std::int64_t pixel_limit = (std::int64_t{1} << 29) + 1;  // sums of them are ints

template <auto member>
constexpr IntegerField conv2d_count(const char* name, const char* meaning, std::int64_t usual,
                                    std::int64_t initial, std::int64_t low) {
  return number<member>(name, {meaning, usual, initial, low, extent_limit, name});
}
// Strides, dilations and padding follow from lists, of all sides at once.
template <auto member>
constexpr std::array<IntegerField, 6> conv2d_axis(const char* extent, const char* filter,
                                                  const char* meaning, std::int64_t usual,
                                                  std::int64_t usual_filter, const char* along) {
  using Axis = tw_conv2d_axis;
  return {number<member, &Axis::extent>(extent,
                                        {meaning, usual, 1, 1, pixel_limit, "The image", along}),
          number<member, &Axis::filter>(
              filter, {"of the filter", usual_filter, 1, 1, (1 << 15) + 1, "The filter", along}),
          derived<member, &Axis::stride>("A stride", {"", 1, 1, INT64_MIN, INT64_MAX}),  // a rule's
          derived<member, &Axis::dilation>("A dilation",
                                           {"", 1, 1, 1, (1 << 14) + 1, "The dilation", along}),
          derived<member, &Axis::pad_low>("A lower padding",
                                          {"", 0, 0, 0, pixel_limit, "The lower padding", along}),
          derived<member, &Axis::pad_high>("An upper padding",
                                           {"", 0, 0, 0, pixel_limit, "The upper padding", along})};
}

}  // namespace detail

struct Conv2dFamily {
  using Problem = tw_conv2d_problem;

  static constexpr const char* directions[] = {"forward", "dgrad", "wgrad"};
  static constexpr auto numbers =
      joined(std::array{choice<&Problem::direction>(
                            "direction", "forward, dgrad (of the image) or wgrad (of the filter)",
                            directions, "direction"),
                        detail::conv2d_count<&Problem::n>("n", "images", 2, 1, 0),
                        detail::conv2d_count<&Problem::c>("c", "channels of the image", 64, 0, 1),
                        detail::conv2d_count<&Problem::k>("k", "channels of the output", 64, 0, 0),
                        detail::conv2d_count<&Problem::groups>(
                            "groups", "of channels, that see only each other", 1, 1, 1)},
             detail::conv2d_axis<&Problem::w>("w", "s", "width of the image", 14, 3, " along w"),
             detail::conv2d_axis<&Problem::h>("h", "r", "height of the image", 14, 3, " along h"),
             detail::conv2d_axis<&Problem::depth>("depth", "t", "depth of the image", 1, 1,
                                                  " along the depth"));

  // An image's gradient takes strides up to 8; kernels count pixels and sums in int.
  static Status check_counts(const Problem& p) {
    constexpr std::int64_t most = extent_limit - 1;
    std::int64_t positions = 1, pixels = p.n, met = p.n;
    return for_each_axis(p, [&](const tw_conv2d_axis& axis, const char* along) {
      const std::int64_t most_stride =
          p.direction == TW_BACKWARD_DATA ? 8 : detail::pixel_limit - 1;
      Status status =
          check_ranges({{std::string("The stride") + along, axis.stride, 1, most_stride}});
      if (!status.is_good()) return status;
      positions *= axis.filter;
      pixels *= outputs_of(axis);
      met *= axis.extent;
      return check_ranges({{"n * p * q", pixels, 0, most},
                           {"n * h * w", met, 0, most},
                           {"r * s * c", positions * p.c, 1, most},
                           {"r * s * k", positions * p.k, 0, most}});
    });
  }
  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return p.c % p.groups == 0; },
           [](const Problem& p) {
             return sentence("c = {} must be a multiple of groups = {}.", p.c, p.groups);
           }),
      rule([](const Problem& p) { return p.k % p.groups == 0; },
           [](const Problem& p) {
             return sentence("k = {} must be a multiple of groups = {}.", p.k, p.groups);
           }),
      rule(
          [](const Problem& p) {
            return p.epilogue.gated == 0 || (p.groups == 1 && p.direction != TW_BACKWARD_FILTER);
          },
          [](const Problem& p) {
            return sentence(
                "A gate needs pairs of columns, which neither groups (groups = {}) nor the "
                "gradient of a filter leave together.",
                p.groups);
          }),
      rule([](const Problem& p) { return check_counts(p).is_good(); },
           [](const Problem& p) { return check_counts(p).sentence(); })};

  // Matrices: pixels by channels; filters, or positions of them, by the channels of a group.
  static constexpr TensorExtents image_of(const Problem& p) { return {1, image_pixels(p), p.c}; }
  static constexpr TensorExtents filter_of(const Problem& p) {
    return {1, saturated_product(p.k, positions_of(p)), p.c / p.groups};
  }
  static constexpr TensorExtents output_of(const Problem& p) { return {1, output_pixels(p), p.k}; }
  // The sums as the epilogue sees them. Backward, D's gradient is where what is made would be.
  static constexpr TensorExtents sums_of(const Problem& p) {
    if (p.direction == TW_FORWARD) return output_of(p);
    if (p.direction == TW_BACKWARD_DATA) return image_of(p);
    return {1, p.k, saturated_product(positions_of(p), p.c / p.groups)};
  }
  // Each sum has so many terms.
  static constexpr std::int64_t summed_of(const Problem& p) {
    if (p.direction == TW_BACKWARD_FILTER) return output_pixels(p);
    return saturated_product(positions_of(p), (p.direction == TW_FORWARD ? p.c : p.k) / p.groups);
  }

  enum TensorIndex : unsigned { image, filter, d };
  static constexpr Types types = ProductFields<>::operand_types;
  static constexpr auto reads = TensorField::Flow::Read, writes = TensorField::Flow::Written;
  static constexpr TensorField tensors[] = {
      dense<&Problem::image, &Problem::type>("image", reads, {"the image", types},
                                             [](const Problem& p) {
                                               return p.direction == TW_BACKWARD_DATA ? output_of(p)
                                                                                      : image_of(p);
                                             }),
      dense<&Problem::filter, &Problem::type, false>("filter", reads, {"the filter", types},
                                                     [](const Problem& p) {
                                                       return p.direction == TW_BACKWARD_FILTER
                                                                  ? output_of(p)
                                                                  : filter_of(p);
                                                     }),
      dense<&Problem::d, &Problem::d_type>("d", writes, {"D", types}, [](const Problem& p) {
        TensorExtents made = sums_of(p);
        if (p.epilogue.gated != 0) made.columns /= 2;
        return made;
      })};
  static constexpr ProductField product = product_with<&Problem::epilogue>(
      image, filter, d, [](const Problem& p) { return sums_of(p); },
      [](const Problem& p) { return summed_of(p); });

  // Numbers of all sides: of one, of h and w, or of the depth, h and w.
  enum ListIndex : unsigned { stride, dilation, pad };
  template <auto member>
  static ListField::Guess of_sides(const Problem& p) {
    return {{p.depth.*member, p.h.*member, p.w.*member}, 3};
  }
  static ListField::Guess padding_of(const Problem& p) {
    return {
        {p.depth.pad_low, p.depth.pad_high, p.h.pad_low, p.h.pad_high, p.w.pad_low, p.w.pad_high},
        6};
  }
  static constexpr ListField lists[] = {
      list("stride", "A stride", "strides", "of h and w, of h,w or of depth,h,w", "1",
           [](const Problem& p) { return of_sides<&tw_conv2d_axis::stride>(p); }),
      list("dilation", "A dilation", "dilations", "of h and w, of h,w or of depth,h,w", "1",
           [](const Problem& p) { return of_sides<&tw_conv2d_axis::dilation>(p); }),
      list("pad", "A padding", "paddings",
           "of h and w, of h,w, top,bottom,left,right or front,back,top,...", "1",
           [](const Problem& p) { return padding_of(p); })};

  static constexpr Description description = {"conv2d",
                                              "a convolution, or a gradient of one",
                                              "computes this convolution",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              lists};
};

}  // namespace tw
