// A case's problem as the functions of tilewright.h take it: with the number of its family.
#pragma once

#include <gtest/gtest.h>

#include "src/verify/case.h"
#include "tilewright.h"

namespace tw::tests {

template <class Problem>
Problem of_family(const Trial& trial, const AnyProblem& placed) {
  Problem initial, problem = placed.as<Problem>();
  EXPECT_EQ(tw_init(trial.description->name, &initial, sizeof initial, nullptr), TW_OK);
  problem.family = initial.family;
  return problem;
}

}  // namespace tw::tests
