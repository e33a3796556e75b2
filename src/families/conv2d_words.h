// The words by which tables of measured launches know a convolution.
#pragma once

#include <fmt/format.h>

#include <string>

#include "src/dispatch/measured.h"
#include "tilewright/family/conv2d/family.h"

namespace tw {

// "conv2d bf16 32x56x56x64x128x3x3,2,1": n, h, w, c, k, r and s, then the stride, the padding, the
// dilation and the groups up to the last that is not 1, 0, 1 and 1. Empty for gradients, for a
// depth and where the sides differ in more than their extents.
inline std::string call_of(const tw_conv2d_problem& problem) {
  const tw_conv2d_axis &h = problem.h, &w = problem.w;
  const tw_epilogue& epilogue = problem.epilogue;
  if (problem.direction != TW_FORWARD || is_deep(problem) || h.stride != w.stride ||
      h.dilation != w.dilation || h.pad_low != w.pad_low || h.pad_low != h.pad_high ||
      w.pad_low != w.pad_high || (epilogue.source.data != nullptr && epilogue.beta != 0.0f) ||
      epilogue.auxiliary.data != nullptr || epilogue.gated != 0) {
    return "";
  }
  const std::int64_t given[] = {h.stride, h.pad_low, h.dilation, problem.groups};
  const std::int64_t usual[] = {1, 0, 1, 1};
  int said = 4;
  while (said > 0 && given[said - 1] == usual[said - 1]) --said;
  std::string call =
      fmt::format("conv2d {} {}x{}x{}x{}x{}x{}x{}", name_of(static_cast<ElementType>(problem.type)),
                  problem.n, h.extent, w.extent, problem.c, problem.k, h.filter, w.filter);
  for (int i = 0; i < said; ++i) call += fmt::format(",{}", given[i]);
  return call;
}

}  // namespace tw
