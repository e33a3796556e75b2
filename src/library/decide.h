// Which kernel computes a problem: the dispatcher's answer, remembered.
#pragma once

#include <cstddef>

#include "src/dispatch/choose.h"
#include "src/library/convert.h"
#include "src/library/decision_key.h"

namespace tw::library {

struct Decision {
  Choice choice;
  bool takes_other_a = false;  // of a ConvertedProblem
  bool takes_other_b = false;
  std::size_t workspace_bytes = 0;

  const MatmulProblem& problem(ConvertedProblem& converted) const {
    if (takes_other_a) converted.problem.a = *converted.other_a;
    if (takes_other_b) converted.problem.b = *converted.other_b;
    return converted.problem;
  }
};

DispatchRequest request_of(const tw_matmul_options& options, const Place& place);

// The instance that the options name, or null.
const MatmulInstance* named_instance(const tw_matmul_options& options);

// Throws a Failure where no kernel computes the problem. The key is the problem's.
Decision decide(const ConvertedProblem& converted, const tw_matmul_options& options,
                const Place& place, const DecisionKey& key);

}  // namespace tw::library
