// What a convolution must satisfy, wherever it runs, and what TMA im2col asks for beyond: every
// refusal is a sentence with the number and the rule.
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>

#include "tilewright/host/conv2d_problem.h"
#include "tilewright/host/matmul_check.h"

namespace tw {

// Of one launch. A group is a matrix of the batch. Where a filter position's channels are padded
// with zeros to a multiple of `channels`, k counts them, too.
inline MatmulProblem as_matmul(const Conv2dProblem& problem, std::int64_t channels) {
  const std::int64_t c = problem.c / problem.groups, k = problem.k / problem.groups;
  const std::int64_t filter = problem.positions() * c;
  MatmulProblem matmul = {.m = problem.n * problem.pixels(),
                          .n = k,
                          .k = problem.positions() * ((c + channels - 1) / channels * channels),
                          .batch = problem.groups,
                          .a = {problem.image, problem.c, c, problem.type},
                          .b = {problem.filter, filter, k * filter, problem.type},
                          .d = {problem.d, problem.k, k, problem.d_type},
                          .epilogue = problem.epilogue};
  if (problem.direction == Conv2dDirection::BackwardData) {
    matmul.b = {problem.filter, problem.k, 0, problem.type, Major::MN};
  }
  // k counts pixels; a matrix of the batch is the gradient of one of the filter's positions.
  if (problem.direction == Conv2dDirection::BackwardFilter) {
    matmul.k = matmul.m;
    matmul.m = problem.k;
    matmul.n = problem.c;
    matmul.batch = problem.positions();
    matmul.a = {problem.filter, problem.k, 0, problem.type, Major::MN};
    matmul.b = {problem.image, problem.c, 0, problem.type, Major::MN};
    matmul.d = {problem.d, filter, problem.c, problem.d_type};
    matmul.epilogue.source_batch_pitch = problem.c;
  }
  return matmul;
}

// All that is written, as one matrix.
inline MatmulProblem output_of(const Conv2dProblem& problem) {
  MatmulProblem output;
  output.m = problem.n * problem.pixels();
  output.n = problem.k;
  if (problem.direction == Conv2dDirection::BackwardData) {
    output.m = problem.n * problem.image_pixels();
    output.n = problem.c;
  }
  if (problem.direction == Conv2dDirection::BackwardFilter) {
    output.m = problem.k;
    output.n = problem.positions() * problem.c;
  }
  output.d = {problem.d, output.n, 0, problem.d_type};
  output.epilogue = problem.epilogue;
  return output;
}

namespace detail {

struct Conv2dRange {
  std::string name;
  std::int64_t value, first, last;
};
inline Status check_ranges(std::initializer_list<Conv2dRange> ranges) {
  for (const auto& [name, value, first, last] : ranges) {
    if (value >= first && value <= last) continue;
    return Status::refused(name + " = " + std::to_string(value) + " must be from " +
                           std::to_string(first) + " to " + std::to_string(last) + ".");
  }
  return Status::good();
}

// Calls body(axis, " along w") and so on until one is refused.
template <class Body>
Status for_each_axis(const Conv2dProblem& problem, const Body& body) {
  const char* const names[3] = {" along w", " along h", " along the depth"};
  for (unsigned i = 0; i < 3; ++i) {
    Status status = body(problem.axis(i), std::string(names[i]));
    if (!status.is_good()) return status;
  }
  return Status::good();
}

inline Status check_groups(const Conv2dProblem& problem) {
  for (const auto& [name, channels] : {std::pair("c", problem.c), std::pair("k", problem.k)}) {
    if (channels % problem.groups == 0) continue;
    return Status::refused(std::string(name) + " = " + std::to_string(channels) +
                           " must be a multiple of groups = " + std::to_string(problem.groups) +
                           ".");
  }
  if (problem.groups > 1 && problem.epilogue.gated) {
    return Status::refused("A gate needs pairs of columns, which groups = " +
                           std::to_string(problem.groups) + " would part; it must be 1.");
  }
  return Status::good();
}

}  // namespace detail

// Of TMA im2col. The corners of all sides share the 16 bits that it has for them, and so do the
// offsets.
inline Status check_im2col(const Conv2dProblem& problem, std::int64_t tile_k) {
  // Copies of whole k-tiles would bring channels of the next group.
  if (problem.groups > 1 && problem.c / problem.groups % tile_k != 0) {
    return Status::refused("c / groups = " + std::to_string(problem.c / problem.groups) +
                           " must be a multiple of " + std::to_string(tile_k) +
                           " where TMA copies groups.");
  }
  const std::int64_t corners = problem.is_deep() ? 16 : 128;  // from -corners to corners - 1
  return detail::for_each_axis(problem, [&](const Conv2dAxis& axis, const std::string& along) {
    if (axis.filter == 0) return Status::good();
    return detail::check_ranges(
        {{"The stride" + along, axis.stride, 1, 8},
         {"The lower padding" + along, axis.pad_low, 1 - corners, corners},
         {"(filter - 1) * dilation" + along, axis.reach(), 0, 2 * corners - 1},
         {"The upper padding less (filter - 1) * dilation" + along, axis.pad_high - axis.reach(),
          -corners, corners - 1}});
  });
}

// Where rows or columns of what is written are not the matmul's.
inline Status check_gradient(const Conv2dProblem& problem) {
  const EpilogueArguments& epilogue = problem.epilogue;
  if (problem.direction != Conv2dDirection::Forward && problem.groups > 1) {
    return Status::refused("groups = " + std::to_string(problem.groups) +
                           " must be 1 where a gradient is made.");
  }
  if (problem.direction == Conv2dDirection::BackwardFilter && epilogue.gated) {
    return Status::refused("A gate needs pairs of columns; the gradient of a filter has none.");
  }
  if (problem.direction != Conv2dDirection::BackwardData ||
      problem.depth.stride * problem.h.stride * problem.w.stride == 1) {
    return Status::good();
  }
  const bool by_rows = (epilogue.source != nullptr && epilogue.beta != 0.0f) ||
                       epilogue.row_bias != nullptr || epilogue.row_scale != nullptr ||
                       epilogue.auxiliary != nullptr || epilogue.gated;
  if (problem.is_deep() || by_rows || reinterpret_cast<std::uintptr_t>(problem.d) % 16 != 0) {
    return Status::refused(
        "The gradient of an image that is met in strides has no depth, an address that is a "
        "multiple of 16 bytes, and an epilogue without C, vectors of rows, gate and auxiliary "
        "output.");
  }
  return Status::good();
}

// Wherever it runs.
inline Status check(const Conv2dProblem& problem) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 257;
  constexpr std::int64_t most_pixels = std::int64_t{1} << 29;  // so that sums of them are ints
  // A gradient of the image takes stride^2 launches.
  const bool launches = problem.direction == Conv2dDirection::BackwardData;
  const std::int64_t most_stride = launches ? 8 : most_pixels;
  Status status = detail::check_ranges({{"n", problem.n, 0, most},
                                        {"c", problem.c, 1, most},
                                        {"k", problem.k, 0, most},
                                        {"groups", problem.groups, 1, most}});
  if (status.is_good()) status = detail::check_groups(problem);
  if (!status.is_good()) return status;
  std::int64_t positions = 1, pixels = problem.n, image_pixels = problem.n;
  status = detail::for_each_axis(problem, [&](const Conv2dAxis& axis, const std::string& along) {
    Status sides =
        detail::check_ranges({{"The image" + along, axis.extent, 1, most_pixels},
                              {"The filter" + along, axis.filter, 1, 1 << 15},
                              {"The stride" + along, axis.stride, 1, most_stride},
                              {"The dilation" + along, axis.dilation, 1, 1 << 14},
                              {"The lower padding" + along, axis.pad_low, 0, most_pixels},
                              {"The upper padding" + along, axis.pad_high, 0, most_pixels}});
    if (!sides.is_good()) return sides;
    for (const auto& [name, count, more] : {std::tuple("n * p * q", &pixels, axis.outputs()),
                                            std::tuple("n * h * w", &image_pixels, axis.extent)}) {
      if (*count > 0 && more > most / *count) {
        return Status::refused(name + std::string(" = ") + std::to_string(*count) + " * " +
                               std::to_string(more) + " must be below 2^31 - 256.");
      }
      *count *= more;
    }
    positions *= axis.filter;
    return detail::check_ranges({{"r * s * c", positions * problem.c, 1, most},
                                 {"r * s * k", positions * problem.k, 0, most}});
  });
  if (status.is_good()) status = check_gradient(problem);
  if (!status.is_good()) return status;
  const MatmulProblem output = output_of(problem);
  if (Status checked = check(output); !checked.is_good() || output.m * output.n == 0) {
    return checked;
  }
  if (problem.image == nullptr) return Status::refused("The address of the image is null.");
  if (problem.filter == nullptr) return Status::refused("The address of the filter is null.");
  return Status::good();
}

}  // namespace tw
