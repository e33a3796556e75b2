#include "src/dispatch/call.h"

#include <fmt/format.h>

#include <string_view>

// family conv2d: begin
#include "tilewright/family/conv2d/family.h"
// family conv2d: end

namespace tw {

namespace {

// The epilogue reads or writes more than vectors beside D.
bool moves_matrices(const EpilogueArguments& epilogue) {
  return (epilogue.source != nullptr && epilogue.beta != 0.0f) || epilogue.auxiliary != nullptr ||
         epilogue.gated;
}

}  // namespace

std::string call_of(const char* family, const MatmulProblem& problem) {
  if (problem.batch != 1 || problem.a.type != problem.b.type || problem.a.major != Major::K ||
      problem.b.major != Major::K || moves_matrices(problem.epilogue)) {
    return "";
  }
  return fmt::format("{} {} {}x{}x{}", family, name_of(problem.a.type), problem.m, problem.n,
                     problem.k);
}

std::string call_of(const Checked& problem) {
  const Description& description = problem.description();
  return description.is_tuned ? call_of(description.name, problem.product()) : "";
}

// family conv2d: begin
std::string call_of(const tw_conv2d_problem& problem) {
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
// family conv2d: end

}  // namespace tw
