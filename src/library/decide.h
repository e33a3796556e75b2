// Which kernel computes a product, and in which form of its operands.
#pragma once

#include "src/dispatch/choose.h"
#include "src/library/convert.h"

namespace tw::library {

struct FormChoice : Choice {
  bool takes_other_a = false;  // of a ConvertedProblem
  bool takes_other_b = false;

  const MatmulProblem& problem(ConvertedProblem& converted) const {
    if (takes_other_a) converted.problem.a = *converted.other_a;
    if (takes_other_b) converted.problem.b = *converted.other_b;
    return converted.problem;
  }
};

// Throws a Failure where no kernel computes the problem.
FormChoice cheapest_form(const ConvertedProblem& converted, const DispatchRequest& request);

}  // namespace tw::library
