// What a convolution must satisfy, wherever it runs by TMA im2col: every refusal is a sentence with
// the number and the rule.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "tilewright/host/conv2d_problem.h"
#include "tilewright/host/matmul_check.h"

namespace tw {

// k counts whole k-tiles, of `tile_k` channels, of every filter position.
inline MatmulProblem as_matmul(const Conv2dProblem& problem, std::int64_t tile_k) {
  return {.m = problem.n * problem.pixels(),
          .n = problem.k,
          .k = problem.positions() * ((problem.c + tile_k - 1) / tile_k * tile_k),
          .a = {.data = problem.image, .pitch = problem.c, .type = problem.type},
          .b = {.data = problem.filter, .pitch = problem.c, .type = problem.type},
          .d = {.data = problem.d, .pitch = problem.k, .type = problem.d_type},
          .epilogue = problem.epilogue};
}

// The corners of all sides share the 16 bits that TMA has for them, and so do the offsets.
inline Status check(const Conv2dProblem& problem) {
  struct Range {
    std::string name;
    std::int64_t value, first, last;
  };
  const auto check_ranges = [](std::initializer_list<Range> ranges) {
    for (const auto& [name, value, first, last] : ranges) {
      if (value >= first && value <= last) continue;
      return Status::refused(name + " = " + std::to_string(value) + " must be from " +
                             std::to_string(first) + " to " + std::to_string(last) + ".");
    }
    return Status::good();
  };
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 257;
  Status status = check_ranges({{"n", problem.n, 0, most}, {"c", problem.c, 1, most}});
  const std::int64_t corners = problem.is_deep() ? 16 : 128;  // from -corners to corners - 1
  for (const auto& [name, axis] : {std::pair("h", problem.h), std::pair("w", problem.w),
                                   std::pair("the depth", problem.depth)}) {
    const std::string along = std::string(" along ") + name;
    if (status.is_good()) {
      status = check_ranges({{"The image" + along, axis.extent, 1, most},
                             {"The filter" + along, axis.filter, 1, 256},
                             {"The stride" + along, axis.stride, 1, 8},
                             {"The dilation" + along, axis.dilation, 1, 255},
                             {"The lower padding" + along, axis.pad_low, 0, corners},
                             {"The upper padding" + along, axis.pad_high, 0, 3 * corners - 2}});
    }
    if (status.is_good()) {
      status = check_ranges({{"(filter - 1) * dilation" + along, axis.reach(), 0, 2 * corners - 1},
                             {"The upper padding less (filter - 1) * dilation" + along,
                              axis.pad_high - axis.reach(), -corners, corners - 1}});
    }
  }
  if (status.is_good()) {
    status = check_ranges({{"r * s * c", problem.positions() * problem.c, 1, most}});
  }
  if (!status.is_good()) return status;
  std::int64_t pixels = problem.n;
  for (unsigned i = 0; i < 3; ++i) {
    const std::int64_t outputs = problem.axis(i).outputs();
    if (pixels > 0 && outputs > most / pixels) {
      return Status::refused("n * p * q = " + std::to_string(pixels) + " * " +
                             std::to_string(outputs) + " must be below 2^31 - 256.");
    }
    pixels *= outputs;
  }
  MatmulProblem outputs = as_matmul(problem, 1);
  outputs.k = 0;
  if (Status checked = check(outputs); !checked.is_good() || outputs.m * outputs.n == 0) {
    return checked;
  }
  if (problem.image == nullptr) return Status::refused("The address of the image is null.");
  if (problem.filter == nullptr) return Status::refused("The address of the filter is null.");
  return Status::good();
}

}  // namespace tw
