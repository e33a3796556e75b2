// What a convolution must satisfy, wherever it runs, and what TMA im2col asks for beyond: every
// refusal is a sentence with the number and the rule.
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "tilewright/host/conv2d_phase.h"
#include "tilewright/host/matmul_check.h"
#include "tilewright/io/tiling.h"

namespace tw {

// How many forward groups a tile spans, where a kernel's tiles may: as many as have at most the
// channels of a k-tile and the tile's columns.
inline std::int64_t groups_together(const Conv2dProblem& problem, const Tiling& tiling) {
  const std::int64_t c = problem.c / problem.groups, k = problem.k / problem.groups;
  std::int64_t together = 1;
  for (std::int64_t count = 2; count <= problem.groups; ++count) {
    if (count * c > tiling.k() || count * k > tiling.n) break;
    if (problem.groups % count == 0) together = count;
  }
  return together;
}

// A group, of each phase, is a matrix of the batch; or, forward, so many groups together, of whose
// B a filter has the channels of its own group only. Where a filter position's channels are padded
// with zeros to a multiple of `channels`, k counts them, too.
inline MatmulProblem as_matmul(const Conv2dProblem& whole, std::int64_t channels,
                               std::int64_t together = 1) {
  const Conv2dProblem problem = as_forward(whole);
  const std::int64_t groups = problem.groups / together;
  const std::int64_t c = problem.c / groups, k = problem.k / groups;
  const std::int64_t filter = whole.positions() * (c / together);
  MatmulProblem matmul = {.m = problem.n * problem.pixels(),
                          .n = k,
                          .k = problem.positions() * ((c + channels - 1) / channels * channels),
                          .batch = groups * num_phases(whole),
                          .a = {problem.image, problem.c, c, problem.type},
                          .b = {problem.filter, filter, k * filter, problem.type},
                          .d = {problem.d, problem.k, k, problem.d_type},
                          .epilogue = problem.epilogue};
  if (problem.direction == Conv2dDirection::BackwardData) {
    matmul.b.pitch = k;
    matmul.b.major = Major::MN;
  }
  // k counts pixels. A matrix of the batch is the gradient of a group or, where positions are
  // padded, of one of them.
  if (problem.direction == Conv2dDirection::BackwardFilter) {
    const std::int64_t beside = channels == 1 ? 1 : problem.positions();
    matmul.k = matmul.m;
    matmul.m = k;
    matmul.n = filter / beside;
    matmul.batch = problem.groups * beside;
    matmul.a = {problem.filter, problem.k, k, problem.type, Major::MN};
    matmul.b = {problem.image, problem.c, c, problem.type, Major::MN};
    matmul.d = {problem.d, filter, beside == 1 ? k * filter : c, problem.d_type};
  }
  return matmul;
}

// True where the lines of filters are what kernels that copy in pieces copy: s * c elements that
// lie side by side, of the filter and of the image, and begin anywhere. Of k they take whole
// chunks. Words of two elements are read, all of which must be in memory.
inline bool by_lines(const Conv2dProblem& problem) {
  const auto begins_a_word = [](const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 4 == 0;
  };
  const std::int64_t line = problem.w.filter * problem.c, most = 1024;
  return problem.direction == Conv2dDirection::Forward && problem.groups == 1 &&
         !problem.is_deep() && problem.c % 2 == 1 && problem.w.dilation == 1 && line <= most &&
         problem.h.filter <= most && begins_a_word(problem.image) &&
         begins_a_word(problem.filter) && problem.n * problem.image_pixels() % 2 == 0 &&
         problem.k * problem.h.filter * line % 2 == 0;
}
// Of k, with zeros behind it.
inline std::int64_t padded_line(const Conv2dProblem& problem) {
  return (problem.w.filter * problem.c + 7) / 8 * 8;
}

// The matmul of a forward convolution that is copied in pieces, by tiles of several groups.
inline MatmulProblem as_pieces(const Conv2dProblem& problem, const Tiling& tiling) {
  MatmulProblem matmul = as_matmul(problem, 1, groups_together(problem, tiling));
  if (by_lines(problem)) matmul.k = problem.h.filter * padded_line(problem);
  return matmul;
}

// All that is written, as one matrix.
inline MatmulProblem output_of(const Conv2dProblem& problem) {
  const auto direction = static_cast<unsigned>(problem.direction);
  const std::int64_t filter = problem.positions() * (problem.c / problem.groups);
  MatmulProblem output;
  output.m = std::array{problem.n * problem.pixels(), problem.n * problem.image_pixels(),
                        problem.k}[direction];
  output.n = std::array{problem.k, problem.c, filter}[direction];
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

inline Status check_multiple(const std::string& name, std::int64_t value, std::int64_t of,
                             const std::string& rule) {
  if (value % of == 0) return Status::good();
  return Status::refused(name + " = " + std::to_string(value) + " must be a multiple of " + rule);
}

inline Status check_groups(const Conv2dProblem& problem) {
  const std::string groups = "groups = " + std::to_string(problem.groups);
  Status status = check_multiple("c", problem.c, problem.groups, groups + ".");
  if (status.is_good()) status = check_multiple("k", problem.k, problem.groups, groups + ".");
  const bool has_pairs =
      problem.groups == 1 && problem.direction != Conv2dDirection::BackwardFilter;
  if (!status.is_good() || !problem.epilogue.gated || has_pairs) return status;
  return Status::refused("A gate needs pairs of columns, which neither groups (" + groups +
                         ") nor the gradient of a filter leave together.");
}

}  // namespace detail

// Of TMA im2col, for what kernels see. The corners of all sides share the 16 bits that it has for
// them, and so do the offsets.
inline Status check_im2col(const Conv2dProblem& problem, std::int64_t tile_k) {
  if (problem.groups > 1 && problem.direction == Conv2dDirection::BackwardFilter) {
    return Status::refused("groups = " + std::to_string(problem.groups) +
                           " must be 1 where TMA brings pixels for the gradient of a filter.");
  }
  // Copies of whole k-tiles would bring channels of the next group.
  if (problem.groups > 1) {
    const bool backward = problem.direction == Conv2dDirection::BackwardData;
    Status status =
        detail::check_multiple(backward ? "k / groups" : "c / groups", problem.c / problem.groups,
                               tile_k, std::to_string(tile_k) + " where TMA copies groups.");
    if (!status.is_good()) return status;
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

// Wherever it runs.
inline Status check(const Conv2dProblem& problem) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 257;
  constexpr std::int64_t most_pixels = std::int64_t{1} << 29;  // so that sums of them are ints
  const bool in_phases = problem.direction == Conv2dDirection::BackwardData;
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
                              {"The stride" + along, axis.stride, 1, in_phases ? 8 : most_pixels},
                              {"The dilation" + along, axis.dilation, 1, 1 << 14},
                              {"The lower padding" + along, axis.pad_low, 0, most_pixels},
                              {"The upper padding" + along, axis.pad_high, 0, most_pixels}});
    if (!sides.is_good()) return sides;
    positions *= axis.filter;
    pixels *= axis.outputs();
    image_pixels *= axis.extent;
    return detail::check_ranges({{"n * p * q", pixels, 0, most},
                                 {"n * h * w", image_pixels, 0, most},
                                 {"r * s * c", positions * problem.c, 1, most},
                                 {"r * s * k", positions * problem.k, 0, most}});
  });
  if (!status.is_good()) return status;  // what is made of such axes may divide by zero
  const MatmulProblem output = output_of(problem);
  status = check(output);
  if (!status.is_good() || output.m * output.n == 0) return status;
  if (problem.image == nullptr) return Status::refused("The address of the image is null.");
  if (problem.filter == nullptr) return Status::refused("The address of the filter is null.");
  return Status::good();
}

}  // namespace tw
