#include "src/dispatch/call.h"

#include <fmt/format.h>

#include <string_view>

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

}  // namespace tw
