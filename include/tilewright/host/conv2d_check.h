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
  return {.m = problem.n * problem.h.outputs() * problem.w.outputs(),
          .n = problem.k,
          .k = problem.h.filter * problem.w.filter * ((problem.c + tile_k - 1) / tile_k * tile_k),
          .a = {.data = problem.image, .pitch = problem.c, .type = problem.type},
          .b = {.data = problem.filter, .pitch = problem.c, .type = problem.type},
          .d = {.data = problem.d, .pitch = problem.k, .type = problem.d_type},
          .epilogue = problem.epilogue};
}

// Two corners, and two offsets, share the 16 bits that TMA has for them.
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
  for (const auto& [name, axis] : {std::pair("h", problem.h), std::pair("w", problem.w)}) {
    const std::string along = std::string(" along ") + name;
    if (status.is_good()) {
      status = check_ranges({{"The image" + along, axis.extent, 1, most},
                             {"The filter" + along, axis.filter, 1, 256},
                             {"The stride" + along, axis.stride, 1, 8},
                             {"The dilation" + along, axis.dilation, 1, 255},
                             {"The lower padding" + along, axis.pad_low, 0, 128},
                             {"The upper padding" + along, axis.pad_high, 0, 127 + 255}});
    }
    if (status.is_good()) {
      status = check_ranges({{"(filter - 1) * dilation" + along, axis.reach(), 0, 255},
                             {"The upper padding less (filter - 1) * dilation" + along,
                              axis.pad_high - axis.reach(), -128, 127}});
    }
  }
  if (status.is_good()) {
    status =
        check_ranges({{"r * s * c", problem.h.filter * problem.w.filter * problem.c, 1, most}});
  }
  if (!status.is_good()) return status;
  const std::int64_t pixels = problem.h.outputs() * problem.w.outputs();
  if (problem.n > 0 && pixels > most / problem.n) {
    return Status::refused("n * p * q = " + std::to_string(problem.n) + " * " +
                           std::to_string(pixels) + " must be below 2^31 - 256.");
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
